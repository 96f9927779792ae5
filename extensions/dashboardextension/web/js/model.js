// Makes what the API answers easy to draw. The summary is read with care: it may be of
// another version, or not there yet.

export const streamKinds = {
  "inbound-rtp audio": { word: "Audio received", color: "--audio-in" },
  "outbound-rtp audio": { word: "Audio sent", color: "--audio-out", dash: [6, 4] },
  "inbound-rtp video": { word: "Video received", color: "--video-in" },
  "outbound-rtp video": { word: "Video sent", color: "--video-out", dash: [6, 4] },
  "candidate-pair": { word: "Network path", color: "--pair" },
};

export const kindOf = (stream) =>
  streamKinds[stream.statsType === "candidate-pair" ? stream.statsType : `${stream.statsType} ${stream.mediaType}`] ?? { word: `${stream.statsType} ${stream.mediaType ?? ""}`, color: "--pair" };

const list = (v) => (Array.isArray(v) ? v : []);

function times(people, detail) {
  for (const f of detail.fabrics) {
    const p = people.get(f.session);
    if (!p) continue;
    p.startAt = Math.min(p.startAt ?? f.firstAt, f.firstAt);
    p.endAt = Math.max(p.endAt ?? f.lastAt, f.lastAt);
  }
}

/**
 * An answer of the API whose summary is the newest there is: of a conference that goes on,
 * what it has come to so far. Then soFar stands beside it.
 */
export const withSoFar = (detail) => (detail.soFar?.summary ? { ...detail, summary: detail.soFar.summary } : detail);

/** Participants with their fabrics, streams and their part of the summary. */
export function participants(detail) {
  const people = new Map(detail.conference.participants.map((p, index) => [p.session, { ...p, index, fabrics: [], custom: [], summary: null }]));
  const get = (session) => {
    if (!people.has(session)) people.set(session, { session, user: "", index: people.size, fabrics: [], custom: [], summary: null });
    return people.get(session);
  };
  for (const s of list(detail.summary?.participants)) get(s.session).summary = s;
  for (const f of detail.fabrics) get(f.session).fabrics.push({ ...f, streams: [], summary: null });
  times(people, detail);
  for (const p of people.values()) {
    p.user ||= p.summary?.alias || `Participant ${p.index + 1}`;
    for (const f of p.fabrics) f.summary = list(p.summary?.fabrics).find((s) => s.fabric === f.fabric) ?? soFar(f, detail.timeline);
  }
  for (const stream of detail.streams) {
    stream.measured = measured(stream, list(detail.measures));
    people.get(stream.session)?.fabrics.find((f) => f.fabric === stream.fabric)?.streams.push(stream);
  }
  for (const p of people.values()) for (const f of p.fabrics) nameStreams(f.streams);
  for (const one of list(detail.customStats)) people.get(one.session)?.custom.push(customSeries(one));
  return [...people.values()];
}

/** The measures that a stream's newest measurement has, each with its value. */
const measured = ({ latest }, measures) =>
  measures.map((m) => ({ ...m, value: latest.values[m.name] ?? latest.texts?.[m.name] })).filter((m) => m.value !== undefined);

/** What the time-line says of a fabric that is in no summary yet. */
function soFar(f, timeline) {
  const own = timeline.filter((e) => e.session === f.session && e.fabric === f.fabric);
  const count = (name) => own.filter((e) => e.name === name).length;
  const data = (name) => own.findLast((e) => e.name === name)?.data ?? {};
  const [setup, failed, path] = [data("fabricSetup"), data("fabricSetupFailed"), data("selectedCandidatePairChange")];
  return {
    state: count("fabricSetup") > 0 ? "connected" : count("fabricSetupFailed") > 0 ? "neverConnected" : "",
    setupMs: setup.setupMs, failureMs: failed.failureMs, failureStage: failed.stage,
    localCandidateType: path.localCandidateType ?? setup.localCandidateType,
    remoteCandidateType: path.remoteCandidateType ?? setup.remoteCandidateType,
    relayProtocol: path.relayProtocol ?? setup.relayProtocol,
    iceDisruptions: count("iceDisruptionStart"), iceRestarts: count("iceRestart"),
    endReason: data("fabricTerminated").reason,
  };
}

/** A number of the application's as charts draw it: who sends when they like are not silent in between. */
const customSeries = ({ name, fabric, points }) => ({
  name, fabric, ...points, recordsPerPoint: Number.POSITIVE_INFINITY, kind: { color: "--pair" }, rank: 0,
  ssrc: fabric, word: fabric ? `Fabric ${fabric}` : "Conference",
});

/** Gives each stream a word that tells it from its neighbours. */
function nameStreams(streams) {
  for (const stream of streams) {
    const kind = kindOf(stream);
    const alike = streams.filter((other) => kindOf(other) === kind);
    stream.kind = kind;
    stream.rank = alike.indexOf(stream);
    const extra = stream.rid || (alike.length > 1 ? stream.usageLabel || (alike.every((a) => a.user === alike[0].user) ? "" : stream.user) : "");
    const number = alike.length > 1 && alike.filter((a) => (a.rid || a.usageLabel || a.user) === (stream.rid || stream.usageLabel || stream.user)).length > 1 ? ` ${stream.rank + 1}` : "";
    stream.word = `${kind.word}${number}${extra ? ` · ${extra}` : ""}`;
  }
}

export const userOf = (people, session) => people.find((p) => p.session === session)?.user ?? "unknown";

/** What the fabric leads to, in words. */
export function fabricTitle(f) {
  const remote = f.remoteUserName || f.remoteUser || f.summary?.remoteAlias || (f.remoteEndpointType && f.remoteEndpointType !== "peer" ? f.remoteEndpointType : "");
  return { remote, number: f.fabric, usage: f.usage || f.summary?.usage || "" };
}

const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null);

/** Statistics of a stream from its own points, while there is no summary of it. */
export function streamStats(stream, summary) {
  const values = (name) => list(stream[name]).filter((v) => v !== null);
  const dist = (name) => {
    const v = values(name).sort((a, b) => a - b);
    return v.length ? { mean: mean(v), p5: v[Math.floor(v.length * 0.05)], p95: v[Math.min(v.length - 1, Math.floor(v.length * 0.95))] } : null;
  };
  return {
    mos: summary?.mos ?? dist("mos"),
    bitrateKbps: summary?.bitrateKbps ?? dist("bitrateKbps"),
    jitterMs: summary?.jitterMs ?? dist("jitterMs"),
    rttMs: summary?.rttMs ?? dist("rttMs"),
    fps: summary?.fps ?? dist("fps"),
    lossFraction: summary ? (summary.lossFraction ?? null) : mean(values("lossFraction")),
    freezes: summary?.freezes ?? null,
    freezeMs: summary?.freezeMs ?? null,
    concealedShare: summary?.concealedShare ?? null,
    shares: summary?.qualityShare ?? shares(values("labelRank")),
  };
}

const ranks = ["", "bad", "poor", "fair", "good", "excellent"];
export const labelOfRank = (rank) => ranks[Math.round(rank)] ?? "";

function shares(values) {
  const out = {};
  for (const v of values) out[labelOfRank(v)] = (out[labelOfRank(v)] ?? 0) + 1 / values.length;
  return out;
}

/** The worst label at each time that some stream of the fabric was scored. */
export function qualityOverTime(streams) {
  const worst = new Map();
  for (const stream of streams) {
    list(stream.labelRank).forEach((rank, i) => {
      if (rank === null) return;
      const at = stream.t[i];
      worst.set(at, Math.min(worst.get(at) ?? 5, rank));
    });
  }
  return [...worst].sort(([a], [b]) => a - b);
}
