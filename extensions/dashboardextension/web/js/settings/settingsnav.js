// The links between the settings pages, of which scoped administrators have two.

import { root } from "../api.js";
import { byId, h } from "../dom.js";
import { managesAll } from "../user.js";

const pages = [["settings", "Apps"], ["settings/tokens", "API tokens"], ["settings/users", "Users", "all"], ["settings/audit", "Audit log", "all"]];

/** Draws the links that a user may follow. */
export function drawSettingsNav(session) {
  if (!session.user) return;
  const here = location.pathname.slice(root.pathname.length).replace("settings/app", "settings");
  byId("settings-nav").replaceChildren(...pages.filter(([, , need]) => !need || managesAll(session)).map(([path, name]) => h("a", { href: new URL(path, root), "aria-current": here === path ? "page" : null }, name)));
}
