// What a stream's lowest score was made of: under the number, for those who open it.

import { h } from "./dom.js";
import { clock, decimal } from "./format.js";

/** How many decimals an input is shown with: shares need four, bit rates and pixels none. */
const decimals = (value) => (Math.abs(value) < 10 ? 4 : Math.abs(value) < 1000 ? 1 : 0);

/** The cell's content: the number alone where the interval is not known. key names the stream. */
export function drawLowest(number, lowest, key) {
  if (!lowest) return number;
  const lines = [
    `${decimal(lowest.mos, 3)} at ${clock(lowest.at)}`,
    lowest.model,
    lowest.confidence && `${lowest.confidence} confidence`,
    lowest.assumed && `assumed: ${lowest.assumed.replaceAll(",", ", ")}`,
    ...Object.keys(lowest.inputs).sort().map((name) => `${name} ${decimal(lowest.inputs[name], decimals(lowest.inputs[name]))}`),
  ].filter(Boolean);
  return h("details", { "data-key": key, "data-testid": "lowest" }, h("summary", { title: "What went into it" }, number),
    h("div", { class: "lowest" }, lines.map((line) => h("span", { class: "sub" }, line))));
}
