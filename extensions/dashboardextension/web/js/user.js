// Shows who is signed in, where users sign in.

import { ask, expectLogin } from "./api.js";
import { h } from "./dom.js";

/** Adds the user and a button that signs out to the header. Without sign-in it adds nothing. */
export async function showUser() {
  const { user, name = user, form } = await ask("api/session", {}).catch(() => ({}));
  if (!user) return;
  expectLogin();
  document.querySelector(".topbar").append(h("form", { class: "user", method: "post", action: "signout", "data-testid": "signed-in" },
    h("input", { type: "hidden", name: "form", value: form }),
    h("a", { href: "password", title: "Your account" }, name),
    h("button", { type: "submit", class: "quiet" }, "Sign out")));
}
