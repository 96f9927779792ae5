// Shows who is signed in, and the pages that the user may open, where users sign in.

import { ask, expectLogin, root } from "./api.js";
import { h } from "./dom.js";

const reads = ({ roles }) => roles.includes("support") || roles.includes("engineering");
const manages = ({ roles }) => roles.includes("admin");

/** Whether a user manages the installation: its users and its audit log. */
export const managesAll = (session) => manages(session) && session.scope.all;

const pages = [
  ["", "Conferences", reads],
  ["unattached", "Unattached", reads],
  ["settings", "Settings", manages],
];

const link = (path, name, current) => h("a", { href: new URL(path, root), "aria-current": current ? "page" : null }, name);

/** The links of the pages that a user may open; within a part of the pages, that part is current. */
function links(session) {
  const here = location.pathname.slice(root.pathname.length);
  return pages.filter(([, , may]) => may(session)).map(([path, name]) => link(path, name, here === path || (path !== "" && here.startsWith(`${path}/`))));
}

/** Adds the user, a button that signs out and the links to the header, and returns the session. Without sign-in it adds nothing. */
export async function showUser() {
  const session = await ask("api/session", {}).catch(() => ({}));
  const { user, name = user, form } = session;
  if (!user) return session;
  expectLogin();
  const bar = document.querySelector(".topbar");
  bar.querySelector("nav").replaceChildren(...links(session));
  bar.append(h("form", { class: "user", method: "post", action: new URL("signout", root), "data-testid": "signed-in" },
    h("input", { type: "hidden", name: "form", value: form }),
    h("a", { href: new URL("password", root), title: "Your account" }, name),
    h("button", { type: "submit", class: "quiet" }, "Sign out")));
  return session;
}
