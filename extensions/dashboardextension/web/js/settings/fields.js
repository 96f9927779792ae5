// Controls that edit members of a document. The path of a field is the one that faults of the API name.

import { h } from "../dom.js";

/** What was typed cannot be a value of the field. */
export class FieldError extends Error {}

const sorted = (_, value) => (value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value);

/** Whether two values are the same JSON. */
export const same = (a, b) => JSON.stringify(a, sorted) === JSON.stringify(b, sorted);

const at = (doc, path) => path.split(".").reduce((value, name) => value?.[name], doc);

/** A copy of a document with a value at a path; undefined removes the member, and objects that are empty without it. */
export function put(doc, path, value) {
  const [name, ...rest] = path.split(".");
  const next = { ...doc };
  const inner = rest.length > 0 ? put(doc?.[name], rest.join("."), value) : value;
  if (inner === undefined || (rest.length > 0 && Object.keys(inner).length === 0)) delete next[name];
  else next[name] = inner;
  return next;
}

let ids = 0;

/** One control with its label, hint and faults. */
export class Field {
  #read;
  #write;
  #text;

  /** `read` and `write` convert between control and value; `text` is a value in words; `empty` is the value of an absent member. */
  constructor(path, label, control, { read, write, text, empty, hint, hideLabel, named = label }) {
    this.path = path;
    this.label = named; // in lists of changes
    this.control = control;
    this.empty = empty;
    this.#read = read;
    this.#write = write;
    this.#text = text ?? String;
    const id = `field-${++ids}`;
    control.id = id;
    this.note = h("div", { class: "field-note", id: `${id}-note` });
    control.setAttribute("aria-describedby", [hint && `${id}-hint`, `${id}-note`].filter(Boolean).join(" "));
    const check = control.type === "checkbox";
    const words = h("label", { for: id, class: hideLabel ? "visually-hidden" : null }, label);
    this.element = h("div", { class: check ? "field check" : "field", "data-field": path },
      check ? [control, words] : [words, control], hint && h("p", { class: "hint", id: `${id}-hint` }, hint), this.note);
  }

  /** The value in a document. */
  of(doc) {
    return at(doc, this.path) ?? this.empty;
  }

  get() {
    return this.#read(this.control);
  }

  set(value) {
    this.#write(this.control, value);
  }

  /** A value for people. */
  text(value) {
    return value === undefined || (same(value, this.empty) && value !== false) ? "not set" : this.#text(value);
  }

  clear() {
    this.control.removeAttribute("aria-invalid");
    this.note.replaceChildren();
  }

  /** Opens the part of the page that the field is folded in. */
  #unfold() {
    const folded = this.element.closest("details");
    if (folded) folded.open = true;
  }

  fault(message) {
    this.#unfold();
    this.control.setAttribute("aria-invalid", "true");
    this.note.replaceChildren(h("p", { class: "fault", "data-testid": "fault" }, message));
  }

  /** Shows what another administrator has set meanwhile. */
  conflict(now, take) {
    this.#unfold();
    this.note.replaceChildren(h("p", { class: "conflict", "data-testid": "conflict" }, "Another administrator has set: ", h("b", {}, this.text(now)), ". Saving replaces it. ",
      h("button", { type: "button", class: "small-button", onclick: take }, "Use theirs")));
  }
}

const value = { read: (c) => c.value, write: (c, v) => (c.value = v) };

export const textField = (path, label, { max = 256, type = "text", placeholder, required, ...more } = {}) =>
  new Field(path, label, h("input", { type, maxlength: max, placeholder, required, autocomplete: "off", spellcheck: "false" }), { ...value, empty: "", ...more });

/** A text that is kept without the spaces around it. */
export const trimmedField = (path, label, more) => textField(path, label, { ...more, read: (c) => c.value.trim() });

/** The text of a field that must not be blank; if it is, a fault is shown and the answer is "". */
export function required(field, what) {
  field.clear();
  const text = field.get();
  if (!text) {
    field.fault(`It must be ${what}.`);
    field.control.focus();
  }
  return text;
}

export const checkField = (path, label, { words = ["no", "yes"], inverted = false, ...more } = {}) =>
  new Field(path, label, h("input", { type: "checkbox" }), {
    read: (c) => c.checked !== inverted, write: (c, v) => (c.checked = v !== inverted), text: (v) => words[Number(v !== inverted)], ...more,
  });

/** A number of `unit`; the document has it times `scale`. Blank is an absent member. */
export function numberField(path, label, { unit, scale = 1, min = 0, max, step = "any", empty = 0, placeholder, ...more } = {}) {
  const control = h("input", { type: "number", min, max, step, placeholder, inputmode: "decimal" });
  const exact = (n) => Number(n.toPrecision(12));
  return new Field(path, unit ? `${label} (${unit})` : label, control, {
    empty, named: label, ...more,
    read: (c) => {
      if (c.validity.badInput) throw new FieldError("It must be a number.");
      return c.value === "" ? empty : exact(Number(c.value) * scale);
    },
    write: (c, v) => (c.value = v === undefined || v === empty ? "" : String(exact(v / scale))),
    text: (v) => [exact(v / scale), unit].filter((part) => part !== undefined).join(" "),
  });
}

/** A list of texts, one a line. */
export const linesField = (path, label, { rows = 4, placeholder, ...more } = {}) =>
  new Field(path, label, h("textarea", { rows, placeholder, spellcheck: "false", autocapitalize: "off" }), {
    empty: [], read: (c) => c.value.split("\n").map((line) => line.trim()).filter(Boolean), write: (c, v) => (c.value = v.join("\n")), text: (v) => v.join(", "), ...more,
  });

/** A JSON object; blank is an absent member. */
export const jsonField = (path, label, { rows = 7, placeholder, ...more } = {}) =>
  new Field(path, label, h("textarea", { rows, placeholder, class: "mono", spellcheck: "false", autocapitalize: "off" }), {
    read: (c) => {
      if (c.value.trim() === "") return undefined;
      try {
        return JSON.parse(c.value);
      } catch (error) {
        throw new FieldError(`It is not JSON: ${error.message}.`);
      }
    },
    write: (c, v) => {
      c.value = v === undefined ? "" : JSON.stringify(v, null, 2);
      c.rows = Math.min(20, Math.max(rows, c.value.split("\n").length));
    },
    text: (v) => JSON.stringify(v), ...more,
  });

/** A choice among [value, word]. */
export const choiceField = (path, label, choices, { empty = "", ...more } = {}) =>
  new Field(path, label, h("select", {}, choices.map(([, word], i) => h("option", { value: i }, word))), {
    read: (c) => choices[c.value][0], write: (c, v) => (c.value = String(Math.max(0, choices.findIndex(([one]) => one === v)))),
    text: (v) => choices.find(([one]) => one === v)?.[1] ?? String(v), empty, ...more,
  });
