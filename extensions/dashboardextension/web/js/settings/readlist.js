// Reads the list of a settings page, and shows why it cannot be read.

import { toSignIn } from "../api.js";
import { byId } from "../dom.js";
import { notice } from "../parts.js";
import { Problem } from "./manage.js";

/** Runs work, which draws into the element of the list. `missing` is the text where the API has no such path: `again` would not help. */
export async function readList(work, again, missing) {
  const list = byId("list");
  try {
    await work(list);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) toSignIn();
    const none = missing && error.status === 404;
    list.replaceChildren();
    byId("alert").replaceChildren(notice(none ? missing : error.message, none ? undefined : again));
  } finally {
    list.setAttribute("aria-busy", "false");
  }
}
