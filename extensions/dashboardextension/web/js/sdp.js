// Reads and compares session descriptions (SDP, RFC 8866) as lines. It takes any text: an SDP of an error may be incomplete.

/** Lines without their ends. */
export const linesOf = (text) => text.replace(/(\r\n|\r|\n)$/, "").split(/\r\n|\r|\n/);

const value = (lines, name) => lines.find((line) => line === `a=${name}` || line.startsWith(`a=${name}:`))?.slice(name.length + 3);

const directions = { __proto__: null, sendrecv: "sends and receives", sendonly: "sends", recvonly: "receives", inactive: "inactive" };

function titleOf(lines) {
  const [, kind, port] = /^m=(\S+) (\d+)/.exec(lines[0]) ?? [];
  if (!kind) return "Session";
  const direction = Object.keys(directions).find((one) => lines.includes(`a=${one}`));
  const mid = value(lines, "mid");
  return [kind, mid !== undefined && `mid ${mid}`, direction && directions[direction], port === "0" && "rejected"].filter(Boolean).join(" · ");
}

/** The session part and the m-sections: {title, lines}. */
export function sections(text) {
  const out = [];
  for (const line of linesOf(text)) {
    if (out.length === 0 || line.startsWith("m=")) out.push([]);
    out.at(-1).push(line);
  }
  return out.map((lines) => ({ title: titleOf(lines), lines }));
}

/** The codecs of a section by payload type. */
const codecsOf = (lines) => new Map(lines.map((line) => /^a=rtpmap:(\d+) ([^/]+)/.exec(line)).filter(Boolean).map(([, type, codec]) => [type, codec]));

const named = (codecs, type) => (codecs.has(type) ? `${codecs.get(type)} (payload type ${type})` : `payload type ${type}`);
const roles = { __proto__: null, actpass: "offers either DTLS role", active: "is the DTLS client", passive: "is the DTLS server", holdconn: "sets up no DTLS connection" };
const candidate = /^\S+ (\d+) (\S+) \d+ (\S+) (\d+) typ (\S+)(?: raddr (\S+))?.*?(?: tcptype (\S+))?/i;

/** What a line says, by the part before its value. */
const meanings = {
  "o=": (v) => `session ${v.split(" ")[1] ?? "?"}, version ${v.split(" ")[2] ?? "?"}`,
  "c=": () => "address for media without ICE",
  "m=": (v, codecs) => {
    const [kind, port, transport, ...types] = v.split(" ");
    return `${kind}${port === "0" ? ", rejected" : ""} over ${transport}: ${types.map((type) => codecs.get(type) ?? type).join(", ")}`;
  },
  "b=AS:": (v) => `at most ${v} kbit/s`,
  "b=TIAS:": (v) => `at most ${v} bit/s`,
  "a=group:BUNDLE": (v) => `one transport for the sections ${v.trim()}`,
  "a=ice-ufrag:": () => "ICE user name fragment: a new one is an ICE restart",
  "a=ice-pwd:": () => "ICE password",
  "a=ice-options:": (v) => (v.includes("trickle") ? "further candidates may follow (trickle ICE)" : "ICE options"),
  "a=ice-lite": () => "ICE lite: answers checks only",
  "a=end-of-candidates": () => "all candidates are here",
  "a=candidate:": (v) => {
    const [, component, protocol, address, port, type, related] = candidate.exec(v) ?? [];
    if (!type) return "ICE candidate";
    return `ICE candidate: ${type} ${protocol.toLowerCase()} ${address} port ${port}${related ? `, from ${related}` : ""}${component === "2" ? ", RTCP" : ""}`;
  },
  "a=fingerprint:": (v) => `DTLS certificate (${v.split(" ")[0]})`,
  "a=setup:": (v) => roles[v] ?? "DTLS role",
  "a=tls-id:": () => "DTLS association",
  "a=mid:": (v) => `name of this section: ${v}`,
  "a=msid:": (v) => `stream and track: ${v}`,
  "a=rtcp-mux": () => "RTCP and RTP on one port",
  "a=rtcp-rsize": () => "short RTCP packets",
  "a=rtpmap:": (v) => {
    const [type, codec = ""] = v.split(" ");
    const [name, clock, channels] = codec.split("/");
    return `payload type ${type}: ${name}, ${clock} Hz${channels ? `, ${channels} channels` : ""}`;
  },
  "a=fmtp:": (v, codecs) => `parameters of ${named(codecs, v.split(" ")[0])}`,
  "a=rtcp-fb:": (v, codecs) => `RTCP feedback for ${named(codecs, v.split(" ")[0])}: ${v.split(" ").slice(1).join(" ")}`,
  "a=extmap:": (v) => `RTP header extension ${v.split(" ")[0]}: ${v.split(" ")[1]?.split(/[/:#]/).at(-1) ?? "?"}`,
  "a=ssrc-group:": (v) => `streams that belong together: ${v}`,
  "a=ssrc:": (v) => `stream with SSRC ${v.split(" ")[0]}`,
  "a=simulcast:": () => "one video in several encodings",
  "a=rid:": (v) => `encoding ${v.split(" ")[0]}, ${v.split(" ")[1] === "send" ? "sent" : "received"}`,
  "a=sctp-port:": (v) => `data channels on SCTP port ${v}`,
  "a=max-message-size:": (v) => `data channel messages of at most ${v} bytes`,
};
const starts = Object.keys(meanings);

/** What each line of a section says in words, empty where that is not known. */
export function inWords(lines) {
  const codecs = codecsOf(lines);
  return lines.map((line) => {
    if (directions[line.slice(2)] && line.startsWith("a=")) return `this end ${line === "a=inactive" ? "is inactive" : directions[line.slice(2)]}`;
    const start = starts.find((one) => line.startsWith(one));
    return start ? meanings[start](line.slice(start.length), codecs) : "";
  });
}

const maxCells = 4_000_000; // of the table of two descriptions: 2,000 lines each

const same = (line) => ["same", line];
const removed = (line) => ["removed", line];
const added = (line) => ["added", line];

/** The lengths of the longest common subsequences of all ends of a and b. */
function lengths(a, b) {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j;
      table[at] = a[i] === b[j] ? table[at + width + 1] + 1 : Math.max(table[at + width], table[at + 1]);
    }
  }
  return (i, j) => table[i * width + j];
}

function middle(a, b) {
  if (a.length * b.length > maxCells) return [...a.map(removed), ...b.map(added)];
  const common = lengths(a, b);
  const out = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      out.push(same(a[i++]));
      j++;
    } else if (common(i + 1, j) >= common(i, j + 1)) out.push(removed(a[i++]));
    else out.push(added(b[j++]));
  }
  return [...out, ...a.slice(i).map(removed), ...b.slice(j).map(added)];
}

/**
 * The difference of two lists of lines: ["same" | "removed" | "added", line], the lines of a in order without the added
 * ones, and those of b without the removed ones. It is the shortest, unless both have very many lines that differ.
 */
export function diff(a, b) {
  const least = Math.min(a.length, b.length);
  let head = 0;
  while (head < least && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < least - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  return [...a.slice(0, head).map(same), ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)), ...a.slice(a.length - tail).map(same)];
}

const context = 3;

/** A difference without what is far from a change: left-out lines are ["left out", count]. */
export function changes(lines) {
  const near = new Set();
  lines.forEach(([kind], i) => {
    if (kind === "same") return;
    for (let at = i - context; at <= i + context; at++) near.add(at);
  });
  const out = [];
  lines.forEach((line, i) => {
    if (near.has(i)) out.push(line);
    else if (out.at(-1)?.[0] === "left out") out.at(-1)[1]++;
    else out.push(["left out", 1]);
  });
  return out;
}
