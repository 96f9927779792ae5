// Tables of the settings pages. On narrow screens each row is a block, and cells have the names of their columns.

import { h, scrollBox } from "../dom.js";

const head = (column) => h("th", { scope: "col" }, column || h("span", { class: "visually-hidden" }, "Actions"));

/** A table with a name for readers of the screen. Rows are `tr`; a column without a name has actions. */
export function listTable(name, columns, rows) {
  for (const row of rows) {
    for (const [i, cell] of [...row.children].entries()) if (i > 0 && columns[i]) cell.dataset.label = columns[i];
  }
  return h("table", { class: "list" }, h("caption", { class: "visually-hidden" }, name), h("thead", {}, h("tr", {}, columns.map(head))), h("tbody", {}, rows));
}

/** The same in a box that scrolls sideways. */
export const scrolledTable = (name, columns, rows) => scrollBox(`List of ${name}`, listTable(name, columns, rows));
