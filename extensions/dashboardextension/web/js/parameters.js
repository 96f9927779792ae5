// Written by go test ./extensions/dashboardextension/internal/readapi -run TestParametersOfPages -update: change the table there.

/** The parameters of forms and searches: their label and unit, and the attributes of their input. */
export const parameters = {
  __proto__: null,
  app: { label: "App", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"All","spellcheck":"false","type":"text"} },
  q: { label: "Anything", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  id: { label: "Conference ID", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  from: { label: "From", unit: "", attributes: {"type":"datetime-local"} },
  to: { label: "To", unit: "", attributes: {"type":"datetime-local"} },
  user: { label: "User ID", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  site: { label: "Site", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"All","spellcheck":"false","type":"text"} },
  version: { label: "App version", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"All","spellcheck":"false","type":"text"} },
  additional: { label: "Additional ID", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  outcome: { label: "Outcome", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  quality: { label: "Quality", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  cause: { label: "Likely cause", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  scoreFrom: { label: "Score from", unit: "", attributes: {"inputmode":"decimal","max":5,"min":1,"placeholder":"1","step":"any","type":"number"} },
  scoreTo: { label: "Score to", unit: "", attributes: {"inputmode":"decimal","max":5,"min":1,"placeholder":"5","step":"any","type":"number"} },
  setupFrom: { label: "Setup of at least", unit: "ms", attributes: {"inputmode":"numeric","max":1000000,"min":1,"placeholder":"1","step":1,"type":"number"} },
  rttAbove: { label: "Round-trip time above", unit: "ms", attributes: {"inputmode":"decimal","max":1000000,"min":0.001,"placeholder":"300","step":"any","type":"number"} },
  lossAbove: { label: "Packet loss above", unit: "fraction", attributes: {"inputmode":"decimal","max":1,"min":0.000001,"placeholder":"0.05","step":"any","type":"number"} },
  ratingTo: { label: "Rated at most", unit: "", attributes: {"inputmode":"numeric","max":5,"min":1,"placeholder":"5","step":1,"type":"number"} },
  issue: { label: "Issue", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  function: { label: "Error of", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"createOffer","spellcheck":"false","type":"text"} },
  browser: { label: "Browser", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"firefox","spellcheck":"false","type":"text"} },
  browserVersion: { label: "Browser version", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"144","spellcheck":"false","type":"text"} },
  state: { label: "State", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  fact: { label: "With", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  reason: { label: "Notification", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
  provider: { label: "Provider", unit: "", attributes: {"autocomplete":"off","maxlength":256,"placeholder":"","spellcheck":"false","type":"text"} },
};

/** Those of the list of conferences. */
export const ofConferences = [
  "app",
  "q",
  "id",
  "from",
  "to",
  "user",
  "site",
  "version",
  "additional",
  "additionalKey",
  "outcome",
  "quality",
  "cause",
  "scoreFrom",
  "scoreTo",
  "setupFrom",
  "rttAbove",
  "lossAbove",
  "ratingTo",
  "issue",
  "function",
  "browser",
  "browserVersion",
  "state",
  "fact",
  "reason",
  "past",
];

/** Those of them that are whole texts, by which the field of the list finds conferences. */
export const terms = [
  "q",
  "id",
  "user",
  "site",
  "version",
  "additional",
];

/** Those that define a set of a comparison. */
export const defining = [
  "app",
  "from",
  "to",
  "site",
  "version",
  "outcome",
  "quality",
  "cause",
  "scoreFrom",
  "scoreTo",
  "setupFrom",
  "rttAbove",
  "lossAbove",
  "ratingTo",
  "issue",
  "function",
  "browser",
  "browserVersion",
];

/** Those of them that say what happened: all other conferences are the baseline of a set with one of these. */
export const conditions = [
  "outcome",
  "quality",
  "cause",
  "scoreFrom",
  "scoreTo",
  "setupFrom",
  "rttAbove",
  "lossAbove",
  "ratingTo",
  "issue",
  "function",
];

/** Those of the list of pre-call tests. */
export const ofPreCalls = [
  "app",
  "from",
  "to",
  "user",
  "site",
  "version",
  "additional",
  "additionalKey",
  "provider",
  "status",
  "failed",
];
