// What went wrong: the summary's issues, in words and on the time-line.

import { h } from "./dom.js";
import { soFarPill } from "./parts.js";
import { decimal, duration, fps, integer, mos, ms, offset, percent, plural, words } from "./format.js";
import { issueTitles } from "./words.js";

/** What is only worth knowing. */
const hints = new Set(["notPlayed", "relayOverTCP", "iceRestart", "deviceChange", "lateJoin"]);

/** How the values of a metric read; documents of before had no metric. */
const texts = {
  __proto__: null,
  mos, fps,
  ice_restarts: (n) => plural(n, "time"),
  device_changes: (n) => plural(n, "time"),
  signal_dbm: (n) => `${integer(n)} dBm`,
  audio_level: (n) => (n === 0 ? "no sound at all" : `level ${decimal(n, 4)}`),
  key_frame_requests_per_s: (n) => `${decimal(n, 1)} a second`,
  disrupted_ms: duration, without_media_ms: duration, relayed_ms: duration, unplayed_ms: duration, late_ms: duration,
};
const metricOf = { __proto__: null, highPacketLoss: "loss_fraction", frozenVideo: "frozen_fraction", highRoundTripTime: "rtt_ms", highJitter: "jitter_ms", lowQuality: "mos" };

function textOf(i) {
  const metric = i.metric ?? metricOf[i.kind] ?? "";
  return texts[metric] ?? (metric.endsWith("_fraction") ? percent : metric.endsWith("_ms") ? ms : String);
}

/** A kind of issue in words. */
export const issueName = (kind) => (issueTitles[kind] ?? words(kind));

const titleOf = (i) => issueName(i.kind);
const streamOf = (i) => i.mediaType && `${i.mediaType} ${i.direction === "inbound" ? "received" : i.direction === "outbound" ? "sent" : ""}`.trim();
const spansOf = (i) => (Array.isArray(i.spans) ? i.spans : []);

/** When it was so: a link to that part of the time-line. */
function when(i, start, view) {
  const spans = spansOf(i);
  if (spans.length === 0 || i.fabric === 0 && i.kind === "lowQuality") return null;
  const times = spans.length > 1 || i.count > 1 ? `${integer(i.count)} times from ` : "";
  const text = `${times}${offset(i.sinceMs - start)}${i.totalMs > 0 ? ` for ${duration(i.totalMs)}` : ""}`;
  const key = [i.kind, i.session, i.fabric, i.ssrc, i.mediaType, i.direction].join("/");
  const room = Math.max(5000, (i.untilMs - i.sinceMs) / 4);
  return h("button", { type: "button", class: "quiet when", "data-key": key, title: "Show this part of the time-line", onclick: () => view.zoom(i.sinceMs - room, i.untilMs + room) }, text);
}

/** Whether an issue of a conference that goes on is there now. */
const badge = (i) => h("span", { class: `state ${i.open ? "open" : ""}`, "data-testid": "issue-state" }, i.open ? "Open" : "Resolved");

function issue(i, start, view, isLive) {
  const text = textOf(i);
  const where = [i.alias || i.userID, streamOf(i), i.fabric > 0 && `fabric ${i.fabric}`, i.threshold !== 0 && `limit ${text(i.threshold)}`, i.confidence === "low" && "uncertain"];
  return h("li", { "data-testid": "issue", "data-kind": i.kind, class: hints.has(i.kind) ? "hint" : "" }, isLive && badge(i), h("b", {}, titleOf(i)), h("span", { class: "value" }, text(i.value)),
    h("span", { class: "muted" }, where.filter(Boolean).join(" · ")), when(i, start, view));
}

function remarks(detail) {
  const s = detail.summary;
  const left = detail.leftOut;
  return [
    s?.lostMeasurements > 0 && `${plural(s.lostMeasurements, "measurement")} never left the browsers: a bad network or a full buffer made them drop.`,
    s?.lostEvents > 0 && `${plural(s.lostEvents, "event")} never left the browsers.`,
    s?.outOfRange > 0 && `${plural(s.outOfRange, "value")} of measurements ${s.outOfRange === 1 ? "is" : "are"} out of range and left out: a browser's counter jumped.`,
    s?.twoKinds > 0 && `${plural(s.twoKinds, "stream number")} carried audio and video in turn; each kind is shown as a stream of its own.`,
    s?.truncated > 0 && `The summary leaves out ${plural(s.truncated, "fact")}: a limit of the collector was reached.`,
    left.timeline > 0 && `${plural(left.timeline, "entry", "entries")} of the time-line are not shown: there are too many.`,
    left.streams > 0 && `${plural(left.streams, "measurement")} of further streams are not shown: there are too many streams.`,
    left.customStats > 0 && `${plural(left.customStats, "number")} of the application ${left.customStats === 1 ? "is" : "are"} not shown: they have too many names.`,
  ].filter(Boolean);
}

const shown = 20;

/** Open issues first; else in the order of the summary. */
const inOrder = (issues) => [...issues.filter((i) => i.open), ...issues.filter((i) => !i.open)];

/** What is open in a conference that goes on, in a few words. */
export function news(detail) {
  if (!detail.soFar?.summary) return "";
  const open = (detail.summary.issues ?? []).filter((i) => i.open && !hints.has(i.kind));
  return open.length === 0 ? "No open issues." : `${plural(open.length, "open issue")}: ${[...new Set(open.map(titleOf))].join(", ")}.`;
}

function heading(detail) {
  return h("div", { class: "section-head" }, h("h2", {}, "What went wrong"), detail.soFar && soFarPill());
}

function nothing() {
  return h("div", { class: "card issues none", "data-testid": "no-issues" }, h("p", {}, "Nothing went wrong"), soFarPill());
}

/** What went wrong, and what is not there to be seen. */
export function drawIssues(detail, view) {
  const isLive = Boolean(detail.soFar?.summary);
  const listed = detail.summary?.issues ?? [];
  const found = isLive ? inOrder(listed) : listed;
  const counts = Object.values(detail.summary?.issueCounts ?? {});
  const more = Math.max(found.length, counts.reduce((a, b) => a + b, 0)) - Math.min(found.length, shown);
  const notes = remarks(detail);
  return [
    isLive && found.length === 0 && nothing(),
    found.length > 0 && h("div", { class: "card issues" }, heading(detail), h("ul", {}, found.slice(0, shown).map((i) => issue(i, detail.conference.startAt, view, isLive))),
      more > 0 && h("p", { class: "muted small" }, `and ${plural(more, "more issue")}`)),
    notes.length > 0 && h("ul", { class: "remarks", "data-testid": "dropped" }, notes.map((text) => h("li", {}, text))),
  ];
}

const mostRows = 4;

/** The times of a fabric's issues, in as few rows as they take: [{row, from, to, kind, title}]. */
export function issueTimes(issues, session, fabric) {
  const times = issues.filter((i) => i.session === session && i.fabric === fabric)
    .flatMap((i) => spansOf(i).map((s) => ({ from: s.startMs, to: s.endMs, kind: `issue${hints.has(i.kind) ? " hint" : ""}`, title: [titleOf(i), streamOf(i), textOf(i)(i.value), duration(s.endMs - s.startMs)].filter(Boolean).join(", ") })))
    .sort((a, b) => a.from - b.from);
  const ends = [];
  for (const t of times) {
    const free = ends.findIndex((end) => end <= t.from);
    t.row = free >= 0 ? free : Math.min(ends.length, mostRows - 1);
    ends[t.row] = Math.max(ends[t.row] ?? 0, t.to);
  }
  return times;
}
