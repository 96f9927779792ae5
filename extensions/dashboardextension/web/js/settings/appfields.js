// The fields of an app: its members in the management API, by the parts of the page that save them.

import { words } from "../format.js";
import { checkField, choiceField, jsonField, linesField, numberField, textField } from "./fields.js";

const minuteMs = 60_000;

/** Reasons of notifications with the unit of their limit, as docs/webhooks.md lists them. */
const reasons = [
  ["failedConferences", "Failed conferences"],
  ["partiallyFailedConferences", "Partially failed conferences"],
  ["droppedConferences", "Dropped conferences"],
  ["highSetupDelays", "High set-up delays", { unit: "ms" }],
  ["highRoundTripTime", "High round trip time", { unit: "ms" }],
  ["highPacketLoss", "High packet loss", { unit: "%", scale: 0.01 }],
  ["lowQuality", "Low quality", { unit: "MOS" }],
  ["dissatisfactoryUserFeedback", "Dissatisfactory user feedback", { unit: "of 5" }],
  ["preCallFailures", "Pre-call test failures"],
];

const switches = [[null, "default"], [true, "yes"], [false, "no"]];

const rule = { empty: null, placeholder: "default", text: undefined };

const times = (path, of) => [
  numberField(`${path}.windowMs`, "Window", { ...rule, unit: "min", scale: minuteMs, named: `${of}: window` }),
  numberField(`${path}.holdDownMs`, "Hold-down", { ...rule, unit: "min", scale: minuteMs, named: `${of}: hold-down` }),
  numberField(`${path}.recoveryMs`, "Recovery", { ...rule, unit: "min", scale: minuteMs, named: `${of}: recovery` }),
];

function conditions([reason, name, limit]) {
  const path = `webhookRules.reasons.${reason}`;
  return { name, fields: [
    choiceField(`${path}.interval`, "Notify for a window", switches, { empty: null, named: `${name}: windows` }),
    choiceField(`${path}.individual`, "Notify for each", switches, { empty: null, named: `${name}: each` }),
    ...(limit ? [numberField(`${path}.limit`, "Limit", { ...rule, ...limit, named: `${name}: limit` })] : []),
    numberField(`${path}.threshold`, "Threshold", { ...rule, unit: "%", scale: 0.01, named: `${name}: threshold` }),
    numberField(`${path}.minSamples`, "Least samples", { ...rule, step: 1, named: `${name}: least samples` }),
    ...times(path, name),
  ] };
}

const limits = ["handshakesPerSecond", "handshakesPerSecondPerAddress", "handshakesPerSecondPerUser", "connections", "framesPerSecond"];

/** The fields of the page, by part. */
export function appFields() {
  return {
    general: [
      textField("name", "Name", { hint: "Shown beside the app's ID on these pages." }),
      checkField("disabled", "Enabled", { inverted: true, words: ["no", "yes"], hint: "An app that is not enabled admits no client." }),
    ],
    origins: [
      linesField("origins", "Allowed origins", { placeholder: "https://app.example.org\nhttps://*.example.org:8443",
        hint: "One a line: scheme, host in lower case, and the port unless it is the scheme's default. Without any, pages of all origins may use the app." }),
    ],
    measuring: [
      numberField("statsIntervalMs", "Measurement interval", { unit: "s", scale: 1000, min: 2, max: 20, placeholder: "the receiver's own", hint: "How often clients measure: 2 to 20 s." }),
      numberField("retentionHours", "Retention", { unit: "hours", min: 1, step: 1, placeholder: "the store's own", hint: "Time after the end of a conference at which it is deleted." }),
      choiceField("userIDs", "IDs of users", [["plain", "stored as the application sends them"], ["hash", "replaced by pseudonyms"]], {
        hint: "Pseudonyms hold for what arrives from then on. Search finds a user by the ID as before.",
      }),
      checkField("singleUse", "Single-use tokens", { hint: "Third-party tokens need a jti and an exp at most an hour ahead, and are valid once." }),
      ...limits.map((name) => numberField(`limits.${name}`, words(name), { placeholder: "the receiver's own", named: `Limit of ${words(name).toLowerCase()}` })),
      numberField("limits.dailyMiB", "Data a day", { unit: "MiB", min: 1, max: 1e6, step: 1, placeholder: "no limit", hint: "A limit of the data that all clients store from midnight to midnight UTC. With less than a tenth left they measure less often; with nothing left they keep their data until the next day, as far as they have room." }),
    ],
    configuration: [
      jsonField("defaultConfiguration.peerConnection", "PeerConnection (RTCConfiguration, JSON)", { named: "Default configuration of PeerConnections",
        placeholder: '{"iceServers": [{"urls": "stun:stun.example.org"}]}' }),
      jsonField("defaultConfiguration.media", "Media (MediaStreamConstraints, JSON)", { named: "Default configuration of media",
        placeholder: '{"audio": true, "video": {"height": {"ideal": 720}}}' }),
    ],
    windows: times("webhookRules", "All reasons"),
    reasons: reasons.map(conditions),
  };
}

/** All fields of appFields, and those of the conditions. */
export function flat(fields) {
  const rules = [...fields.windows, ...fields.reasons.flatMap((one) => one.fields)];
  return { all: [...fields.general, ...fields.origins, ...fields.measuring, ...fields.configuration, ...rules], rules };
}

const readOnly = ["id", "declared", "secrets", "keys", "revokedBefore", "revokedUsers", "bytesToday", "createdAt", "changedAt", "revision", "webhookSecrets"];

/** The body that replaces an app: every member that a PUT takes, those too that this page does not show. */
export function bodyOf(doc) {
  const body = Object.fromEntries(Object.entries(doc).filter(([name]) => !readOnly.includes(name)));
  return { ...body, webhooks: (doc.webhooks ?? []).map(({ id, url, format }) => ({ id, url, format })) };
}
