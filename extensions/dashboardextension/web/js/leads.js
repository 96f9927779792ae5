// Where a search leads: to what changed, to the history of the user, and for a notification to its strongest finding.

import { ask } from "./api.js";
import { ofSearch, setWords } from "./comparison.js";
import { byId, h } from "./dom.js";
import { factText } from "./facts.js";
import { times } from "./findings.js";
import { percent } from "./format.js";
import { defining, terms } from "./parameters.js";
import { outcomes } from "./words.js";

/** Filters that define no set of a comparison. */
const others = [...terms.filter((name) => !defining.includes(name)), "fact"];

function links(query) {
  const comparison = others.some((name) => query.get(name)) ? null : ofSearch(query);
  const [app, user] = [query.get("app"), query.get("user")];
  return [
    comparison && h("a", { href: `changes?${comparison}`, "data-testid": "what-changed" }, "What changed?"),
    app && user && h("a", { href: `user?${new URLSearchParams({ app, user })}`, "data-testid": "user-history" }, "History of this user"),
    h("a", { href: app ? `app?${new URLSearchParams({ app })}` : "app", "data-testid": "app-trends" }, app ? "This app over time" : "Apps over time"),
  ].filter(Boolean);
}

/** The strongest finding in one line: "Failed conferences 9 %: browser firefox 144, site berlin, 6.2 times as frequent". */
function strongest(answer, comparison) {
  const [f] = answer.findings;
  const share = answer.set.conferences / (answer.set.conferences + answer.baseline.conferences);
  return h("a", { class: "strongest", href: `changes?${comparison}`, "data-testid": "strongest" },
    `${setWords(comparison, outcomes)} ${percent(share)}: `, h("bdi", {}, f.facts.map(factText).join(", ")), `, ${times(f.lift)} times as frequent`);
}

let shown = null;

/** Draws the links of a search once. That of a notification is compared afterwards; without a finding nothing is added. */
export async function drawLeads(query, signal) {
  const key = String(query);
  if (shown === key) return;
  shown = key;
  const el = byId("leads");
  el.replaceChildren(...links(query));
  const comparison = query.get("reason") ? ofSearch(query) : null;
  if (!comparison?.get("from") || !comparison.get("to")) return;
  const answer = await ask("api/contrast", comparison, signal).catch(() => null); // the list is what the page is for
  if (shown === key && answer?.findings.length > 0) el.prepend(strongest(answer, comparison));
}
