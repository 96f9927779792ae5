// The values by which conferences are counted and compared: how one reads, and the search that finds its conferences.

import { causeWords } from "./cause.js";
import { capital, labels, words } from "./format.js";
import { issueName } from "./issues.js";
import { issueKinds, outcomes } from "./words.js";

const asIs = (value) => value;

/** A browser: "firefox 144" reads "Firefox 144". */
const browserName = capital;

/** Of a family without a version only "other" has no other conferences, so that a search for it finds what was counted. */
const browserSearch = (value) => (value.includes(" ") ? { fact: `browserVersion:${value}` } : value === "other" ? { fact: "browser:other" } : null);

const systems = { __proto__: null, android: "Android", chromeos: "ChromeOS", ios: "iOS", linux: "Linux", macos: "macOS", windows: "Windows" };

/** An address as stored: cut to a network, or whole (kept networks). */
export const network = (address) => `${address}${address.endsWith("::") ? "/48" : address.endsWith(".0") ? "/24" : ""}`;

/**
 * The lists of counts: their title, what one value is called, how it reads, and the parameters of the search that finds
 * its conferences; null for none. A list of few values has all of them.
 */
export const kinds = {
  outcomes: { title: "Outcomes", one: "Outcome", name: (value) => outcomes[value]?.[0] ?? words(value), search: (outcome) => ({ outcome }), all: Object.keys(outcomes) },
  labels: { title: "Quality", one: "Quality", name: capital, search: (quality) => ({ quality }), all: labels },
  causes: { title: "Likely causes", one: "Cause", name: (value) => causeWords[value] ?? words(value), search: (cause) => ({ cause }), all: Object.keys(causeWords) },
  errors: { title: "Errors by function", one: "Function", name: asIs, search: (name) => ({ function: name }) },
  issues: { title: "Issues", one: "Issue", name: issueName, search: (issue) => ({ issue }), all: issueKinds },
  browsers: { title: "Browsers", one: "Browser", name: browserName, search: browserSearch },
  sites: { title: "Sites", one: "Site", name: asIs, search: (site) => ({ site }) },
  versions: { title: "App versions", one: "App version", name: asIs, search: (version) => ({ version }) },
};

/** The attributes of participants: what they are called, and how a value reads where that is not its text. */
const attributes = {
  appID: ["App"],
  siteID: ["Site"],
  applicationVersion: ["App version"],
  browser: ["Browser", browserName],
  browserVersion: ["Browser", browserName],
  os: ["Operating system", (value) => systems[value] ?? value],
  device: ["Device"],
  usage: ["Usage"],
  localCandidateType: ["Local candidate"],
  remoteCandidateType: ["Remote candidate"],
  relayProtocol: ["Relay protocol"],
  networkType: ["Network"],
  localAddress: ["Address prefix", network],
  codec: ["Codec"],
};

const known = (attribute) => (Object.hasOwn(attributes, attribute) ? attributes[attribute] : [attribute]);

/** An attribute in words: "App version". */
export const attributeName = (attribute) => known(attribute)[0];

/** A value of an attribute as it reads: browserVersion "firefox 144" is "Firefox 144". */
export const attributeValue = (attribute, value) => (known(attribute)[1] ?? asIs)(value);
