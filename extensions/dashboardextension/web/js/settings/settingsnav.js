// The links between the settings pages, of which scoped administrators have one.

import { root } from "../api.js";
import { byId, h } from "../dom.js";
import { managesAll } from "../user.js";

const pages = [["settings", "Apps"], ["settings/users", "Users"], ["settings/audit", "Audit log"]];

/** Draws the links that a user may follow. */
export function drawSettingsNav(session) {
  if (!session.user || !managesAll(session)) return;
  const here = location.pathname.slice(root.pathname.length).replace("settings/app", "settings");
  byId("settings-nav").replaceChildren(...pages.map(([path, name]) => h("a", { href: new URL(path, root), "aria-current": here === path ? "page" : null }, name)));
}
