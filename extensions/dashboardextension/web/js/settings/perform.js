// Performs changes of a document that other administrators may change at the same time, and shows what
// became of them.

import { h } from "../dom.js";
import { clock } from "../format.js";
import { notice } from "../parts.js";
import { compare } from "./draft.js";
import { FieldError } from "./fields.js";

/** The document has changed since it was read; nothing was written. */
class Changed extends Error {
  constructor(changes) {
    super("changed meanwhile");
    this.changes = changes;
  }
}

/** A document of the store on a page: its draft, and how it is read and drawn. */
export class Shared {
  /** `lists` are the entries beside the fields that `compare` lists; `draw` draws the document. */
  constructor({ draft, lists = [], read, draw }) {
    this.draft = draft;
    this.lists = lists;
    this.read = read;
    this.draw = draw;
  }

  get doc() {
    return this.draft.doc;
  }

  /** Takes over a newer document. */
  take(next, saved) {
    this.draft.rebase(next, saved);
    this.draw(next);
  }

  /** Reads the document again. */
  async refresh(saved) {
    this.take(await this.read(), saved);
  }

  /** Sends a change that requires the revision that is shown. Nothing is written if there is another one. */
  async change(request) {
    try {
      return await request(this.doc);
    } catch (error) {
      if (error.status !== 412) throw error;
      const next = await this.read();
      const changes = compare(this.draft.fields, this.lists, this.doc, next);
      this.take(next);
      throw new Changed(changes);
    }
  }
}

const row = ({ label, was, now }) => h("li", {}, h("b", {}, label), ": ", was, " → ", now);

/** Names what another administrator has changed, with a button that applies one's own change to that. */
const changedNotice = (changes, again) => h("div", { class: "notice warning", role: "alert", "data-testid": "changed" },
  h("div", { class: "changed" },
    h("p", {}, h("b", {}, "Another administrator saved a change first. "), "Yours is not saved yet, and is kept in the form. What changed:"),
    h("ul", {}, changes.length > 0 ? changes.map(row) : h("li", {}, "Nothing that this page shows."))),
  h("button", { type: "button", onclick: again, "data-testid": "again" }, "Apply my change"));

/** Shows a fault at the field that it is about. It returns false if the page has no such field. */
function atField(draft, error) {
  const path = error.path ?? error.field;
  const field = path && draft?.field(path);
  if (!field) return false;
  const rest = path.slice(field.path.length).replace(/^\./, "");
  const line = /^\[(\d+)\]$/.exec(rest);
  const where = line ? `Line ${Number(line[1]) + 1} ` : rest ? `${rest} ` : "It ";
  field.fault(error.limit ? `${where}${error.limit} (got ${error.got}).` : error.message);
  field.control.focus();
  return true;
}

/**
 * Runs a change and shows its result in `area`: what was done, faults at their fields, or what another
 * administrator has changed; then `again` runs it once more. It returns true if the change was made.
 */
export async function perform(area, draft, work, again = () => perform(area, draft, work)) {
  const held = area.contains(document.activeElement); // by the button that applies a change again
  area.replaceChildren();
  try {
    const done = await work();
    area.replaceChildren(h("p", { class: "done", role: "status", "data-testid": "done" }, `${done ?? "Saved."} (${clock(Date.now())})`));
    return true;
  } catch (error) {
    if (error instanceof Changed) area.replaceChildren(changedNotice(error.changes, again));
    else if (!atField(draft, error)) {
      if (!(error.status >= 0 || error instanceof FieldError)) throw error;
      area.replaceChildren(notice(error.message));
    }
    return false;
  } finally {
    area.tabIndex = -1;
    if (held && document.activeElement === document.body) area.focus();
  }
}

/**
 * Runs work of a button once at a time. The button is not disabled meanwhile: it would lose the focus.
 */
export async function once(button, work) {
  if (button.ariaBusy === "true") return;
  button.ariaBusy = "true";
  try {
    await work();
  } finally {
    button.ariaBusy = "false";
  }
}

/** A button that runs a change once at a time. */
export function actionButton(text, work, props = {}) {
  const button = h("button", { type: "button", ...props, onclick: () => once(button, work) }, text);
  return button;
}

/** A form over some fields of a draft, with a button that saves them. */
export function fieldsForm({ shared, fields, content, save, readOnly, testid }) {
  const area = h("div", { class: "answer" });
  const button = h("button", { type: "submit", class: "primary", "data-testid": "save" }, "Save");
  const form = h("form", { novalidate: true, "data-testid": testid, onsubmit: (event) => {
    event.preventDefault();
    once(button, () => perform(area, shared.draft, () => save(fields)));
  } }, content ?? fields.map((field) => field.element), area, !readOnly && h("div", { class: "actions" }, button));
  if (readOnly) for (const field of fields) field.control.disabled = true;
  return form;
}
