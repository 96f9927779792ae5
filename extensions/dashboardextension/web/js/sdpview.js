// The SDPs of an error: by sections, in words, and compared with another one. They are drawn when they are opened.

import { drawOnChange, h } from "./dom.js";
import { clock, plural } from "./format.js";
import { changes, diff, inWords, linesOf, sections } from "./sdp.js";

const sides = { local: "localSDP", remote: "remoteSDP" };
const fewLines = 60;

/** What an error of a connection is known by. A newer time-line has other objects. */
const keyOf = (e) => [e.seq, e.at, e.function].join("/");

/** What an SDP can be compared with: the other side of the error, and the same side of others of the connection. */
function others(entry, side, timeline) {
  const [other] = Object.keys(sides).filter((one) => one !== side);
  const own = entry[sides[other]] ? [{ title: `${other} SDP of this error`, text: entry[sides[other]] }] : [];
  const same = timeline.filter((e) => keyOf(e) !== keyOf(entry) && e.session === entry.session && e.fabric === entry.fabric && e[sides[side]]);
  return [...own.map((one) => ({ ...one, key: "own" })), ...same.map((e) => ({ key: keyOf(e), title: `${side} SDP at ${clock(e.at)}, ${e.function || e.name || "error"}`, text: e[sides[side]] }))];
}

function plain({ lines }) {
  return h("pre", { tabindex: "0" }, lines.join("\n"));
}

function explained({ lines }) {
  const words = inWords(lines);
  return h("ul", { class: "sdp-words" }, lines.map((line, i) => h("li", {}, h("code", {}, line), words[i] && h("span", {}, words[i]))));
}

function bySections(text, draw, key) {
  const open = linesOf(text).length <= fewLines;
  return sections(text).map((section, i) =>
    h("details", { class: "sdp-section", open, "data-key": `${key}/${i}` }, h("summary", {}, section.title, h("span", { class: "muted" }, ` · ${plural(section.lines.length, "line")}`)), draw(section)));
}

const signs = { same: " ", removed: "−", added: "+" };
const tags = { same: "span", removed: "del", added: "ins" };

function difference(text, other) {
  const lines = diff(linesOf(text), linesOf(other.text));
  const [less, more] = ["removed", "added"].map((kind) => lines.filter(([one]) => one === kind).length);
  if (less + more === 0) return h("p", { class: "muted" }, `No difference to the ${other.title}.`);
  return [
    h("p", { class: "muted" }, `${plural(less, "line")} only here (−), ${plural(more, "line")} only in the ${other.title} (+).`),
    h("pre", { class: "sdp-diff", tabindex: "0", "data-testid": "sdp-diff" }, changes(lines).map(([kind, line]) =>
      (kind === "left out" ? h("i", {}, `⋯ ${plural(line, "equal line")}\n`) : h(tags[kind], {}, `${signs[kind]} ${line}\n`)))),
  ];
}

/** What is shown of one SDP, with its tools. */
class SDPView {
  constructor(entry, side, timeline, key) {
    Object.assign(this, { entry, side, text: entry[sides[side]], key });
    this.words = h("button", { type: "button", class: "chip", "aria-pressed": "false", "data-key": `${key}/words`, onclick: () => this.#explain() }, "In words");
    this.select = h("select", { "aria-label": `Compare this ${side} SDP with`, "data-key": `${key}/with`, onchange: () => this.draw() });
    this.body = h("div", {});
    this.el = h("div", { class: "sdp" }, h("div", { class: "sdp-tools" }, this.words, this.select), this.body);
    this.el.view = this;
    this.set(timeline);
    this.draw();
  }

  /** Offers the SDPs of a newer time-line. What is chosen stays: SDPs of errors do not change. */
  set(timeline) {
    this.others = others(this.entry, this.side, timeline);
    this.select.hidden = this.others.length === 0;
    const chosen = this.select.value;
    const options = [["", "Compare with …"], ...this.others.map((one) => [one.key, one.title])];
    if (drawOnChange(this.select, options, () => options.map(([value, title]) => h("option", { value }, title)))) this.select.value = chosen;
  }

  #explain() {
    const pressed = this.words.getAttribute("aria-pressed") !== "true";
    this.words.setAttribute("aria-pressed", String(pressed));
    this.select.value = "";
    this.draw();
  }

  draw() {
    const other = this.others.find((one) => one.key === this.select.value);
    const draw = this.words.getAttribute("aria-pressed") === "true" ? explained : plain;
    this.body.replaceChildren(...[other ? difference(this.text, other) : bySections(this.text, draw, this.key)].flat());
  }
}

const incomplete = (bytes) => (bytes > 0 ? ` (${plural(bytes, "byte")} missing)` : "");

/** Offers the SDPs of a newer time-line in all that is open within el. */
export function updateSDPs(el, timeline) {
  for (const one of el.querySelectorAll(".sdp")) one.view.set(timeline);
}

/** The SDPs of an error; key names the entry. newest() is the time-line, which has the other errors. */
export function sdpDetails(entry, newest, key) {
  return Object.keys(sides).filter((side) => entry[sides[side]]).map((side) => {
    const title = side === "local" ? "Local SDP" : "Remote SDP";
    const own = `${key}/${title}`;
    const draw = (event) => {
      if (event.currentTarget.open && !event.currentTarget.querySelector(".sdp")) event.currentTarget.append(new SDPView(entry, side, newest(), own).el);
    };
    return h("details", { "data-key": own, "data-testid": "sdp", ontoggle: draw }, h("summary", {}, `${title}${incomplete(entry[`${sides[side]}Missing`])}`));
  });
}
