// Charts of the streams, a card for each fabric. All charts share the view's stretch of
// time and its cursor.

/* global uPlot */

import { h, remember } from "./dom.js";
import { clock, decimal, figure, fps, kbps, mos, ms, percent, shortClock } from "./format.js";
import { Latest } from "./latest.js";
import { fabricTitle } from "./model.js";
import { color, heightOf } from "./plot.js";
import { ticks } from "./view.js";

export const metrics = [
  { name: "mos", title: "Score", unit: "MOS, 1 to 5", text: mos, axis: (v) => decimal(v, 0), range: () => [1, 5], splits: [1, 2, 3, 4, 5] },
  { name: "bitrateKbps", title: "Bit rate", unit: "", text: kbps, least: 50, axis: (v) => (v >= 1000 ? `${v / 1000} M` : `${v} k`) },
  { name: "lossFraction", title: "Packet loss", unit: "", text: percent, least: 0.05, most: 1, axis: (v) => `${decimal(v * 100, v * 100 % 1 ? 1 : 0)} %` },
  { name: "rttMs", title: "Round trip", unit: "", text: ms, least: 50, axis: (v) => `${v} ms` },
  { name: "jitterMs", title: "Jitter", unit: "", text: ms, least: 20, axis: (v) => `${v} ms` },
  { name: "fps", title: "Frame rate", unit: "", text: fps, least: 30, axis: (v) => `${v}` },
];

/** Of a number that the application sends: nothing is known of it but its name. */
const customMetric = (title) => ({ name: "value", title, unit: "", text: figure, axis: figure, range: (_u, min, max) => around(min, max) });

/** Zero and all values, with some room. */
function around(min, max) {
  const [from, to] = [Math.min(0, min ?? 0), Math.max(0, max ?? 0)];
  return from === to ? [0, 1] : [from * 1.1, to * 1.1];
}

const leastHeight = 148;
export const hasValues = (stream, name) => stream[name]?.some((v) => v !== null);

/** The streams' columns on one time axis. A silence becomes a gap. */
function join(streams, name) {
  const tables = streams.map((stream) => {
    const [t, v] = [[], []];
    const silence = 30_000 * stream.recordsPerPoint;
    stream.t.forEach((at, i) => {
      if (i > 0 && at - stream.t[i - 1] > silence) {
        t.push(at - 1);
        v.push(null);
      }
      t.push(at);
      v.push(stream[name]?.[i] ?? null);
    });
    return [t, v];
  });
  return uPlot.join(tables);
}

const mean = (values) => {
  const known = values.filter((v) => typeof v === "number");
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
};

function yAxis(metric) {
  return {
    size: 52, gap: 4, font: "11px system-ui, sans-serif",
    stroke: () => color("--muted"),
    grid: { stroke: () => color("--border"), width: 1 },
    ticks: { show: false },
    space: 28,
    splits: metric.splits && (() => metric.splits),
    values: (_u, splits) => splits.map((v) => metric.axis(v)),
  };
}

function xAxis() {
  let step = 1000;
  return {
    size: 26, gap: 4, font: "11px system-ui, sans-serif",
    stroke: () => color("--muted"),
    grid: { show: false },
    ticks: { stroke: () => color("--border"), size: 4, width: 1 },
    splits: (u, _axis, from, to) => {
      const found = ticks([from, to], Math.max(2, Math.floor(u.width / 75)));
      step = found.step;
      return found.times;
    },
    values: (_u, splits) => splits.map(step >= 60_000 ? shortClock : clock),
  };
}

/** One metric of one fabric. */
export class Chart {
  constructor(metric, streams, view) {
    Object.assign(this, { metric, streams, view });
    this.plot = h("div", { class: "plot", "aria-hidden": "true" });
    this.readout = h("ul", { class: "readout" });
    this.el = h("figure", { class: "chart", tabindex: "0", "data-testid": "chart", "data-metric": metric.name, onkeydown: (event) => this.#move(event) },
      h("figcaption", {}, h("b", {}, metric.title), metric.unit && h("span", { class: "muted" }, metric.unit)), this.readout, this.plot);
    this.marks = streams.map((stream) => {
      const value = h("span", {});
      const mark = h("li", { vars: { "--c": `var(${stream.kind.color})` } }, h("i", {}), h("span", { class: "visually-hidden" }, `${stream.word}: `), value);
      this.readout.append(mark);
      return { mark, value };
    });
  }

  #options(width) {
    const { metric, view } = this;
    return {
      width, height: heightOf(width, leastHeight), ms: 1, legend: { show: false }, padding: [8, 20, 0, 0],
      scales: { x: { time: false, range: () => view.range }, y: { range: metric.range ?? ((_u, _min, max) => [0, Math.min(metric.most ?? Number.POSITIVE_INFINITY, Math.max(metric.least, (max ?? 0) * 1.1))]) } },
      axes: [xAxis(), yAxis(metric)],
      series: [{}, ...this.streams.map((stream) => ({
        stroke: () => color(stream.kind.color), width: 1.75, dash: stream.kind.dash, alpha: stream.rank > 0 ? Math.max(0.4, 1 - stream.rank * 0.2) : 1,
        points: { show: (_u, _s, from, to) => to - from < 2, size: 5, fill: () => color(stream.kind.color) },
      }))],
      cursor: { y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => view.reset() } },
      hooks: {
        setCursor: [(u) => view.point(u.cursor.left < 0 ? null : u.posToVal(u.cursor.left, "x"), this)],
        setSelect: [(u) => this.#zoom(u)],
      },
    };
  }

  #zoom(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.view.zoom(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
  }

  #move(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way || !this.u) return;
    event.preventDefault();
    const times = this.u.data[0];
    const here = this.view.cursor === null ? -1 : this.u.valToIdx(this.view.cursor);
    this.view.point(times[Math.min(times.length - 1, Math.max(0, here + way))]);
  }

  build() {
    const width = this.plot.clientWidth;
    if (this.u || width === 0) return;
    this.u = new uPlot(this.#options(width), join(this.streams, this.metric.name), this.plot);
    this.read();
  }

  set(streams) {
    this.streams = streams;
    this.u?.setData(join(streams, this.metric.name));
    this.read();
  }

  resize() {
    const width = this.plot.clientWidth;
    if (this.u && width > 0 && Math.abs(width - this.u.width) > 1) this.u.setSize({ width, height: heightOf(width, leastHeight) });
    else this.build();
  }

  show(hidden) {
    this.streams.forEach((stream, i) => {
      this.u?.setSeries(i + 1, { show: !hidden.has(stream.ssrc) });
      this.marks[i].mark.hidden = hidden.has(stream.ssrc);
    });
  }

  range() {
    this.u?.setScale("x", { min: this.view.range[0], max: this.view.range[1] });
    this.read();
  }

  cursor(source) {
    const { cursor } = this.view;
    if (this.u && source !== this) this.u.setCursor({ left: cursor === null ? -10 : this.u.valToPos(cursor, "x"), top: 0 }, false);
    this.read();
  }

  /** Values at the cursor, or means of what is shown. */
  read() {
    const { u, view } = this;
    if (!u) return;
    const index = view.cursor === null ? null : u.valToIdx(view.cursor);
    this.marks.forEach(({ value }, i) => {
      const column = u.data[i + 1];
      const shown = index === null ? mean(column.filter((_v, at) => u.data[0][at] >= view.range[0] && u.data[0][at] <= view.range[1])) : near(column, index);
      value.textContent = this.metric.text(shown);
    });
    this.readout.classList.toggle("means", index === null);
  }
}

/** The value at an index; what the join left undefined takes its neighbour's. */
function near(column, index) {
  for (let i = index; i >= Math.max(0, index - 2); i--) if (column[i] !== undefined) return column[i];
  return null;
}

/** A card of charts: drawn when it comes into sight, until end(). */
export class Card {
  constructor(view, charts, attributes, ...head) {
    this.view = view;
    this.charts = charts;
    this.el = h("article", { class: "card fabric-card", ...attributes }, h("header", {}, head), h("div", { class: "chart-grid" }, charts.map((c) => c.el)));
    this.#observe();
  }

  #observe() {
    this.seen = new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return;
      this.seen.disconnect();
      this.build();
    }, { rootMargin: "400px" });
    this.seen.observe(this.el);
    this.sized = new ResizeObserver(() => {
      if (this.charts.some((c) => c.u)) for (const c of this.charts) c.resize();
    });
    this.sized.observe(this.el);
    this.ended = new AbortController();
    for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", () => this.redraw(), { signal: this.ended.signal });
    addEventListener("beforeprint", () => this.build(), { signal: this.ended.signal });
    this.unlisten = this.view.listen((what, source) => {
      for (const c of this.charts) what === "range" ? c.range() : c.cursor(source);
    });
  }

  build() {
    for (const c of this.charts) c.build();
  }

  redraw() {
    for (const c of this.charts) c.u?.redraw();
  }

  end() {
    this.seen.disconnect();
    this.sized.disconnect();
    this.unlisten();
    this.ended.abort();
    for (const c of this.charts) c.u?.destroy();
  }
}

/** The card of one fabric. */
class FabricCard extends Card {
  constructor(p, f, view) {
    const streams = f.streams;
    const { remote, usage } = fabricTitle(f);
    const charts = metrics.map((m) => [m, streams.filter((s) => hasValues(s, m.name))]).filter(([, s]) => s.length > 0).map(([m, s]) => new Chart(m, s, view));
    const chips = h("div", { class: "chips", role: "group", "aria-label": "Streams shown" });
    super(view, charts, { "data-testid": "fabric-charts", "data-session": p.session, "data-fabric": f.fabric },
      h("h3", {}, p.userName || p.user, remote && h("span", { class: "muted" }, " → "), remote),
      h("span", { class: "muted small" }, [`Fabric ${f.fabric}`, usage].filter(Boolean).join(" · ")), chips);
    this.hidden = new Set();
    this.latest = new Latest(streams);
    this.el.append(this.latest.el);
    chips.append(...streams.map((s) => this.#chip(s)));
  }

  #chip(stream) {
    const chip = h("button", { type: "button", class: "chip stream-chip", "data-key": `chip/${stream.ssrc}/${stream.rid ?? ""}`, "aria-pressed": "true", "data-testid": "stream", title: stream.ssrc ? `SSRC ${stream.ssrc}` : null, vars: { "--c": `var(${stream.kind.color})` } },
      h("i", { class: stream.kind.dash ? "dashed" : "" }), stream.word, stream.codec && h("span", { class: "count" }, stream.codec));
    chip.addEventListener("click", () => {
      const show = this.hidden.delete(stream.ssrc);
      if (!show) this.hidden.add(stream.ssrc);
      chip.setAttribute("aria-pressed", String(show));
      for (const part of [...this.charts, this.latest]) part.show(this.hidden);
    });
    return chip;
  }

  set(f) {
    for (const c of this.charts) c.set(f.streams.filter((s) => hasValues(s, c.metric.name)));
    this.latest.set(f.streams);
  }
}

/** The card of what a participant's application sends of its own, a chart for each name. */
class CustomCard extends Card {
  constructor(p, view) {
    const charts = [...byName(p.custom)].map(([name, series]) => new Chart(customMetric(name), series, view));
    super(view, charts, { "data-testid": "custom-charts", "data-session": p.session },
      h("h3", {}, p.userName || p.user), h("span", { class: "muted small" }, "Numbers of the application"));
  }

  set(p) {
    const named = byName(p.custom);
    for (const c of this.charts) c.set(named.get(c.metric.title));
  }
}

/** Series by their names; where one is sent for several fabrics, its lines fade. */
function byName(custom) {
  const out = Map.groupBy(custom, (one) => one.name);
  for (const alike of out.values()) alike.forEach((one, rank) => { one.rank = rank; });
  return out;
}

const shape = (f) => f.streams.map((s) => [s.ssrc, s.rid, s.statsType, s.codec, ...metrics.map((m) => hasValues(s, m.name))]);

export class Charts {
  constructor(el, view) {
    this.view = view;
    this.cards = new Map();
    this.chosen = null;
    this.select = h("select", { "aria-label": "Participant", onchange: () => this.#choose() });
    this.tools = h("div", { class: "tools" }, this.select);
    this.pairTools = h("div", { class: "tools side-tools" });
    this.head = h("div", {});
    this.list = h("div", { class: "fabric-cards" });
    this.el = el;
    el.append(h("div", { class: "section-head" }, h("h2", { id: "streams-title" }, "Streams"),
      h("p", { class: "muted small hint" }, "Drag across a chart to zoom, double-click to see all."), this.pairTools, this.tools), this.head, this.list);
  }

  #choose() {
    this.chosen = this.select.value;
    this.draw();
  }

  set(people) {
    this.people = people.filter((p) => p.custom.length > 0 || p.fabrics.some((f) => f.streams.length > 0));
    this.el.hidden = this.people.length === 0;
    this.tools.hidden = this.people.length < 2;
    const options = JSON.stringify(this.people.map((p) => [p.session, p.user]));
    if (options !== this.options) {
      this.options = options;
      this.chosen ??= this.people.length > 6 ? this.people[0].session : "";
      this.select.replaceChildren(h("option", { value: "" }, "All participants"), ...this.people.map((p) => h("option", { value: p.session }, p.userName || p.user)));
      this.select.value = this.chosen;
    }
    this.draw();
  }

  /** Draws newer measurements of some participants into the cards that exist. A card of another form waits for set. */
  update(people) {
    this.people = this.people.map((have) => people.find((p) => p.session === have.session) ?? have);
    for (const { key, form, drawn } of people.flatMap((p) => this.#cardsOf(p))) {
      const have = this.cards.get(key);
      if (have?.form === form) have.card.set(drawn);
    }
  }

  draw() {
    const wanted = this.people.filter((p) => !this.chosen || p.session === this.chosen).flatMap((p) => this.#cardsOf(p));
    const keep = new Set();
    wanted.forEach(({ key, form, make, drawn }, place) => {
      keep.add(key);
      const have = this.cards.get(key);
      if (have?.form === form) have.card.set(drawn);
      else {
        const restore = have && remember(have.card.el);
        have?.card.end();
        have?.card.el.remove();
        const card = make();
        this.cards.set(key, { form, card });
        this.list.insertBefore(card.el, this.list.children[place] ?? null);
        restore?.(card.el);
      }
    });
    for (const [key, { card }] of this.cards) {
      if (keep.has(key)) continue;
      card.end();
      card.el.remove();
      this.cards.delete(key);
    }
  }

  /** The cards of a participant: what each is of, and when it is to be made anew. */
  #cardsOf(p) {
    const cards = p.fabrics.filter((f) => f.streams.length > 0).map((f) => ({
      key: `${p.session}/${f.fabric}`, form: JSON.stringify([p.user, fabricTitle(f), shape(f)]), make: () => new FabricCard(p, f, this.view), drawn: f,
    }));
    if (p.custom.length > 0) {
      cards.push({ key: `${p.session}/custom`, form: JSON.stringify([p.user, p.custom.map((c) => [c.name, c.fabric])]), make: () => new CustomCard(p, this.view), drawn: p });
    }
    return cards;
  }
}
