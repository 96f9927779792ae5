// The readable list under the time-line.

import { describe, hasMore } from "./entries.js";
import { drawItems, drawOnChange, h } from "./dom.js";
import { clock, fullDate, integer, offset } from "./format.js";
import { userOf } from "./model.js";
import { sdpDetails, updateSDPs } from "./sdpview.js";
import { showEntry } from "./timeline.js";

const atFirst = 100;
const kinds = [["all", "All"], ["error", "Errors"], ["event", "Events"], ["feedback", "Ratings"], ["log", "Logs"], ["skip", "Lost"]];

/** What an entry is known by, whatever comes before it later. */
const keyOf = (entry) => [entry.session, entry.seq, entry.at, entry.kind, entry.name ?? entry.function].join("/");

function more(entry, newest) {
  const parts = [
    entry.stack && ["Stack", entry.stack],
    hasMore(entry) && Object.keys(entry.data ?? {}).length > 0 && ["Data", JSON.stringify(entry.data, null, 2)],
  ].filter(Boolean);
  return [
    ...parts.map(([title, text]) => h("details", { "data-key": `${keyOf(entry)}/${title}` }, h("summary", {}, title), h("pre", { tabindex: "0" }, text))),
    ...sdpDetails(entry, newest, keyOf(entry)),
  ];
}

/** The row of a time-line without entries. */
const none = { entry: { kind: "none" }, index: "none" };

export class EntryList {
  constructor(el, view) {
    this.view = view;
    this.kind = "all";
    this.shown = atFirst;
    this.filters = h("div", { class: "chips", role: "group", "aria-label": "Show" });
    this.list = h("ol", { class: "entries", tabindex: "0", "aria-label": "Entries of the time-line", "data-testid": "entries" });
    this.foot = h("div", { class: "entries-foot" });
    el.append(this.filters, this.list, this.foot);
  }

  set(people, timeline, start) {
    [this.people, this.entries, this.start] = [people, timeline, start];
    this.timeline = timeline.map((entry, index) => ({ entry, index }));
    this.draw();
  }

  draw() {
    const chosen = this.timeline.filter(({ entry }) => this.kind === "all" || entry.kind === this.kind);
    const count = (kind) => (kind === "all" ? this.timeline.length : this.timeline.filter(({ entry }) => entry.kind === kind).length);
    drawOnChange(this.filters, [this.kind, kinds.map(([kind]) => count(kind))], () =>
      kinds.filter(([kind]) => kind === "all" || count(kind) > 0).map(([kind, word]) => this.#chip(kind, word, count(kind))));
    const rows = chosen.slice(0, this.shown);
    this.#drawRows(rows.length > 0 ? rows : [none]);
    drawOnChange(this.foot, [chosen.length, this.shown], () => chosen.length > this.shown &&
      h("button", { type: "button", onclick: () => this.#show(Number.POSITIVE_INFINITY) }, `Show all ${integer(chosen.length)}`));
  }

  /** Rows that are the same stay, so that what is open in them does. Their places in the time-line may be others. */
  #drawRows(rows) {
    const shown = drawItems(this.list, rows, ({ entry }) => keyOf(entry), ({ entry }) => [entry, entry.at - this.start, userOf(this.people, entry.session)], (row) => this.#row(row));
    rows.forEach(({ index }, i) => { shown[i].id = `entry-${index}`; });
    updateSDPs(this.list, this.entries);
  }

  #chip(kind, word, count) {
    return h("button", { type: "button", class: "chip", "data-key": kind, "aria-pressed": String(kind === this.kind), onclick: () => this.#choose(kind) },
      word, h("span", { class: "count" }, integer(count)));
  }

  #choose(kind) {
    this.kind = kind;
    this.shown = atFirst;
    this.draw();
    this.filters.querySelector("[aria-pressed='true']")?.focus();
  }

  #show(count) {
    this.shown = count;
    this.draw();
  }

  #row({ entry }) {
    if (entry === none.entry) return h("li", { class: "muted entry none" }, "Nothing has been reported yet.");
    const { title, tone, detail } = describe(entry);
    return h("li", { class: `entry ${tone}`, tabindex: "-1", "data-key": keyOf(entry), "data-testid": "entry", "data-kind": entry.kind, "data-name": entry.name || entry.function,
      onmouseenter: () => this.view.point(entry.at) },
      h("time", { class: "at", datetime: new Date(entry.at).toISOString(), title: fullDate(entry.at) }, clock(entry.at), h("span", {}, offset(entry.at - this.start))),
      h("span", { class: "dot", "aria-hidden": "true" }),
      h("span", { class: "who" }, userOf(this.people, entry.session), entry.fabric > 0 && h("span", { class: "muted" }, ` fabric ${entry.fabric}`)),
      h("div", { class: "what" }, h("b", {}, title), detail && h("span", {}, detail), entry.timeCorrected && h("span", { class: "muted" }, "(time of arrival: the client's clock was wrong)"), more(entry, () => this.entries)));
  }

  /** Makes an entry visible and shows it. */
  reveal(index) {
    this.kind = "all";
    this.shown = Math.max(this.shown, index + 1);
    this.draw();
    showEntry(index);
  }
}
