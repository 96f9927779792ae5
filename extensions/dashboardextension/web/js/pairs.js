// The candidate pairs that a connection used, over time.

const names = ["fabricSetup", "selectedCandidatePairChange"];
const members = ["localCandidateType", "remoteCandidateType", "relayProtocol", "networkType", "localAddress"];

function mean(stream, name, from, to) {
  let [sum, count] = [0, 0];
  stream?.t.forEach((at, i) => {
    const v = stream[name]?.[i] ?? null;
    if (v === null || at <= from || at > to) return;
    sum += v;
    count++;
  });
  return count > 0 ? sum / count : null;
}

/**
 * The pairs of a fabric in order of time: {from, to, the members that the events have, and the means of rttMs, sentKbps and
 * receivedKbps of that time; null is unknown}. Neighbours that are alike are one. end is the end of the connection.
 */
export function pairsOf(f, timeline, end) {
  const stream = f.streams.find((s) => s.statsType === "candidate-pair");
  const out = [];
  for (const e of timeline) {
    if (e.session !== f.session || e.fabric !== f.fabric || !names.includes(e.name) || typeof e.data?.localCandidateType !== "string") continue;
    const pair = Object.fromEntries(members.map((name) => [name, typeof e.data[name] === "string" ? e.data[name] : ""]));
    const last = out.at(-1);
    if (last && members.every((name) => last[name] === pair[name])) continue;
    if (last) last.to = e.at;
    out.push({ ...pair, from: e.at, to: Math.max(end, e.at) });
  }
  for (const pair of out) for (const name of ["rttMs", "sentKbps", "receivedKbps"]) pair[name] = mean(stream, name, pair.from, pair.to);
  return out;
}
