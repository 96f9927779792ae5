// Requests about personal data: exports and erases what is stored of one user.

import { drawOnChange, h } from "../dom.js";
import { plural } from "../format.js";
import { confirm } from "./dialog.js";
import { Draft } from "./draft.js";
import { required, trimmedField } from "./fields.js";
import { appPath, Problem, request, send } from "./manage.js";
import { actionButton, once, perform } from "./perform.js";

const pollMs = 1000; // between two readings of an erasure's progress

const endBytes = 1000; // more than the last line of an export has

const interrupted = "The export ended before it was complete. Try again.";

/** Saves a file as the browser saves downloads. */
function save(blob, name) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser may still read it
}

/** The last line of an export; without it the export was interrupted. */
async function lastLine(blob) {
  const line = (await blob.slice(-endBytes).text()).trimEnd().split("\n").at(-1);
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

async function exportUser(page, userID) {
  const response = await request("POST", appPath(page.id, "users", "export"), { body: { userID } });
  const blob = await response.blob().catch(() => {
    throw new Problem(interrupted, 0);
  });
  const end = await lastLine(blob);
  if (end.type !== "end") throw new Problem(interrupted, 0);
  save(blob, `${page.id}-user.jsonl`);
  return end.complete ? "The export is complete. Its first line lists all IDs of the user." : `The export is incomplete: ${end.detail}.`;
}

const states = {
  sessions: "searches the user's sessions", conferences: "erases in the user's conferences", others: "searches other conferences",
  rewriting: "rewrites the file of the store", done: "done",
};

const changed = (e) => `${plural(e.sessions, "session")}, ${plural(e.records, "record")} and ${plural(e.summaries, "summary", "summaries")}`;

const progress = (e) => `Erasure ${e.id}: ${states[e.state] ?? e.state}. ${changed(e)} changed so far.`;

const result = (e) => [
  `Erased: ${changed(e)}. The measurements remain under ${e.pseudonym}.`,
  e.damaged > 0 && ` ${plural(e.damaged, "damaged part")} of the store could not be read.`,
  e.conferencesNamed > 0 && ` ${plural(e.conferencesNamed, "conferenceID")} with this ID in it remain as they are.`,
].filter(Boolean).join("");

async function eraseUser(page, userID, status) {
  let erasure = await send("POST", appPath(page.id, "users", "erase"), { body: { userID } });
  try {
    while (erasure.state !== "done") {
      status.textContent = `${progress(erasure)} It continues if you leave this page.`;
      await new Promise((resume) => setTimeout(resume, pollMs));
      erasure = await send("GET", appPath(page.id, "users", "erasures", erasure.id));
    }
  } catch (error) {
    throw error instanceof Problem ? new Problem(`The progress of erasure ${erasure.id} cannot be read; it continues. ${error.message}`, error.status) : error;
  } finally {
    status.textContent = "";
  }
  return result(erasure);
}

/** The form of one user, with a button for each kind of request. */
function requestForm(page, area) {
  const field = trimmedField("userID", "User", { hint: "userName, aliasName or an earlier ID, as the application names the user." });
  const draft = new Draft([field], {});
  const status = h("p", { class: "muted", role: "status", "data-testid": "progress" });
  const user = () => required(field, "a user's name");
  const exportNow = async () => {
    const id = user();
    if (id) await perform(area, draft, () => exportUser(page, id));
  };
  const erase = async () => {
    const id = user();
    const text = "All names and texts of the user's sessions until now are deleted from the store, and the name in records of others. This cannot be undone. Measurements remain under a pseudonym.";
    if (!id || !(await confirm({ title: "Erase this user's data?", text, action: "Erase", type: id }))) return;
    if (await perform(area, draft, () => eraseUser(page, id, status))) field.set("");
  };
  const button = h("button", { type: "submit", "data-testid": "export-user" }, "Export");
  const submit = (event) => {
    event.preventDefault();
    once(button, exportNow);
  };
  return h("form", { novalidate: true, onsubmit: submit }, field.element, status, area,
    h("div", { class: "actions" }, button, actionButton("Erase…", erase, { class: "danger", "data-testid": "erase-user" })));
}

async function newKey(page, area) {
  const text = "Each user has another pseudonym from now on. Calls that were recorded before are still found by the user's ID, and belong to another pseudonym.";
  if (!(await confirm({ title: "Make a new key of pseudonyms?", text, action: "Make a new key" }))) return;
  await perform(area, page.shared.draft, async () => {
    page.shared.take(await page.shared.change(({ revision }) => send("POST", appPath(page.id, "user-id-key"), { revision, body: {} })));
    return "A new key is in use.";
  });
}

/** The requests about one user, and the key of pseudonyms of an app that hashes, drawn into a section. */
export function drawRequests(page, el) {
  page.requestArea ??= h("div", { class: "answer" });
  page.requestForm ??= requestForm(page, page.requestArea);
  const hashes = page.shared.doc.userIDs === "hash" && !page.readOnly;
  drawOnChange(el, [hashes], () => [
    h("p", { class: "muted" }, "Answers a user who asks for their data or for its erasure."), page.requestForm,
    hashes && h("div", { class: "actions" }, actionButton("New key of pseudonyms", () => newKey(page, page.requestArea), { "data-testid": "user-id-key" })),
  ]);
}
