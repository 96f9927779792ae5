// Two participants, or what one sent and the other received: the same measures next to each other, on the same axes.

import { Card, Chart, hasValues, metrics } from "./charts.js";
import { h } from "./dom.js";

const kinds = { "": "all streams", sent: "sent", received: "received" };
const statsTypes = { sent: "outbound-rtp", received: "inbound-rtp" };

/** A side in the address: a session, and what of it. */
const parse = (text) => {
  const [session, kind = ""] = (text ?? "").split(".");
  return session && Object.hasOwn(kinds, kind) ? { session, kind } : null;
};
const format = ({ session, kind }) => (kind ? `${session}.${kind}` : session);

const nameOf = (p) => p.userName || p.user;

function sideOf(people, { session, kind }) {
  const p = people.find((one) => one.session === session);
  if (!p) return null;
  const all = p.fabrics.flatMap((f) => f.streams);
  return { name: `${nameOf(p)} · ${kinds[kind]}`, streams: kind ? all.filter((s) => s.statsType === statsTypes[kind]) : all };
}

/** The highest value of both sides between two times. */
export function highest(sides, name, [from, to]) {
  let max = 0;
  for (const { streams } of sides) {
    for (const s of streams) s[name]?.forEach((v, i) => { if (v > max && s.t[i] >= from && s.t[i] <= to) max = v; });
  }
  return max;
}

/** A measure whose axis has room for the values of both sides that are shown. */
const shared = (metric, pair, view, name) => ({ ...metric, unit: name,
  range: metric.range ?? (() => [0, Math.min(metric.most ?? Infinity, Math.max(metric.least, highest(pair.sides, metric.name, view.range) * 1.1))]) });

/** In place of a chart without values. */
class Nothing {
  constructor(metric) {
    this.metric = metric;
    this.el = h("figure", { class: "chart nothing" }, h("figcaption", {}, h("b", {}, metric.title), h("span", { class: "muted" }, metric.unit)), h("p", { class: "muted" }, "No values."));
  }

  build() {}
  resize() {}
  range() {}
  cursor() {}
}

class Pair extends Card {
  constructor(sides, view) {
    const pair = { sides };
    const shown = metrics.filter((m) => sides.some(({ streams }) => streams.some((s) => hasValues(s, m.name))));
    const cells = shown.flatMap((m) => sides.map(({ name, streams }) => {
      const measured = streams.filter((s) => hasValues(s, m.name));
      const metric = shared(m, pair, view, name);
      return measured.length > 0 ? new Chart(metric, measured, view) : new Nothing(metric);
    }));
    super(view, cells, { "data-testid": "side-by-side" }, h("h3", {}, sides.map(({ name }) => name).join("  |  ")));
    this.el.classList.add("pair-card");
    this.pair = pair;
  }

  set(sides) {
    this.pair.sides = sides;
    this.charts.forEach((chart, i) => {
      if (chart instanceof Chart) chart.set(sides[i % 2].streams.filter((s) => hasValues(s, chart.metric.name)));
    });
  }
}

const form = (sides) => JSON.stringify(sides.map(({ name, streams }) => [name, streams.map((s) => [s.session, s.fabric, s.ssrc, s.rid, s.statsType, s.mediaType, metrics.map((m) => hasValues(s, m.name))])]));

/** The choice of the two sides, which the address has, and their charts. */
export class SideBySide {
  constructor(el, tools, view) {
    this.view = view;
    const query = new URLSearchParams(location.search);
    this.sides = [parse(query.get("left")), parse(query.get("right"))];
    this.on = this.sides.every(Boolean);
    this.toggle = h("button", { type: "button", class: "chip", onclick: () => this.#toggle() }, "Side by side");
    this.selects = ["Left side", "Right side"].map((label, i) => h("select", { "aria-label": label, onchange: (event) => this.#choose(i, event.currentTarget.value) }));
    this.body = h("div", { class: "side-by-side" });
    tools.append(this.toggle, ...this.selects);
    el.append(this.body);
  }

  #toggle() {
    this.on = !this.on;
    const [first, second = first] = this.people;
    this.sides = [this.sides[0] ?? { session: first.session, kind: "sent" }, this.sides[1] ?? { session: second.session, kind: "received" }];
    this.#keep();
    this.draw();
  }

  #choose(i, text) {
    this.sides[i] = parse(text);
    this.#keep();
    this.draw();
  }

  /** The address has what is compared, so that it can be sent to others. */
  #keep() {
    const address = new URL(location.href);
    ["left", "right"].forEach((name, i) => {
      if (this.on) address.searchParams.set(name, format(this.sides[i]));
      else address.searchParams.delete(name);
    });
    history.replaceState(null, "", address);
  }

  set(people) {
    this.people = people.filter((p) => p.fabrics.some((f) => f.streams.length > 0));
    this.draw();
  }

  #options() {
    const options = JSON.stringify([this.people.map((p) => [p.session, nameOf(p)]), this.sides]);
    if (options === this.options) return;
    this.options = options;
    this.selects.forEach((select, i) => {
      select.replaceChildren(...this.people.map((p) => h("optgroup", { label: nameOf(p) },
        Object.entries(kinds).map(([kind, word]) => h("option", { value: format({ session: p.session, kind }) }, `${nameOf(p)}, ${word}`)))));
      if (this.sides[i]) select.value = format(this.sides[i]);
    });
  }

  draw() {
    this.toggle.hidden = this.people.length === 0;
    this.toggle.setAttribute("aria-pressed", String(this.on));
    for (const select of this.selects) select.hidden = !this.on;
    this.#options();
    const sides = this.on ? this.sides.map((one) => sideOf(this.people, one)) : [];
    if (sides.length < 2 || !sides.every(Boolean)) {
      this.#end();
      if (this.on) this.body.replaceChildren(h("p", { class: "muted", role: "status" }, "A participant of this comparison has no streams here."));
      return;
    }
    const now = form(sides);
    if (this.pair && this.form === now) {
      this.pair.set(sides);
      return;
    }
    this.#end();
    this.form = now;
    this.pair = new Pair(sides, this.view);
    this.body.append(this.pair.el);
  }

  #end() {
    this.pair?.end();
    this.pair = null;
    this.body.replaceChildren();
  }
}
