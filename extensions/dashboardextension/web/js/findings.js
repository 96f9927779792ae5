// The findings of a comparison: what is over-represented, how much, and how likely that is by chance.

import { h } from "./dom.js";
import { fact, factText } from "./facts.js";
import { decimal, integer, percent, plural } from "./format.js";

/** The fewest conferences that a finding has in the set. */
export const least = 5;

/** A ratio with as many digits as matter. */
export const times = (n) => (n >= 99.5 ? integer(n) : decimal(n, n >= 9.95 ? 0 : 1));

/** How likely a finding is by chance alone, in words. */
export function chance(p) {
  if (p < 0.001) return `less than 1 in ${integer(10 ** Math.min(9, Math.floor(-Math.log10(Math.max(p, 1e-300)))))}`;
  return `about 1 in ${integer(1 / p)}`;
}

function bar(word, kind, share, n, of) {
  return [
    h("dt", {}, word),
    h("dd", {}, h("span", { class: `bar ${kind}`, "aria-hidden": "true" }, h("i", { vars: { width: `${Math.max(0.4, share * 100)}%` } })),
      h("span", { class: "number" }, h("b", {}, percent(share)), h("span", { class: "muted" }, ` ${integer(n)} of ${integer(of)}`))),
  ];
}

function finding(f, a) {
  return h("li", { class: "card finding", "data-testid": "finding" },
    h("h2", {}, f.facts.map((one, i) => [i > 0 && h("span", { class: "and" }, " and "), fact(one)])),
    h("p", { class: "lift" }, h("b", {}, `${times(f.lift)} times`), " as frequent as in the baseline ", h("span", { class: "muted small" }, `(95 % interval: ${times(f.liftLow)} to ${times(f.liftHigh)})`)),
    h("dl", { class: "bars" }, bar("Set", "set", f.setShare, f.inSet, a.set.compared), bar("Baseline", "baseline", f.baselineShare, f.inBaseline, a.baseline.compared)),
    h("p", { class: "small" }, `By chance: ${chance(f.adjusted)}, corrected for ${plural(a.tested, "compared value")}.`),
    f.companions.length > 0 && h("p", { class: "muted small", "data-testid": "companions" }, `Frequent only beside it: ${f.companions.map(factText).join(", ")}.`),
    h("p", {}, h("a", { class: "button", href: f.search, "data-testid": "finding-link" }, "Show conferences")));
}

const sampled = (set) => set.compared < set.conferences && `a random sample of ${integer(set.compared)} of the `;

function compared(a) {
  const link = (set, word) => h("a", { href: set.search, "data-testid": `${word}-link` }, [sampled(set), plural(set.conferences, "conference"), ` of the ${word}`]);
  return h("p", { class: "compared", "data-testid": "compared" }, "Compared: ", link(a.set, "set"), " with ", link(a.baseline, "baseline"), `, by ${plural(a.tested, "value")}.`,
    a.dropped > 0 && ` ${plural(a.dropped, "rarer value was", "rarer values were")} left out.`);
}

/** Why nothing was found. */
function reason(a, conditioned) {
  if (a.set.conferences === 0) return ["The set is empty", "No conference with a summary meets these conditions in this time."];
  if (a.baseline.conferences === 0 && !conditioned) return ["The baseline is empty", "All conferences of the time are in the set. Choose an outcome, a quality or another condition, or another baseline."];
  if (a.baseline.conferences === 0) return ["The baseline is empty", "There is nothing to compare with. Choose another baseline or a longer time."];
  if (a.set.conferences < least) return ["Nothing can be over-represented", `The set has ${plural(a.set.conferences, "conference")}. A value that fewer than ${least} conferences of the set have cannot be a finding. Choose a longer time.`];
  return ["Nothing is over-represented", `No value is more frequent in the set than chance explains. A cause with fewer than ${least} conferences in the set cannot be seen.`];
}

function nothing(a, conditioned) {
  const [title, text] = reason(a, conditioned);
  return h("div", { class: "card empty", "data-testid": "empty" }, h("h2", {}, title), h("p", {}, text));
}

/** Draws the answer of a comparison; conditioned says whether its set has a condition on what happened. */
export const drawFindings = (a, conditioned) => [
  compared(a),
  a.findings.length > 0 ? h("ol", { class: "findings", "aria-label": "Findings, the strongest first" }, a.findings.map((f) => finding(f, a))) : nothing(a, conditioned),
];
