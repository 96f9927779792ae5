// Attributes of participants and conferences, as the comparison and the history of a user name them.

import { h } from "./dom.js";

/** The attributes of facts in words for people. */
export const attributeWords = {
  appID: "App",
  siteID: "Site",
  applicationVersion: "App version",
  browser: "Browser",
  browserVersion: "Browser",
  os: "Operating system",
  device: "Device",
  usage: "Usage",
  localCandidateType: "Local candidate",
  remoteCandidateType: "Remote candidate",
  relayProtocol: "Relay protocol",
  networkType: "Network",
  localAddress: "Address prefix",
  codec: "Codec",
};

const wordOf = (attribute) => (Object.hasOwn(attributeWords, attribute) ? attributeWords[attribute] : attribute);

/** An address as stored: cut to a network, or whole (kept networks). */
export const network = (address) => `${address}${address.endsWith("::") ? "/48" : address.endsWith(".0") ? "/24" : ""}`;

/** A fact as text: "site berlin". */
export const factText = ({ attribute, value }) => `${wordOf(attribute).toLowerCase()} ${attribute === "localAddress" ? network(value) : value}`;

/** A fact as an attribute in words and its value, whose direction does not change the text around it. */
export const fact = ({ attribute, value }) =>
  h("span", { class: "fact", "data-testid": "fact", "data-attribute": attribute }, h("span", { class: "attribute" }, wordOf(attribute)), " ", h("bdi", {}, attribute === "localAddress" ? network(value) : value));
