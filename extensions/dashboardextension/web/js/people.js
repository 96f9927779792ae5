// Participants: who they were, how their connections went, and statistics of each stream.

import { causeText } from "./cause.js";
import { h, scrollBox } from "./dom.js";
import { browser, capital, clock, decimal, duration, fps, idWords, integer, kbps, labels, mos, ms, none, percent, words } from "./format.js";
import { reasonText } from "./entries.js";
import { drawLowest } from "./lowest.js";
import { pairsOf } from "./pairs.js";
import { fabricTitle, streamStats } from "./model.js";
import { isPseudonym, pseudonymPill, pseudonymTitle, score, soFarPill } from "./parts.js";
import { network } from "./values.js";

const detailNames = {
  "qos.application.version": ["App version", "version"],
  "qos.site.id": ["Site", "site"],
  "qos.library.version": ["Library"],
};

const additional = "qos.additional.";

/** A value that is a link to all conferences that have it. */
const all = (app, kind, value, more) =>
  value && h("a", { class: "plain", href: `search?${new URLSearchParams({ [kind]: value, ...more, app })}`, title: "All conferences with it", "data-testid": `find-${kind}` }, value);

function facts(p, people, soFar, app) {
  const d = p.details ?? {};
  const out = [["Browser", browser(d["user_agent.original"]), d["user_agent.original"]]];
  for (const [name, [word, kind]] of Object.entries(detailNames)) out.push([word, kind ? all(app, kind, d[name]) : d[name]]);
  for (const [name, value] of Object.entries(d)) {
    const additionalKey = name.startsWith(additional) && name.slice(additional.length);
    if (additionalKey) out.push([idWords(additionalKey), all(app, "additional", value, { additionalKey })]);
  }
  out.push([soFar ? "Likely cause so far" : "Likely cause", causeText(p.summary?.likelyCause, people)]);
  const names = [...(p.former ?? []), p.user];
  const hashed = isPseudonym(p.user);
  out.push(["History", names[0] && h("a", { class: "plain", href: `user?${new URLSearchParams({ app, user: p.user })}`, "data-testid": "user-history" }, "All calls of this user")]);
  out.push([names.length > 1 ? "Called" : hashed ? "Pseudonym" : "User ID", names[0] && names.map((name, i) => [i > 0 && ", ", all(app, "user", name)]), hashed && pseudonymTitle]);
  return out.filter(([, value]) => value);
}

const half = (word, value) => value !== null && value !== undefined && h("span", {}, `${word} `, h("b", {}, mos(value)));

function scores(p, soFar) {
  const s = p.summary;
  if (!s) return null;
  return h("div", { class: "scores" }, h("p", {}, soFar && s.mos !== null && [soFarPill(), " "], score(s.mos, s.label)),
    h("p", { class: "muted small halves" }, half("audio in", s.audioMOSIn), half("video in", s.videoMOSIn), half("audio out", s.audioMOSOut), half("video out", s.videoMOSOut)));
}

function path(f) {
  const s = f.summary;
  if (!s?.localCandidateType) return none;
  return `${s.localCandidateType} → ${s.remoteCandidateType || "?"}${s.relayProtocol ? ` (${s.relayProtocol})` : ""}`;
}

/** The networks of the local candidates, as far as they are known: the selected pair's first. */
function networks(f) {
  const s = f.summary;
  const all = [s?.localAddress, ...(s?.localAddresses ?? [])].filter(Boolean);
  return all.length > 0 && h("span", { class: "sub", "data-testid": "networks" }, `local ${[...new Set(all)].map(network).join(", ")}`);
}

function stateOf(f) {
  const s = f.summary;
  if (!s) return "";
  if (s.state === "connected") return s.alreadyConnected ? "Connected before" : "Connected";
  if (!s.state) return "Connecting";
  if (s.state === "unused") return "Not used";
  return `Never connected${s.failureStage ? `: ${words(s.failureStage).toLowerCase()}` : ""}`;
}

function fabricTable(p) {
  const rows = p.fabrics.map((f) => {
    const s = f.summary;
    const { remote, usage } = fabricTitle(f);
    return h("tr", { class: s?.state === "neverConnected" ? "wrong" : "" },
      h("th", { scope: "row" }, `Fabric ${f.fabric}`, h("span", { class: "sub" }, [remote && `to ${remote}`, usage].filter(Boolean).join(" · "))),
      h("td", {}, stateOf(f) || none),
      h("td", { class: "number" }, s ? ms(s.setupMs ?? s.failureMs) : none),
      h("td", {}, path(f), networks(f)),
      h("td", { class: "number" }, s ? integer(s.iceDisruptions) : none, s?.iceDisruptionMs > 0 && h("span", { class: "sub" }, duration(s.iceDisruptionMs))),
      h("td", { class: "number" }, s ? integer(s.iceRestarts) : none),
      h("td", {}, s ? capital(reasonText(s.endReason)) || none : none));
  });
  return scrollBox(`Connections of ${p.user}`, h("table", { class: "data" },
    h("thead", {}, h("tr", {}, ["Connection", "State", "Setup", "Path", "ICE disruptions", "ICE restarts", "End"].map((n, i) => h("th", { scope: "col", class: i === 2 || i === 4 || i === 5 ? "number" : "" }, n)))),
    h("tbody", {}, rows)));
}

const pathText = (pair) => `${pair.localCandidateType} → ${pair.remoteCandidateType || "?"}`;

function pairRow(f, pair) {
  const number = (text) => h("td", { class: "number" }, text);
  return h("tr", { "data-testid": "pair" },
    h("th", { scope: "row" }, clock(pair.from), h("span", { class: "sub" }, `fabric ${f.fabric} · ${duration(pair.to - pair.from)}`)),
    h("td", {}, pathText(pair), pair.relayProtocol && h("span", { class: "sub" }, `relay over ${pair.relayProtocol.toUpperCase()}`)),
    h("td", {}, pair.networkType || none, pair.localAddress && h("span", { class: "sub" }, network(pair.localAddress))),
    number(ms(pair.rttMs)), number(kbps(pair.sentKbps)), number(kbps(pair.receivedKbps)));
}

/** The candidate pairs over time, where a connection had several. */
function pairTable(p, timeline) {
  const all = p.fabrics.map((f) => [f, pairsOf(f, timeline, f.lastAt)]);
  if (!all.some(([, pairs]) => pairs.length > 1)) return null;
  const columns = ["Path since", "Candidates", "Network", "Round trip", "Sent", "Received"];
  return scrollBox(`Candidate pairs of ${p.user}`, h("table", { class: "data", "data-testid": "pairs" },
    h("thead", {}, h("tr", {}, columns.map((name, i) => h("th", { scope: "col", class: i > 2 ? "number" : "" }, name)))),
    h("tbody", {}, all.flatMap(([f, pairs]) => pairs.map((pair) => pairRow(f, pair))))));
}

/** The shares of the labels as one bar. */
function shareBar(shares) {
  const parts = labels.filter((l) => shares[l] > 0);
  if (parts.length === 0) return null;
  const text = parts.map((l) => `${l} ${percent(shares[l])}`).join(", ");
  return h("span", { class: "shares", role: "img", "aria-label": text, title: text }, parts.map((l) => h("i", { class: l, vars: { "flex-grow": String(shares[l]) } })));
}

const spread = (d, text) => (d ? [text(d.mean), h("span", { class: "sub" }, `p95 ${text(d.p95)}`)] : none);

function streamRow(f, stream) {
  const own = f.summary?.streams?.find((s) => s.ssrc === stream.ssrc && s.statsType === stream.statsType && s.mediaType === stream.mediaType);
  const s = streamStats(stream, own);
  const video = stream.mediaType === "video";
  const lowest = stream.mos?.filter((v) => v !== null);
  const number = (...children) => h("td", { class: "number" }, ...children);
  return h("tr", { "data-testid": "stream-row", "data-ssrc": stream.ssrc },
    h("th", { scope: "row" }, stream.word, h("span", { class: "sub" }, [`fabric ${f.fabric}`, stream.codec, `SSRC ${stream.ssrc}`].filter(Boolean).join(" · "))),
    h("td", {}, s.mos ? [score(s.mos.mean), shareBar(s.shares)] : h("span", { class: "muted", title: stream.noScore || null }, none, stream.noScore && h("span", { class: "sub" }, words(stream.noScore)))),
    number(drawLowest(lowest?.length ? mos(s.mos?.min ?? Math.min(...lowest)) : none, stream.lowest, [f.session, f.fabric, stream.ssrc, stream.statsType, stream.mediaType].join("/"))),
    number(s.bitrateKbps ? kbps(s.bitrateKbps.mean) : none),
    number(percent(s.lossFraction)),
    number(spread(s.jitterMs, ms)),
    number(spread(s.rttMs, ms)),
    number(video ? (s.fps ? fps(s.fps.mean) : none) : ""),
    number(video ? [integer(s.freezes), s.freezeMs > 0 && h("span", { class: "sub" }, duration(s.freezeMs))] : s.concealedShare === null ? "" : [percent(s.concealedShare), h("span", { class: "sub" }, "concealed")]));
}

function streamTable(p) {
  const rows = p.fabrics.flatMap((f) => f.streams.filter((s) => s.statsType !== "candidate-pair").map((s) => streamRow(f, s)));
  if (rows.length === 0) return null;
  const names = ["Stream", "Score", "Lowest", "Bit rate", "Loss", "Jitter", "Round trip", "Frame rate", "Freezes"];
  return scrollBox(`Streams of ${p.user}`, h("table", { class: "data" },
    h("thead", {}, h("tr", {}, names.map((n, i) => h("th", { scope: "col", class: i > 1 ? "number" : "" }, n)))),
    h("tbody", {}, rows)));
}

const initials = (name) => name.replace(/[^\p{L}\p{N}]+/gu, " ").trim().split(" ").slice(0, 2).map((w) => w[0] ?? "").join("").toUpperCase() || "?";

function presence(p, soFar) {
  const s = p.summary;
  const [from, to] = [s?.startMs ?? p.startAt, s?.endMs ?? p.endAt];
  if (from === undefined) return "";
  if (soFar && s?.fabrics?.length > 0 && !s.endReason) return `since ${clock(from)} · ${duration(to - from)}`;
  return `${clock(from)} – ${clock(to)} · ${duration(to - from)}${s?.endReason ? ` · ${reasonText(s.endReason)}` : ""}`;
}

function card(p, open, people, { soFar, app, timeline }) {
  return h("details", { class: "card participant", open, "data-key": p.session, "data-testid": "participant", "data-session": p.session },
    h("summary", {},
      h("span", { class: "avatar", "aria-hidden": "true" }, initials(p.user)),
      h("span", { class: "identity" }, h("b", {}, p.userName ? `${p.userName} (${p.user})` : p.user), h("span", { class: "muted small" }, presence(p, soFar), " ", pseudonymPill(p.user))),
      scores(p, soFar)),
    h("dl", { class: "facts" }, facts(p, people, soFar, app).map(([name, value, title]) => h("div", {}, h("dt", {}, name), h("dd", { title }, value)))),
    p.fabrics.length > 0 && fabricTable(p),
    pairTable(p, timeline),
    streamTable(p));
}

/** All participants; few are open at first. soFar: their summary is preliminary. */
export function drawPeople(people, { soFar, app, timeline }) {
  return [
    h("div", { class: "section-head" }, h("h2", { id: "participants-title" }, "Participants"), h("p", { class: "muted small" }, `${decimal(people.length, 0)} in this conference`)),
    h("div", { class: "participants" }, people.map((p) => card(p, people.length <= 4, people, { soFar, app, timeline }))),
  ];
}

/** Ratings that users gave. */
export function drawFeedback(timeline) {
  const given = timeline.filter((e) => e.kind === "feedback" && e.feedback);
  if (given.length === 0) return [];
  return h("div", { class: "card ratings" }, h("h2", {}, "Ratings"), h("ul", {}, given.map(({ at, feedback: f }) =>
    h("li", { class: f.overall <= 2 ? "wrong" : "" },
      h("b", { class: "stars", role: "img", "aria-label": `${f.overall} of 5` }, "★".repeat(f.overall ?? 0), h("span", {}, "★".repeat(5 - (f.overall ?? 0)))),
      h("span", {}, f.userName || f.user || "unnamed"),
      f.claimed && h("span", { class: "muted small" }, `the page said: by ${f.claimed}`),
      h("span", { class: "muted small" }, [clock(at), ...["audio", "video", "screen"].filter((k) => f[k] != null).map((k) => `${k} ${f[k]}`)].join(" · ")),
      f.comment && h("p", {}, f.comment)))));
}
