// The page of one conference.

import { ask } from "./api.js";
import { drawCause } from "./cause.js";
import { Charts } from "./charts.js";
import { byId, drawOnChange, h } from "./dom.js";
import { EntryList } from "./entrylist.js";
import { drawDamage, drawHead, drawSoFar } from "./head.js";
import { drawIssues, news } from "./issues.js";
import { keepFresh, liveAddress } from "./live.js";
import { askNearby, drawNearby } from "./nearby.js";
import { participants, withSoFar } from "./model.js";
import { notice, skeleton } from "./parts.js";
import { drawFeedback, drawPeople } from "./people.js";
import { SideBySide } from "./sidebyside.js";
import { isStale, withTail } from "./tail.js";
import { Lanes } from "./timeline.js";
import { showUser } from "./user.js";
import { View } from "./view.js";

const refreshMs = 4000;
const lateMs = 60_000; // the axis makes room for what came so long after the end
const followMs = 600_000; // after the end late data may come; the store packs about then
const nearbyMs = 60_000;
const query = new URLSearchParams(location.search);
const parameters = { app: query.get("app"), id: query.get("id"), at: query.get("at") };
const view = new View();
let parts = null;
let nearbyAt = Number.NEGATIVE_INFINITY;
let shown = null; // the answer that is drawn
let tails = []; // those that were read since the last reading of all began

function build() {
  const timeline = byId("timeline");
  const reset = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => view.reset() }, "Show all");
  timeline.append(h("div", { class: "section-head" }, h("h2", { id: "timeline-title" }, "Time-line"), reset));
  const lanes = new Lanes(timeline, view);
  const list = new EntryList(timeline, view);
  const charts = new Charts(byId("streams"), view);
  const pair = new SideBySide(charts.head, charts.pairTools, view);
  view.listen((what) => {
    if (what === "range") reset.hidden = !view.zoomed;
  });
  lanes.plot.addEventListener("click", (event) => {
    const target = event.target.closest(".marker");
    if (!target) return;
    event.preventDefault();
    list.reveal(Number(target.dataset.index));
  });
  return { lanes, list, charts, pair };
}

/** The time that the conference takes. The axis follows it. */
function span({ at, conference: c, timeline }) {
  const start = c.startAt;
  const end = c.state === "live" ? Math.max(at, c.endAt) : c.endAt;
  let late = end;
  for (const e of timeline) if (e.at < end + lateMs) late = Math.max(late, e.at);
  view.setFull(Math.min(start, timeline[0]?.at ?? start), Math.max(late, start + 10_000));
  return [start, end];
}

/** Draws what the newest measurements change at once: the charts and the latest values of their participants. */
function drawNewest(detail, tail) {
  const sessions = new Set(tail.streams.map((s) => s.session));
  const people = participants(detail);
  span(detail);
  parts.charts.update(people.filter((p) => sessions.has(p.session)));
  parts.pair.set(people);
}

function draw(detail) {
  const { conference: c, timeline } = detail;
  document.title = `${c.id} · qos`;
  byId("body").hidden = false;
  parts ??= build();
  const people = participants(detail);
  const [start, end] = span(detail);
  drawOnChange(byId("head"), [c, detail.summary, timeline.length, c.state === "live" && detail.at], () => drawHead(detail));
  drawOnChange(byId("damage"), detail.damaged, () => drawDamage(detail));
  drawOnChange(byId("so-far"), [detail.soFar, c.state], () => drawSoFar(detail));
  drawOnChange(byId("cause"), [detail.summary?.likelyCause, c.participants, !detail.soFar], () => drawCause(detail, people));
  drawOnChange(byId("issues"), [detail.summary?.issues, detail.summary?.revision, detail.leftOut, !detail.soFar], () => drawIssues(detail, view));
  drawOnChange(byId("news"), news(detail), () => news(detail));
  parts.lanes.set(people, timeline, start, end, detail.summary?.issues ?? []);
  parts.list.set(people, timeline, start);
  parts.charts.set(people);
  parts.pair.set(people);
  drawOnChange(byId("participants"), [c.participants, detail.summary, !detail.soFar, detail.fabrics, timeline.length, detail.streams.map((s) => [s.ssrc, s.t.length])], () => drawPeople(people, { soFar: Boolean(detail.soFar?.summary), app: c.app, timeline }));
  drawOnChange(byId("feedback"), timeline.filter((e) => e.kind === "feedback"), () => drawFeedback(timeline));
}

function missing() {
  return h("div", { class: "card empty", "data-testid": "empty" }, h("h1", {}, "No such conference"),
    h("p", {}, "There is no conference of this app and ID at this time. Its first record may be on its way, or its time in the store may be over."),
    h("a", { class: "button", href: "search" }, "All conferences"));
}

function fail(error) {
  const message = parts ? `${error.message} What you see may be out of date.` : error.message;
  drawOnChange(byId("alert"), message, () => (error.status === 404 && !parts ? missing() : notice(message, () => run())));
  if (!parts) byId("head").replaceChildren();
}

async function load() {
  try {
    tails = [];
    const detail = withSoFar(await ask("api/conference", parameters));
    drawOnChange(byId("alert"), null, () => []);
    shown = tails.reduce(withTail, detail);
    draw(shown);
    showNearby(shown.conference);
    return detail.at - detail.conference.endAt < followMs ? refreshMs : 0;
  } catch (error) {
    fail(error);
    if (!(error.status >= 0)) throw error;
    return error.status === 400 ? 0 : refreshMs;
  } finally {
    byId("main").setAttribute("aria-busy", "false");
  }
}

/** Draws the unattached annotations, when the page is opened and at most once a minute. */
async function showNearby(c) {
  if (Date.now() - nearbyAt < nearbyMs) return;
  nearbyAt = Date.now();
  const list = await askNearby(c);
  drawOnChange(byId("unattached"), list.unattached, () => drawNearby(c, list));
}

/** Draws what was measured from a time on. It returns whether all has to be read again. */
async function loadTail(from) {
  if (!shown) return true;
  const tail = await ask("api/conference/tail", { ...parameters, from });
  tails.push(tail);
  const stale = isStale(shown, tail);
  shown = withTail(shown, tail);
  drawNewest(shown, tail);
  return stale;
}

const run = keepFresh(() => liveAddress(parameters.app, parameters.id), load, loadTail);
byId("head").append(skeleton(6));
run();
showUser();
