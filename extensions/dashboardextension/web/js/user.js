// Shows who is signed in, and the pages that the user may open, where users sign in.

import { ask, expectLogin, root } from "./api.js";
import { h } from "./dom.js";

const reads = ({ roles }) => roles.includes("support") || roles.includes("engineering");
const manages = ({ roles }) => roles.includes("admin");

/** Whether a user manages the installation: its users and its audit log. */
export const managesAll = (session) => manages(session) && session.scope.all;

const needs = { calls: reads, settings: manages };

/** Leaves the links of the pages that a user may open. */
function showLinks(nav, session) {
  for (const link of nav.querySelectorAll("a")) {
    if (needs[link.dataset.need](session)) link.hidden = false;
    else link.remove();
  }
}

/** Adds the user, a button that signs out and the links to the header, and returns the session. Without sign-in it adds nothing. */
export async function showUser() {
  const session = await ask("api/session", {}).catch(() => ({}));
  const { user, name = user, form } = session;
  if (!user) return session;
  expectLogin();
  const bar = document.querySelector(".topbar");
  showLinks(bar.querySelector("nav"), session);
  bar.append(h("form", { class: "user", method: "post", action: new URL("signout", root), "data-testid": "signed-in" },
    h("input", { type: "hidden", name: "form", value: form }),
    h("a", { href: new URL("password", root), title: "Your account" }, name),
    h("button", { type: "submit", class: "quiet" }, "Sign out")));
  return session;
}
