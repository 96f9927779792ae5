// The likely cause of what was wrong: where it lies, what speaks for it, and how sure it is.

import { h } from "./dom.js";
import { percent, words } from "./format.js";
import { soFarPill } from "./parts.js";
import { causes } from "./words.js";

/** Each cause in a word or two. */
export const causeWords = {
  __proto__: null,
  senderUplink: "Sender's network",
  receiverDownlink: "Receiver's network",
  pathOrTurn: "Path or relay",
  mediaServer: "Media server",
  sendingMachineCpu: "Sender's machine",
  receivingMachine: "Receiver's machine",
  sendingCapture: "Camera or microphone",
  application: "Application",
  permissionsOrDevices: "Permissions or devices",
  signalling: "Signalling",
  iceConnectivity: "ICE connectivity",
  unknown: "Unknown",
  none: "Nothing was wrong",
};

const nameOf = (people, session) => people.find((p) => p.session === session)?.user;

/** The cause as a sentence; empty where there is none to tell. */
export function causeText(finding, people) {
  const text = causes[finding?.server ? "serverPath" : finding?.cause];
  if (!text) return "";
  return text.replace("{at}", nameOf(people, finding.session) ?? "a participant").replace("{peer}", nameOf(people, finding.peer) ?? "the others");
}

function evidence(e, people) {
  const where = [nameOf(people, e.session), e.mediaType].filter(Boolean).join(" · ");
  return h("li", { "data-testid": "evidence", "data-metric": e.metric, title: `${words(e.metric)}: ${e.value}, compared with ${e.comparedWith}` },
    h("b", {}, where || "All"), h("span", {}, e.text));
}

/** The cause of the conference's faults, with its evidence. */
export function drawCause(detail, people) {
  const found = detail.summary?.likelyCause;
  const text = causeText(found, people);
  if (!text) return [];
  const others = (found.others ?? []).map((o) => `${causeText(o, people)} (${percent(o.confidence)})`).filter((other) => other[0] !== " ");
  return h("div", { class: "card cause", "data-testid": "cause", "data-cause": found.cause },
    h("div", { class: "section-head" }, h("h2", {}, "Likely cause"), detail.soFar && soFarPill(),
      found.confidence > 0 && h("span", { class: "muted small" }, `${percent(found.confidence)} sure`)),
    h("p", { class: "place" }, text),
    found.evidence?.length > 0 && h("ul", {}, found.evidence.map((e) => evidence(e, people))),
    others.length > 0 && h("p", { class: "muted small" }, `Less likely: ${others.join("; ")}`));
}
