// Attributes of participants and conferences, as the comparison and the history of a user name them.

import { h } from "./dom.js";
import { attributeName, attributeValue } from "./values.js";

/** A fact as text: "site berlin". */
export const factText = ({ attribute, value }) => `${attributeName(attribute).toLowerCase()} ${attributeValue(attribute, value)}`;

/** A fact as an attribute in words and its value, whose direction does not change the text around it. */
export const fact = ({ attribute, value }) =>
  h("span", { class: "fact", "data-testid": "fact", "data-attribute": attribute }, h("span", { class: "attribute" }, attributeName(attribute)), " ", h("bdi", {}, attributeValue(attribute, value)));
