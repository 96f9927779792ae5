// Written by go test ./extensions/dashboardextension/internal/narrative -run TestWordsOfPages -update: change the words there.

/** What each cause says; {at} is the participant at whose end it lies, {peer} the other end. */
export const causes = {
  __proto__: null,
  application: "The application of {at}",
  iceConnectivity: "No way between {at} and {peer}, or it went away",
  mediaServer: "The media server, or its network",
  pathOrTurn: "The network, or a relay, from {at} to {peer}",
  permissionsOrDevices: "Permissions or devices of {at}",
  receiverDownlink: "The network from everybody else to {at}",
  receivingMachine: "The machine of {at} is too busy to play",
  senderUplink: "The network from {at} to everybody else",
  sendingCapture: "Camera or microphone of {at}",
  sendingMachineCpu: "The machine of {at} is too busy to encode",
  serverPath: "The network between {at} and the media server, or the server",
  signalling: "The signalling between {at} and {peer}",
  unknown: "Unknown: something was wrong, and nothing that was measured shows the cause",
};

/** Kinds of issues that do not read well in words. */
export const issueTitles = {
  __proto__: null,
  bandwidthLimited: "Limited by the network",
  busyCodec: "Coding takes most of the time",
  concealedAudio: "Audibly concealed sound",
  cpuLimited: "Limited by the machine",
  droppedFrames: "Frames dropped before display",
  highJitterBuffer: "Long delay in the jitter buffer",
  highRoundTripTime: "High round-trip time",
  iceDisruption: "ICE disruption",
  iceRestart: "ICE restart",
  keyFrameStorm: "Key frames asked for all the time",
  lossBurst: "Gaps in the sound",
  noMedia: "No media",
  notPlayed: "Sound that the page does not play",
  oneWayMedia: "Media in one direction only",
  relayOverTCP: "Relayed over TCP",
  weakWiFi: "Weak Wi-Fi",
};

/** All kinds of issues. */
export const issueKinds = [
  "noMedia",
  "oneWayMedia",
  "highPacketLoss",
  "lossBurst",
  "concealedAudio",
  "frozenVideo",
  "lowFrameRate",
  "highRoundTripTime",
  "highJitter",
  "highJitterBuffer",
  "iceDisruption",
  "bandwidthLimited",
  "cpuLimited",
  "busyCodec",
  "droppedFrames",
  "keyFrameStorm",
  "silentMicrophone",
  "weakWiFi",
  "lowQuality",
  "notPlayed",
  "relayOverTCP",
  "iceRestart",
  "deviceChange",
  "lateJoin",
];

/** The keys that additionalIDs may have. */
export const additionalKeys = [
  "customerID",
  "tenantID",
  "productName",
  "meetingsName",
  "serverName",
  "pbxID",
  "pbxExtensionID",
  "fqExtensionID",
  "sessionID",
];

/** What each outcome says: its name and its meaning. */
export const outcomes = {
  __proto__: null,
  success: ["Success", "Every connection came up."],
  partiallyFailed: ["Partially failed", "Some connections came up, others never did."],
  dropped: ["Dropped", "Everyone was lost without leaving."],
  aborted: ["Aborted", "Everyone left while still connecting."],
  totallyFailed: ["Totally failed", "No connection came up."],
  missed: ["Missed", "Nobody answered."],
};

/** How a connection or a participant ended. */
export const endReasons = {
  __proto__: null,
  application: "ended by the application",
  closed: "connection closed",
  failed: "ICE failed",
  iceFailed: "ICE failed",
  pagehide: "page left",
  replaced: "replaced by another connection",
  silence: "went silent",
  terminated: "terminated by the application",
};

/** In which stage a setup failed. */
export const stages = {
  __proto__: null,
  connectivity: "while checking connectivity",
  dtls: "in the DTLS handshake",
  gathering: "while gathering candidates",
  noRemoteDescription: "no answer came",
};
