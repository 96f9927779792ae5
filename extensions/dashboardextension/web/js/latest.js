// The newest measurement of each stream of a fabric: every measure, under its name.

import { drawOnChange, h } from "./dom.js";
import { clock, duration, fullDate, measureLabel, measureText } from "./format.js";

const write = (el, text) => {
  if (el.textContent !== text) el.textContent = text;
};

const keyOf = (s) => ["latest", s.session, s.fabric, s.statsType, s.mediaType, s.ssrc, s.rid].join("/");

const row = (m) => h("tr", { "data-measure": m.name }, h("th", { scope: "row", title: m.note }, measureLabel(m)), h("td", {}));

/** One stream's table. It is drawn only while it is open, and its cells are written in place. */
class Values {
  constructor(stream) {
    this.name = h("span", {});
    this.time = h("time", {});
    this.until = h("span", {});
    this.body = h("tbody", {});
    this.el = h("details", { "data-key": keyOf(stream), "data-testid": "latest", "data-ssrc": stream.ssrc, ontoggle: () => this.#fill() },
      h("summary", {}, h("i", { class: stream.kind.dash ? "dashed" : "", vars: { "--c": `var(${stream.kind.color})` } }),
        h("span", { class: "visually-hidden" }, "Latest values: "), this.name),
      h("table", {}, h("caption", {}, this.until, this.time, stream.ssrc > 0 && ` · SSRC ${stream.ssrc}`), this.body));
    this.set(stream);
  }

  set(stream) {
    this.stream = stream;
    write(this.name, stream.word);
    this.#fill();
  }

  #fill() {
    if (!this.el.open) return;
    const { measured, latest } = this.stream;
    write(this.until, latest.intervalMs ? `${duration(latest.intervalMs)} until ` : "Until ");
    write(this.time, clock(latest.at));
    this.time.dateTime = new Date(latest.at).toISOString();
    this.time.title = fullDate(latest.at);
    drawOnChange(this.body, measured.map((m) => m.name), () => measured.map(row));
    for (const [i, m] of measured.entries()) write(this.body.rows[i].cells[1], measureText(m));
  }
}

/** The latest values of a fabric's streams, in their order. */
export class Latest {
  constructor(streams) {
    this.tables = streams.map((stream) => new Values(stream));
    this.el = h("div", { class: "latest" }, h("h4", {}, "Latest values"), this.tables.map((table) => table.el));
  }

  set(streams) {
    for (const [i, stream] of streams.entries()) this.tables[i].set(stream);
  }

  show(hidden) {
    for (const { el, stream } of this.tables) el.hidden = hidden.has(stream.ssrc);
  }
}
