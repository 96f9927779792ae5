// Dialogs: a question before what cannot be undone, and secrets that are shown once.

import { h } from "../dom.js";
import { once } from "./perform.js";

/** Shows a modal dialog, and returns when it is closed. What had the focus gets it again. */
function open(dialog) {
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => {
    dialog.remove();
    done(dialog.returnValue);
  }));
}

let titles = 0;

function frame(title, ...children) {
  const id = `dialog-${++titles}`;
  return h("dialog", { "aria-labelledby": id }, h("h2", { id }, title), children);
}

/**
 * Asks before an action, and returns whether it is confirmed. With `type` the person types that text
 * first.
 */
export async function confirm({ title, text, action, type }) {
  const input = type && h("input", { id: "confirm-text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", autofocus: true });
  const go = h("button", { class: "danger", value: "yes", "data-testid": "confirm", disabled: Boolean(type) }, action);
  input?.addEventListener("input", () => (go.disabled = input.value !== type));
  const dialog = frame(title, h("p", {}, text), h("form", { method: "dialog" },
    input && h("div", { class: "field" }, h("label", { for: "confirm-text" }, "Type ", h("b", { class: "mono" }, type), " to confirm"), input),
    h("div", { class: "actions" }, go, h("button", { type: "button", onclick: () => dialog.close(""), autofocus: !type, "data-testid": "cancel" }, "Cancel"))));
  return (await open(dialog)) === "yes";
}

/** Copies a text, or selects it where the browser does not permit that. */
async function copy(input, status) {
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    status.textContent = "Copied.";
  } catch {
    status.textContent = "The text is selected: copy it with the keyboard.";
  }
}

/** Shows secrets that nobody can read again, as [{ name, secret }], until they are confirmed to be stored. */
export async function showSecrets(title, text, secrets) {
  const status = h("p", { role: "status", class: "hint" });
  const rows = secrets.map(({ name, secret }, i) => {
    const input = h("input", { id: `secret-${i}`, readonly: true, class: "mono", value: secret, "data-testid": "secret", "data-name": name });
    return h("div", { class: "field" }, h("label", { for: `secret-${i}` }, name),
      h("div", { class: "copied" }, input, h("button", { type: "button", onclick: () => copy(input, status), autofocus: i === 0, "data-testid": "copy" }, "Copy")));
  });
  const dialog = frame(title, h("p", {}, text), rows, status,
    h("form", { method: "dialog" }, h("div", { class: "actions" }, h("button", { class: "primary", "data-testid": "stored" }, "I have stored it"))));
  dialog.addEventListener("cancel", (event) => event.preventDefault()); // Escape must not lose it
  await open(dialog);
}

/** Shows a form in a dialog, and closes it when `submit` returns true. `submit` gets a function that submits once more. */
export async function formDialog({ title, content, action, submit }) {
  const button = h("button", { class: "primary", "data-testid": "submit" }, action);
  const form = h("form", { novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    once(button, async () => {
      if (await submit(() => form.requestSubmit())) dialog.close("yes");
    });
  } }, content, h("div", { class: "actions" }, button,
    h("button", { type: "button", onclick: () => dialog.close(""), "data-testid": "cancel" }, "Cancel")));
  const dialog = frame(title, form);
  return (await open(dialog)) === "yes";
}
