// Words for what stands on the time-line.

import { duration, integer, ms, none, plural, words } from "./format.js";
import { endReasons, stages } from "./words.js";

const candidate = (d) =>
  d?.localCandidateType ? `${d.localCandidateType} → ${d.remoteCandidateType ?? "?"}${d.relayProtocol ? `, relayed over ${d.relayProtocol.toUpperCase()}` : ""}` : "";

export const reasonText = (reason) => endReasons[reason] ?? reason ?? "";

const userText = (user) => (typeof user === "object" && user !== null ? user.aliasName || user.userName || "" : (user ?? ""));

// Why one stream is paused.
const pauses = {
  __proto__: null,
  muted: "its sender muted it",
  hidden: "not shown here",
  unsubscribed: "not subscribed to",
  server: "by the server",
  ended: "its sender stopped it",
  disabled: "the page disabled its track",
  noTrack: "the page took its track away",
  stopped: "the page stopped its track",
  direction: "not negotiated",
  inactive: "the page switched its encoding off",
  system: "the system muted its track",
};

const oneStream = (d) => [d.ssrc && `SSRC ${d.ssrc}`, pauses[d.reason] ?? d.reason].filter(Boolean).join(" · ");

const playouts = { __proto__: null, playing: "played", none: "the page plays nothing of it", refused: "its element is paused and not muted" };

const playout = (d) => [d.ssrc && `SSRC ${d.ssrc}`, playouts[d.playout] ?? d.playout].filter(Boolean).join(" · ");

const limits = (d) =>
  [
    d.ssrc && `SSRC ${d.ssrc}`,
    d.maxFramerate != null && `${d.maxFramerate} frames/s`,
    d.maxBitrate != null && `${Math.round(d.maxBitrate / 1000)} kbit/s`,
    Object.keys(d).length <= 1 && "none",
  ]
    .filter(Boolean)
    .join(" · ");

/** Whether an entry is about one stream in place of all that a participant sends. */
export const isOfStream = (e) => Boolean(e.data?.ssrc);

// name: [title, tone, detail of the event's data]
const events = {
  __proto__: null,
  fabricAdded: ["Connection added", "life", (d) => (d.alreadyConnected ? "was connected before" : "")],
  remoteDescriptionSet: ["Answered", "life", () => "first remote description"],
  fabricSetup: ["Connected", "good", (d) => [d.setupMs != null && `after ${ms(d.setupMs)}`, candidate(d)].filter(Boolean).join(" · ")],
  fabricSetupFailed: ["Setup failed", "bad", (d) => [stages[d.stage] ?? d.stage, d.failureMs != null && `after ${ms(d.failureMs)}`, reasonText(d.reason)].filter(Boolean).join(" · ")],
  fabricTerminated: ["Connection ended", "life", (d) => reasonText(d.reason)],
  fabricHold: ["On hold", "mute"],
  fabricResume: ["Resumed", "mute"],
  audioMute: ["Audio muted", "mute", oneStream],
  audioUnmute: ["Audio unmuted", "mute", oneStream],
  videoPause: ["Video paused", "mute", oneStream],
  videoResume: ["Video resumed", "mute", oneStream],
  limitsChange: ["Limits of a stream", "life", limits],
  playoutChange: ["Playout of sound", "life", playout],
  screenShareStart: ["Screen sharing started", "life"],
  screenShareStop: ["Screen sharing stopped", "life"],
  iceDisruptionStart: ["ICE disruption", "warn", (d) => d.iceConnectionState ?? ""],
  iceDisruptionEnd: ["ICE recovered", "good", (d) => (d.durationMs != null ? `after ${duration(d.durationMs)}` : "")],
  iceRestart: ["ICE restart", "warn"],
  selectedCandidatePairChange: ["Network path changed", "warn", candidate],
  streamAdded: ["Stream added", "life", (d) => [d.statsType === "outbound-rtp" ? "sent" : d.statsType === "inbound-rtp" ? "received" : "", d.mediaType, d.codec, d.ssrc && `SSRC ${d.ssrc}`].filter(Boolean).join(" · ")],
  associateMstWithUserID: ["Stream belongs to", "life", (d) => [userText(d.userID), d.usageLabel, d.ssrc && `SSRC ${d.ssrc}`].filter(Boolean).join(" · ")],
  userIDChange: ["User changed", "life", (d) => [d.claimedUserID ? "the page said" : d.userIDType, userText(d.claimedUserID ?? d.newUserID)].filter(Boolean).join(": ")],
  activeDeviceList: ["Devices in use", "life", (d) => (Array.isArray(d.deviceList) ? d.deviceList.map((one) => one?.label || one?.kind).filter(Boolean).join(", ") : "")],
  dominantSpeaker: ["Dominant speaker", "life"],
  wifiStats: ["Wi-Fi", "life", (d) => [d.signal != null && `signal ${d.signal}`, d.rssi != null && `${d.rssi} dBm`].filter(Boolean).join(" · ")],
};

function compact(data) {
  if (data === null || data === undefined) return "";
  if (typeof data !== "object") return String(data);
  return Object.entries(data).map(([k, v]) => `${k}: ${typeof v === "object" ? JSON.stringify(v) : v}`).join(" · ");
}

// Events whose line does not say all that their data does.
const partly = new Set(["activeDeviceList", "wifiStats"]);

/** Whether an entry's data is worth opening. */
export const hasMore = (e) => e.kind === "error" || (e.kind === "event" && (partly.has(e.name) || !events[e.name]));

function describeEvent(e) {
  const [title, tone, detail] = events[e.name] ?? [words(e.name || "event"), "life", compact];
  const data = typeof e.data === "object" && e.data !== null ? e.data : {};
  return { title, tone, detail: detail ? detail(events[e.name] ? data : e.data) : "" };
}

function describeFeedback(e) {
  const f = e.feedback ?? {};
  const parts = ["audio", "video", "screen"].filter((k) => f[k] != null).map((k) => `${k} ${f[k]}`);
  return { title: `Rated ${f.overall ?? none} of 5`, tone: f.overall <= 2 ? "bad" : "rating", detail: [f.user && `by ${f.userName || f.user}`, f.claimed && `the page said: by ${f.claimed}`, ...parts, f.comment && `“${f.comment}”`, f.commentHidden && "comment hidden"].filter(Boolean).join(" · ") };
}

function describeSkip(e) {
  const s = e.skip ?? {};
  const parts = [s.stats > 0 && plural(s.stats, "measurement"), s.events > 0 && plural(s.events, "other frame")].filter(Boolean);
  return { title: "Lost by the client", tone: "warn", detail: `${parts.join(" and ") || `${integer(0)} frames`} dropped before they could be sent` };
}

const describeError = (e) =>
  [[e.name, e.message].filter(Boolean).join(": "), e.code && `code ${e.code}`, e.constraintName && `constraint ${e.constraintName}`].filter(Boolean).join(" · ");

/** {title, tone, detail} of an entry. */
export function describe(e) {
  switch (e.kind) {
    case "error": return { title: `Error in ${e.function || "the application"}`, tone: "bad", detail: describeError(e) };
    case "feedback": return describeFeedback(e);
    case "log": return { title: "Log", tone: "log", detail: e.text ?? "" };
    case "skip": return describeSkip(e);
    default: return describeEvent(e);
  }
}

/** Entries that begin or end a stretch of time: [begins, ends, class, word]. */
export const stretches = [
  ["iceDisruptionStart", "iceDisruptionEnd", "disruption", "ICE disruption"],
  ["audioMute", "audioUnmute", "muted", "Audio muted"],
  ["videoPause", "videoResume", "paused", "Video paused"],
  ["fabricHold", "fabricResume", "held", "On hold"],
  ["screenShareStart", "screenShareStop", "sharing", "Screen sharing"],
];
