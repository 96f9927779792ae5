// The AppSecrets and verification keys of an app.

import { drawOnChange, h } from "../dom.js";
import { ago, date } from "../format.js";
import { time } from "../parts.js";
import { confirm, formDialog, showSecrets } from "./dialog.js";
import { Draft } from "./draft.js";
import { choiceField, FieldError, linesField, trimmedField } from "./fields.js";
import { appPath, send } from "./manage.js";
import { actionButton, perform } from "./perform.js";
import { scrolledTable } from "./table.js";

/** A time of the API in an element; a word where there is none. */
export const when = (text, otherwise) => (text ? time(Date.parse(text), date(Date.parse(text))) : h("span", { class: "muted" }, otherwise));

const used = (text) => (text ? time(Date.parse(text), ago(Date.parse(text), Date.now())) : h("span", { class: "muted" }, "never"));

/** The state of a secret in words. */
export const secretState = ({ notAfter }) => (!notAfter ? "valid" : Date.parse(notAfter) <= Date.now() ? "switched off" : `valid until ${date(Date.parse(notAfter))}`);

const pill = (ok, text) => h("span", { class: `pill plain ${ok ? "success" : "missed"}`, "data-testid": "state" }, text);

const hours = [[0, "They stay valid"], [1, "They end in an hour"], [24, "They end in 24 hours"], [24 * 7, "They end in 7 days"], [24 * 30, "They end in 30 days"]];

async function addSecret(page) {
  const others = choiceField("others", "The app's other secrets", hours, { empty: 0 });
  const draft = new Draft([others], {});
  const area = h("div", { class: "answer" });
  let made;
  const content = page.shared.doc.secrets.length > 0 ? [others.element, area] : [h("p", {}, "Clients sign in with it."), area];
  const done = await formDialog({ title: "New secret", content, action: "Make the secret", submit: (again) => perform(area, draft, async () => {
    const end = others.get() && new Date(Date.now() + others.get() * 3_600_000).toISOString();
    made = await page.shared.change(({ revision }) => send("POST", appPath(page.id, "secrets"), { revision, body: end ? { othersNotAfter: end } : {} }));
  }, again) });
  if (!done) return;
  await page.shared.refresh();
  await showSecrets("New secret", "This secret is shown once. Give it to the application, and store it where only the application can read it.", [{ name: `AppSecret ${made.id}`, secret: made.secret }]);
}

/** Buttons of a secret or a key: what switches it, and what deletes it. */
function credentialRow(page, area, { kind, id, off, switchBody }) {
  const { shared } = page;
  const request = (method, body, done) => perform(area, shared.draft, async () => {
    await shared.change(({ revision }) => send(method, appPath(page.id, `${kind}s`, id), { revision, body }));
    await shared.refresh();
    return done;
  });
  const turn = async () => {
    const text = `Clients that sign in with ${kind} ${id} are refused from now on. You can switch it on again.`;
    if (!off && !(await confirm({ title: `Switch off the ${kind}?`, text, action: "Switch off" }))) return;
    await request("PUT", switchBody(), off ? "Switched on." : "Switched off.");
  };
  const remove = async () => {
    const text = `Clients that sign in with ${kind} ${id} are refused from now on. This cannot be undone.`;
    if (await confirm({ title: `Delete the ${kind}?`, text, action: "Delete" })) await request("DELETE", undefined, "Deleted.");
  };
  return h("td", { class: "row-actions" }, actionButton(off ? "Switch on" : "Switch off", turn, { "data-testid": "switch", "aria-label": `Switch ${off ? "on" : "off"} ${kind} ${id}` }),
    actionButton("Delete", remove, { class: "danger", "data-testid": "delete", "aria-label": `Delete ${kind} ${id}` }));
}

function secretRow(page, area, secret) {
  const off = secretState(secret) === "switched off";
  return h("tr", { "data-testid": "secret-row", "data-key": `secret ${secret.id}` }, h("th", { scope: "row", class: "mono" }, secret.id || "unnamed"),
    h("td", {}, pill(!off, secretState(secret))), h("td", {}, when(secret.createdAt, "unknown")), h("td", {}, used(secret.lastUsedAt)),
    !page.readOnly && credentialRow(page, area, { kind: "secret", id: secret.id, off, switchBody: () => (off ? {} : { notAfter: new Date().toISOString() }) }));
}

/** The secrets of an app, drawn into a section. */
export function drawSecrets(page, el) {
  page.secretArea ??= h("div", { class: "answer" });
  const { doc } = page.shared;
  drawOnChange(el, doc.secrets, () => [
    doc.secrets.length > 0 ? scrolledTable("secrets", ["ID", "State", "Made", "Last used", ...(page.readOnly ? [] : [""])], doc.secrets.map((one) => secretRow(page, page.secretArea, one)))
      : h("p", { class: "muted" }, "None. Clients can sign in by tokens only."),
    page.secretArea,
    !page.readOnly && h("div", { class: "actions" }, actionButton("New secret", () => addSecret(page), { "data-testid": "add-secret" })),
  ]);
}

const algorithms = [["ES256", "ES256: a public key"], ["HS256", "HS256: a shared secret"]];

/** The text of a public key as the API takes it: a JWK is an object, PEM a string. */
function publicKey(lines) {
  const text = lines.join("\n");
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw Object.assign(new FieldError(`It is neither PEM nor a JWK: ${error.message}.`), { path: "publicKey" });
  }
}

async function addKey(page) {
  const algorithm = choiceField("algorithm", "Algorithm", algorithms, { empty: "" });
  const keyID = trimmedField("keyID", "keyID", { max: 128, hint: "Tokens name it. Blank: the kid of a JWK, or one that is made." });
  const key = linesField("publicKey", "Public key", { rows: 6, placeholder: "-----BEGIN PUBLIC KEY-----\n…", hint: "PEM or a JWK, on the curve P-256." });
  const secret = trimmedField("secret", "Secret", { max: 1024, hint: "At least 32 bytes. Blank: one is made and shown once." });
  key.control.classList.add("mono");
  const draft = new Draft([algorithm, keyID, key, secret], { algorithm: "ES256" });
  const choose = () => {
    key.element.hidden = algorithm.get() !== "ES256";
    secret.element.hidden = !key.element.hidden;
  };
  algorithm.control.addEventListener("change", choose);
  choose();
  const area = h("div", { class: "answer" });
  let made;
  const submit = (again) => perform(area, draft, async () => {
    for (const field of draft.fields) field.clear();
    const body = { algorithm: algorithm.get() };
    if (keyID.get()) body.keyID = keyID.get();
    if (body.algorithm === "ES256") body.publicKey = publicKey(key.get());
    else if (secret.get()) body.secret = secret.get();
    made = await page.shared.change(({ revision }) => send("POST", appPath(page.id, "keys"), { revision, body }));
  }, again);
  const content = [...draft.fields.map((field) => field.element), area];
  if (!(await formDialog({ title: "New key", content, action: "Register the key", submit }))) return;
  await page.shared.refresh();
  if (made.secret) await showSecrets("New key", "This secret is shown once. Give it to the server that signs tokens.", [{ name: `Secret of key ${made.keyID}`, secret: made.secret }]);
}

function keyRow(page, area, key) {
  return h("tr", { "data-testid": "key-row", "data-key": `key ${key.keyID}` },
    h("th", { scope: "row" }, h("span", { class: "mono" }, key.keyID), key.publicKey && h("details", { "data-key": `public ${key.keyID}` }, h("summary", {}, "Public key"), h("pre", {}, key.publicKey))),
    h("td", {}, key.algorithm), h("td", {}, pill(!key.disabled, key.disabled ? "switched off" : "valid")), h("td", {}, when(key.createdAt, "unknown")), h("td", {}, used(key.lastUsedAt)),
    !page.readOnly && credentialRow(page, area, { kind: "key", id: key.keyID, off: key.disabled, switchBody: () => ({ disabled: !key.disabled }) }));
}

/** The keys of an app, drawn into a section. */
export function drawKeys(page, el) {
  page.keyArea ??= h("div", { class: "answer" });
  const { doc } = page.shared;
  drawOnChange(el, doc.keys, () => [
    doc.keys.length > 0 ? scrolledTable("keys", ["keyID", "Algorithm", "State", "Made", "Last used", ...(page.readOnly ? [] : [""])], doc.keys.map((one) => keyRow(page, page.keyArea, one)))
      : h("p", { class: "muted" }, "None. Clients can sign in by secrets only."),
    page.keyArea,
    !page.readOnly && h("div", { class: "actions" }, actionButton("New key", () => addKey(page), { "data-testid": "add-key" })),
  ]);
}
