// Annotations that no conference owns and that have the ID of this one, near its time.

import { ask } from "./api.js";
import { describe } from "./entries.js";
import { h } from "./dom.js";
import { date, duration } from "./format.js";
import { time, userText } from "./parts.js";

const hourMs = 3_600_000;
const beforeMs = 24 * hourMs;
const afterMs = 7 * 24 * hourMs;
const most = 20;

/** The query of those near a conference. */
export const nearby = (c) => ({ app: c.app, id: c.id, from: Math.max(0, c.startAt - beforeMs), to: c.endAt + afterMs, limit: most });

/** Why a conference does not own what is about a time (docs/protocol.md, section 10). */
export function reason(c, at) {
  if (at < c.startAt) return `about a time ${duration(c.startAt - at)} before the start: a conference owns what is about at most 30 s before it`;
  if (at > c.endAt) return `about a time ${duration(at - c.endAt)} after the end: a conference owns what is about at most 24 h after it`;
  return "about a time of this conference: it is attached with the next record";
}

function row(c, u) {
  const words = u.entries.map(describe).map(({ title, detail }) => [title, detail].filter(Boolean).join(" "));
  return h("li", { "data-testid": "nearby" }, h("b", {}, words.join("; ") || "Details"), u.more && " and more",
    h("span", {}, userText(u.participant)), h("span", { class: "muted small" }, time(u.aboutAt, date(u.aboutAt)), `, ${reason(c, u.aboutAt)}`));
}

/** The card of those there are; nothing for none. */
export function drawNearby(c, list) {
  if (list.unattached.length === 0) return [];
  const all = new URLSearchParams({ app: c.app, from: nearby(c).from, to: nearby(c).to });
  return h("div", { class: "card ratings" }, h("div", { class: "section-head" }, h("h2", {}, "May belong to this conference")),
    h("p", { class: "muted small" }, "These have its conference ID, and no conference owns them."),
    h("ul", {}, list.unattached.map((u) => row(c, u))),
    list.next && h("p", {}, h("a", { href: `unattached?${all}` }, "All unattached annotations of this time")));
}

/** Asks for them. A failure is not reported: the page is whole without them. */
export const askNearby = (c) => ask("api/unattached", nearby(c)).catch(() => ({ unattached: [] }));
