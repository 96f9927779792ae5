// The time-line: one lane a fabric, what happened on it, and how good it was.

import { describe, isOfStream, stretches } from "./entries.js";
import { byId, h, s } from "./dom.js";
import { clock, duration, offset, shortClock } from "./format.js";
import { issueTimes } from "./issues.js";
import { fabricTitle, labelOfRank, qualityOverTime } from "./model.js";
import { ticks } from "./view.js";

const laneHeight = 54;
const shortLaneHeight = 34; // without a fabric there is no quality to draw
const silenceMs = 30_000;

const percent = (share) => `${(share * 100).toFixed(3)}%`;

/** A bar from one time to another, cut to what is shown. */
function bar(view, from, to, y, height, kind, title) {
  const [a, b] = [Math.max(0, view.share(from)), Math.min(1, view.share(to))];
  if (b <= 0 || a >= 1 || b < a) return null;
  return s("rect", { x: percent(a), width: percent(Math.max(b - a, 0.0015)), y, height, rx: kind.startsWith("quality") ? 0 : 3, class: kind }, title && s("title", {}, title));
}

const shapes = {
  error: () => s("path", { d: "M0-8 8 0 0 8-8 0Z" }),
  feedback: () => s("path", { d: "M0-8 2.3-2.6 8-2.5 3.6 1.2 5 7 0 3.8-5 7-3.6 1.2-8-2.5-2.3-2.6Z" }),
  log: () => s("rect", { x: -4.5, y: -4.5, width: 9, height: 9, rx: 2 }),
  skip: () => s("path", { d: "M-6-6 6 6M6-6-6 6" }),
  event: () => s("circle", { r: 5 }),
};

function marker(view, entry, index, start) {
  // What came long after the end (ratings do) stands at the edge.
  const share = view.zoomed ? view.share(entry.at) : Math.min(1, view.share(entry.at));
  if (share < 0 || share > 1) return null;
  const { title, tone, detail } = describe(entry);
  return s("svg", { x: percent(share), y: 16, overflow: "visible", class: `marker ${entry.kind} ${tone}`, "data-index": index },
    s("a", { href: `#entry-${index}`, tabindex: -1, "aria-label": `${offset(entry.at - start)} ${title}${detail ? `, ${detail}` : ""}` },
      s("circle", { r: 11, class: "touch" }), shapes[entry.kind]()));
}

/** Pairs begins with ends; what never ended lasts to the end of the lane. */
function drawStretches(view, entries, end) {
  const open = new Map();
  const out = [];
  const rows = { disruption: [6, 20], muted: [31, 4], paused: [36, 4], held: [6, 20], sharing: [31, 4] };
  const close = (from, to, [, , kind, word]) => out.push(bar(view, from, to, ...rows[kind], kind, `${word}, ${duration(to - from)}`));
  for (const e of entries) {
    if (isOfStream(e)) continue;
    for (const kind of stretches) {
      if (e.name === kind[0] && !open.has(kind)) open.set(kind, e.at);
      else if (e.name === kind[1] && open.has(kind)) {
        close(open.get(kind), e.at, kind);
        open.delete(kind);
      }
    }
  }
  for (const [kind, from] of open) close(from, end, kind);
  return out;
}

function drawLife(view, f, entries, end) {
  const at = (name) => entries.find((e) => e.name === name)?.at;
  const from = at("fabricAdded") ?? f.summary?.addedAtMs ?? f.firstAt;
  const failed = at("fabricSetupFailed");
  const connected = at("fabricSetup") ?? (f.streams.length > 0 && !failed ? from : undefined);
  const to = at("fabricTerminated") ?? failed ?? end;
  return [
    bar(view, from, connected ?? to, 10, 12, failed && !connected ? "failed-setup" : "setup", failed ? "Never connected" : "Connecting"),
    connected && bar(view, connected, to, 10, 12, "life", "Connected"),
  ];
}

function drawQuality(view, { firstAt, streams }) {
  const runs = [];
  let before = null;
  for (const [at, rank] of qualityOverTime(streams)) {
    const last = runs.at(-1);
    const label = labelOfRank(rank);
    const joined = before !== null && at - before < silenceMs;
    if (joined && last.label === label) last.to = at;
    else runs.push({ label, from: joined ? before : Math.max(firstAt, at - 5000), to: at });
    before = at;
  }
  return runs.map(({ label, from, to }) => bar(view, from, to, 44, 6, `quality ${label}`, `${label}: the worst stream, ${duration(to - from)}`));
}

/** Lanes: one a fabric, and one a participant for what belongs to no fabric. */
function lanes(people, timeline) {
  const out = [];
  for (const p of people) {
    const own = timeline.filter(({ entry }) => entry.session === p.session);
    for (const f of p.fabrics) out.push({ p, f, entries: own.filter(({ entry }) => entry.fabric === f.fabric) });
    const rest = own.filter(({ entry }) => !p.fabrics.some((f) => f.fabric === entry.fabric));
    if (rest.length > 0) out.push({ p, f: null, entries: rest });
  }
  return out;
}

const issueRow = 5;

function drawIssueTimes(view, times) {
  return times.map(({ row, from, to, kind, title }) => bar(view, from, to, laneHeight - 2 + row * issueRow, 4, kind, title));
}

function laneLabel({ p, f }, first) {
  const { remote, usage } = f ? fabricTitle(f) : {};
  const line = f ? [`Fabric ${f.fabric}`, remote && `to ${remote}`, usage && usage !== "multiplex" && usage].filter(Boolean).join(" · ") : "Conference";
  return h("div", { class: "lane-label" }, h("b", { class: first ? "" : "again" }, p.userName || p.user), h("span", {}, line));
}

function drawLane(view, lane, first, start, end, issues) {
  const plain = lane.entries.map(({ entry }) => entry);
  const endMs = lane.f?.summary?.endReason ? lane.f.summary.endMs : null; // none while it goes on
  const laneEnd = lane.f ? Math.min(end, endMs ?? lane.f.lastAt) : end;
  const times = lane.f ? issueTimes(issues, lane.p.session, lane.f.fabric) : [];
  const rows = Math.max(0, ...times.map((t) => t.row + 1));
  return h("div", { class: "lane", "data-testid": "lane" },
    laneLabel(lane, first),
    h("div", { class: "track" },
      s("svg", { width: "100%", height: (lane.f ? laneHeight : shortLaneHeight) + (rows && rows * issueRow + 2), "aria-hidden": lane.entries.length === 0 ? "true" : null, role: "group", "aria-label": `Events of ${lane.p.user}` },
        lane.f && drawLife(view, lane.f, plain, laneEnd),
        drawStretches(view, plain, laneEnd),
        lane.f && drawQuality(view, lane.f),
        drawIssueTimes(view, times),
        lane.entries.map(({ entry, index }) => marker(view, entry, index, start)))));
}

/** Whether a time's text has room: on a narrow screen no label stands left of the track. */
const inside = (share, width) => share < 0.985 && (width > 760 || share * width > 28);

function drawAxis(view, width) {
  const { step, times } = ticks(view.range, Math.max(2, Math.floor(width / 110)));
  const text = step >= 60_000 ? shortClock : clock;
  return h("div", { class: "lane axis", "aria-hidden": "true" }, h("div", { class: "lane-label" }),
    h("div", { class: "track" }, times.filter((t) => inside(view.share(t), width)).map((t) => h("span", { class: "tick", vars: { left: percent(view.share(t)) } }, text(t)))));
}

const legend = [
  ["i-setup", "connecting"], ["i-life", "connected"], ["i-disruption", "ICE disruption"], ["i-muted", "audio muted"],
  ["i-paused", "video paused"], ["i-error", "error"], ["i-event", "event"], ["i-feedback", "rating"], ["i-log", "log"], ["i-issue", "issue"],
];

/** Draws the lanes into el and keeps them drawn. */
export class Lanes {
  constructor(el, view) {
    this.view = view;
    this.width = 800;
    this.plot = h("div", { class: "lanes", "data-testid": "timeline" });
    this.cursor = h("div", { class: "cursor-line", hidden: true });
    this.tip = h("div", { class: "tip", hidden: true, role: "presentation" });
    el.append(this.plot,
      h("ul", { class: "legend", "aria-label": "What the signs mean" }, legend.map(([kind, word]) => h("li", {}, h("i", { class: kind }), word)),
        h("li", {}, h("i", { class: "i-quality" }), "quality, excellent to bad")), this.tip);
    this.#listen();
  }

  #listen() {
    this.view.listen((what) => (what === "range" ? this.draw() : this.#drawCursor()));
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.abs(contentRect.width - this.width) < 2) return;
      this.width = contentRect.width;
      this.draw();
    }).observe(this.plot);
    this.plot.addEventListener("mousemove", (event) => this.view.point(this.#timeAt(event)));
    this.plot.addEventListener("mouseleave", () => this.view.point(null));
    this.plot.addEventListener("keydown", (event) => this.#move(event));
    for (const [on, off] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
      this.plot.addEventListener(on, (event) => this.#showTip(event.target.closest(".marker")));
      this.plot.addEventListener(off, () => this.#showTip(null));
    }
  }

  #timeAt(event) {
    const track = this.plot.querySelector(".track")?.getBoundingClientRect();
    if (!track || event.clientX < track.left) return null;
    const { range } = this.view;
    return range[0] + ((event.clientX - track.left) / track.width) * (range[1] - range[0]);
  }

  /** Arrow keys go from one sign to the next, through all lanes. */
  #move(event) {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const all = [...this.plot.querySelectorAll(".marker")].sort((a, b) => a.dataset.index - b.dataset.index);
    const here = all.findIndex((m) => m.contains(document.activeElement));
    this.#focus(all[Math.min(all.length - 1, Math.max(0, here + way))]);
  }

  #focus(target) {
    this.plot.querySelector(".marker a[tabindex='0']")?.setAttribute("tabindex", "-1");
    const link = target?.querySelector("a");
    link?.setAttribute("tabindex", "0");
    link?.focus({ preventScroll: true });
  }

  #showTip(target) {
    const { tip } = this;
    tip.hidden = !target;
    if (!target) return;
    const { entry } = this.timeline[Number(target.dataset.index)];
    const { title, detail, tone } = describe(entry);
    tip.replaceChildren(h("b", { class: tone }, title), h("span", {}, `${clock(entry.at)} · ${offset(entry.at - this.start)}`), detail ? h("p", {}, detail) : "");
    const [box, around] = [target.querySelector("a").getBoundingClientRect(), tip.parentElement.getBoundingClientRect()];
    const left = box.left + box.width / 2 - around.left - tip.offsetWidth / 2;
    tip.style.left = `${Math.max(8, Math.min(around.width - tip.offsetWidth - 8, left))}px`;
    tip.style.top = `${box.top - around.top - tip.offsetHeight - 6}px`;
  }

  #drawCursor() {
    const { cursor } = this.view;
    const track = this.plot.querySelector(".track");
    this.cursor.hidden = cursor === null || !track;
    if (this.cursor.hidden) return;
    const share = Math.min(1, Math.max(0, this.view.share(cursor)));
    this.cursor.style.left = `${track.offsetLeft + share * track.offsetWidth}px`;
  }

  set(people, timeline, start, end, issues) {
    this.issues = issues;
    this.people = people;
    this.timeline = timeline.map((entry, index) => ({ entry, index }));
    [this.start, this.end] = [start, end];
    this.draw();
  }

  draw() {
    if (!this.people) return;
    const focused = document.activeElement?.closest?.(".marker")?.dataset.index;
    let last = null;
    const drawn = lanes(this.people, this.timeline).map((lane) => {
      const first = lane.p !== last;
      last = lane.p;
      return drawLane(this.view, lane, first, this.start, this.end, this.issues);
    });
    this.plot.replaceChildren(drawAxis(this.view, this.width), ...drawn, this.cursor);
    const first = focused ? this.plot.querySelector(`.marker[data-index="${focused}"]`) : this.plot.querySelector(".marker");
    if (focused) this.#focus(first);
    else first?.querySelector("a").setAttribute("tabindex", "0");
    this.#drawCursor();
  }
}

/** Shows an entry of the list that a sign leads to. */
export function showEntry(index) {
  const target = byId(`entry-${index}`);
  if (!target) return;
  document.querySelector(".entry.shown")?.classList.remove("shown");
  target.classList.add("shown");
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
}
