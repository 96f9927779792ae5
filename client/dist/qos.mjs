/*! qos 0.1.0 | Apache-2.0 */

// src/result.ts
var Invalid = class extends Error {
};
var call = { status: "success", notes: [] };
function note(text2) {
  call.notes.push(text2);
}
function fail(text2) {
  call.status = "failure";
  note(text2);
}
function onRefusal(hear) {
  call.refused = hear;
}
function guard(operation) {
  const outer = call;
  call = { status: "success", notes: [] };
  try {
    operation();
    return outcome(call.status, call.notes.join("; "));
  } catch (error) {
    const msg = error instanceof Invalid ? error.message : `internal error: ${text(error)}`;
    call.refused?.(msg);
    return outcome("failure", msg);
  } finally {
    call = outer;
  }
}
function outcome(status, msg) {
  return { status, msg, message: msg };
}
var unreadable = "it cannot be read";
var plain = {};
function json(value) {
  return JSON.stringify(value, function(key, made) {
    const given = this[key];
    return Array.isArray(given) || given?.toJSON === plain.toJSON ? given : made;
  });
}
function text(thrown) {
  return attempt(() => thrown instanceof Error ? thrown.message : String(thrown), unreadable);
}
function attempt(make, otherwise) {
  try {
    return make();
  } catch {
    return otherwise;
  }
}
function inTime(limitMs2, make) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), limitMs2);
    const answer2 = (value) => {
      clearTimeout(timer);
      resolve(value);
    };
    make().then(answer2, () => answer2(null));
  });
}
function hand(callback, ...args) {
  try {
    callback?.(...args);
  } catch (error) {
    console.error("qos: a callback threw", error);
  }
}
function later(callback, ...args) {
  if (callback) setTimeout(() => hand(callback, ...args), 0);
}

// src/backend.ts
function findBackend(backendUrl, scriptUrl) {
  if (backendUrl !== void 0) {
    const url = parse(backendUrl);
    if (!url) throw new Invalid("configParams.backendUrl must be an http or https URL");
    return url.href.replace(/\/?([?#].*)?$/, "/");
  }
  const folder = ownFolder(scriptUrl);
  if (!folder) throw new Invalid("set configParams.backendUrl or load the library from the collector");
  return folder;
}
function ownFolder(scriptUrl = "") {
  const url = parse(scriptUrl);
  return url && /\/qos(\.min)?\.m?js$/.test(url.pathname) ? new URL(".", url).href : void 0;
}
function parse(text2) {
  const url = attempt(() => new URL(text2, globalThis.location?.href));
  return url && /^https?:$/.test(url.protocol) ? url : void 0;
}

// src/validate.ts
var encoder = attempt(() => new TextEncoder());
function byteLength(value) {
  return encoder.encode(value).length;
}
function cutBytes(value, limit) {
  return value.slice(0, encoder.encodeInto(value, new Uint8Array(limit)).read);
}
function cut(name, value, limit, unit = "bytes") {
  const kept = unit === "bytes" ? cutBytes(value, limit) : [...value].slice(0, limit).join("");
  if (kept !== value) note(`${name} was cut to ${limit} ${unit}`);
  return kept;
}
function reading(name, read) {
  try {
    return read();
  } catch (error) {
    throw error instanceof Invalid ? error : new Invalid(`${name} cannot be read: ${text(error)}`);
  }
}
var isArray = (value) => attempt(() => Array.isArray(value), false);
function kindOf(value) {
  if (value === null) return "null";
  if (value === "") return "an empty string";
  if (isArray(value)) return "an array";
  if (isObject(value)) return "an object";
  return value === void 0 ? "nothing" : `a ${typeof value}`;
}
var isGiven = (value) => value !== void 0 && value !== null;
function isObject(value) {
  return typeof value === "object" && value !== null && !isArray(value);
}
function must(ok, name, wanted, came) {
  if (!ok) throw new Invalid(`${name} must be ${wanted}, got ${kindOf(came)}`);
}
function ignored(name, wanted, came) {
  note(`${name} must be ${wanted}, got ${kindOf(came)}: ignored`);
}
function atMost(name, limit, unit, came) {
  if (came > limit) throw new Invalid(`${name} must be at most ${limit} ${unit}, got ${came}`);
}
function requireText(name, value, limit, unit = "bytes") {
  must(typeof value === "string" && value !== "", name, `a non-empty string of at most ${limit} ${unit}`, value);
  if (/\p{Cs}/u.test(value)) throw new Invalid(`${name} has a lone surrogate`);
  atMost(name, limit, unit, unit === "bytes" ? byteLength(value) : [...value].length);
  return value;
}
function requireID(name, value, limit = 256, unit) {
  const isNumber = typeof value === "bigint" || Number.isInteger(value);
  if (isNumber) note(`${name} is a number: its digits were taken`);
  const id = requireText(name, isNumber ? String(BigInt(value)) : value, limit, unit);
  if (!id.trim() || id.includes("\0")) throw new Invalid(`${name} must not be blank or contain NUL`);
  return id;
}
function requireConferenceID(value) {
  return requireID("conferenceID", value);
}
function requireFunction(name, value) {
  must(typeof value === "function", name, "a function", value);
  return value;
}
function requireMember(name, members, value, otherwise) {
  if (Object.values(members).includes(value)) return value;
  const wanted = `one of ${Object.keys(members).join(", ")}`;
  must(otherwise !== void 0, name, wanted, value);
  ignored(name, wanted, value);
  return otherwise;
}
function requireUserID(name, value) {
  if (!isObject(value)) return requireID(name, value);
  const [alias, userName] = reading(name, () => [value.aliasName, value.userName ?? ""]);
  const aliasName = requireName(`${name}.aliasName`, alias);
  if (userName !== "") return { userName: requireName(`${name}.userName`, userName), aliasName };
  note(`${name}.userName is missing, aliasName was taken`);
  return { userName: aliasName, aliasName };
}
var requireName = (name, value) => requireID(name, value, 128, "characters");
function requireInteger(name, value, least, most) {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  const fits = Number.isInteger(number) && number >= least && number <= most;
  must(fits, name, `an integer from ${least} to ${most}`, value);
  return number;
}
function requireList(name, value) {
  return reading(name, () => {
    const list2 = Array.isArray(value) ? value : [value];
    atMost(name, 1e3, "items", list2.length);
    return [...list2];
  });
}
function requireData(name, value) {
  must(isObject(value), name, "an object", value);
  const text2 = reading(name, () => json(value) ?? "{}");
  atMost(name, 4096, "bytes of JSON", byteLength(text2));
  const data = JSON.parse(text2);
  return isObject(data) ? data : {};
}

// src/config.ts
var aSwitch = (name, value) => typeof value === "boolean" ? value : ignored(name, "a boolean", value);
var aText = (limit, unit) => (name, value) => typeof value === "string" ? cut(name, value, limit, unit) : ignored(name, "a string", value);
var anObject = (prefix, options) => (name, value) => {
  if (!isObject(value)) return ignored(name, "an object", value);
  const kept = {};
  for (const [key, member] of Object.entries(value)) {
    const read = Object.hasOwn(options, key) && options[key];
    if (!read) note(`${prefix + key} is unknown and ignored`);
    else if (member !== void 0 && member !== null) {
      const own = read(prefix + key, member);
      if (own !== void 0) kept[key] = own;
    }
  }
  return kept;
};
var additionalIDs = "customerID tenantID productName meetingsName serverName pbxID pbxExtensionID fqExtensionID sessionID";
var readOptions = anObject("", {
  disableBeforeUnloadHandler: aSwitch,
  disablePrecalltest: aSwitch,
  collectLegacyStats: aSwitch,
  collectIP: aSwitch,
  applicationVersion: aText(30, "characters"),
  siteID: aText(256),
  backendUrl: aText(4096),
  additionalIDs: anObject(
    "additionalIDs.",
    Object.fromEntries(additionalIDs.split(" ").map((key) => [key, aText(256)]))
  )
});
function readConfig(params) {
  return {
    collectLegacyStats: true,
    collectIP: true,
    ...readOptions("configParams", params ?? {})
  };
}

// src/enums.ts
function enumeration(list2) {
  return Object.fromEntries(list2.split(" ").map((name) => [name, name]));
}
var enums = {
  /** What media a PeerConnection carries. */
  fabricUsage: enumeration("multiplex audio video screen data unbundled"),
  /** The events of sendFabricEvent. The library itself makes fabricSetup and fabricSetupFailed. */
  fabricEvent: enumeration(
    "fabricHold fabricResume audioMute audioUnmute videoPause videoResume fabricTerminated screenShareStart screenShareStop dominantSpeaker activeDeviceList fabricUsageEvent applicationErrorLog callDetails callUnAnswered fabricSetup fabricSetupFailed"
  ),
  /** The functions that reportError knows. applicationError is an alias of applicationLog. */
  webRTCFunctions: enumeration(
    "getUserMedia createOffer createAnswer setLocalDescription setRemoteDescription addIceCandidate iceConnectionFailure signalingError applicationLog applicationError"
  ),
  /** Which user ID changed. */
  userIDType: enumeration("local remote"),
  /** What stands at the other end of a fabric. */
  endpointType: enumeration("peer server"),
  /** The direction of media on a fabric. */
  transmissionDirection: enumeration("sendonly receiveonly sendrecv inactive"),
  /** The outcome of an operation. */
  qosAPIReturnStatus: enumeration("success failure"),
  /** What callbacks hear; those behind success are of the former library and never heard. */
  csError: {
    ...enumeration(
      "httpError authError wsChannelFailure csProtoError appConnectivityError tokenGenerationError success authOngoing"
    ),
    ok: "OK",
    invalidWebRTCFunctionName: "Invalid WebRTC function name",
    invalidEndPointType: "Invalid EndPoint Type",
    invalidTransmissionDirection: "Invalid fabric transmission direction"
  },
  /** The scores of a feedback. */
  qualityRating: { excellent: 5, good: 4, fair: 3, poor: 2, bad: 1 },
  /** The direction of a contact centre's call. */
  callType: enumeration("inbound outbound monitoring unknown"),
  /** Who is at this end of a contact centre's call. */
  roles: enumeration("agent participant manager")
};
var callbackEvents = enumeration(
  "preCallTestResults defaultConfig recommendedConfig connectionRecommendation error stats"
);

// src/scram.ts
var hash = "SHA-256";
function clientFirstBare(appID, nonce) {
  return `n=${appID.replace(/=/g, "=3D").replace(/,/g, "=2C")},r=${nonce}`;
}
function makeNonce() {
  return toBase64(crypto.getRandomValues(new Uint8Array(18)));
}
async function prove(secret, firstBare, serverFirst) {
  const [, nonce = "", salt = "", count2] = /^r=([^,]+),s=([^,]+),i=(\d+)/.exec(serverFirst) ?? [];
  const ownNonce = firstBare.slice(firstBare.lastIndexOf(",r=") + 3);
  if (!nonce.startsWith(ownNonce) || nonce === ownNonce) throw new Error("not our nonce");
  const iterations = Number(count2);
  if (iterations < 4096 || iterations > 6e5)
    throw new Error(`iteration count ${iterations} is outside 4096 to 600000`);
  const salted = await pbkdf2(secret.normalize("NFKC"), fromBase64(salt), iterations);
  const clientKey = await hmac(salted, "Client Key");
  const storedKey = new Uint8Array(await crypto.subtle.digest(hash, clientKey));
  const withoutProof = `c=biws,r=${nonce}`;
  const message = `${firstBare},${serverFirst},${withoutProof}`;
  const signature = await hmac(storedKey, message);
  const proof = clientKey.map((byte, i) => byte ^ signature[i]);
  const serverSignature = await hmac(await hmac(salted, "Server Key"), message);
  return { final: `${withoutProof},p=${toBase64(proof)}`, expected: `v=${toBase64(serverSignature)}` };
}
var importKey = (key, algorithm, usage) => crypto.subtle.importKey("raw", key, algorithm, false, [usage]);
async function pbkdf2(password, salt, iterations) {
  const key = await importKey(encoder.encode(password), "PBKDF2", "deriveBits");
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations }, key, 256));
}
async function hmac(keyBytes, message) {
  const key = await importKey(keyBytes, { name: "HMAC", hash }, "sign");
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(message)));
}
function toBase64(bytes) {
  return btoa(String.fromCharCode(...bytes));
}
function fromBase64(text2) {
  return Uint8Array.from(atob(text2), (char) => char.charCodeAt(0));
}

// src/auth.ts
var Refusal = class extends Error {
  constructor(csError2, message, mayRetry = false, waitMs = 0, reasonCode = "") {
    super(message);
    this.csError = csError2;
    this.mayRetry = mayRetry;
    this.waitMs = waitMs;
    this.reasonCode = reasonCode;
  }
};
var generatorLimitMs = 1e4;
var answerLimitMs = 2e4;
function login(env, who, renew) {
  const { appSecret: secret } = who;
  return typeof secret === "function" ? jwtLogin(env, who, secret, renew) : scramLogin(env, who, secret);
}
async function scramLogin(env, { appID, userID }, secret) {
  if (!globalThis.crypto?.subtle) {
    throw new Refusal("authError", "no WebCrypto: an AppSecret needs https or localhost");
  }
  const bare = clientFirstBare(appID, makeNonce());
  const first = await exchange(env, { type: "scram-first", appID, userID, scram: `n,,${bare}` });
  const { final, expected } = await prove(secret, bare, String(first.scram)).catch((error) => {
    throw new Refusal("authError", text(error));
  });
  const last = await exchange(env, { type: "scram-final", state: first.state, scram: final });
  if (last.scram !== expected) {
    throw new Refusal("authError", "the server does not know the AppSecret", false, 0, "auth_failed");
  }
  return toToken(last);
}
async function jwtLogin(env, who, generator, renew) {
  const jwt = await generate(env, generator, renew);
  try {
    return toToken(await exchange(env, { type: "jwt", appID: who.appID, userID: who.userID, jwt }));
  } catch (error) {
    if (renew || error.reasonCode !== "auth_failed") throw error;
    return jwtLogin(env, who, generator, true);
  }
}
function generate(env, generator, forceNew) {
  return new Promise((resolve, reject) => {
    const fail2 = (reason) => new Refusal("tokenGenerationError", reason);
    const timer = setTimeout(() => env.late(fail2("the token generator gave no answer within 10 s")), generatorLimitMs);
    const answer2 = (error, token) => {
      clearTimeout(timer);
      if (error) reject(fail2(text(error)));
      else if (typeof token !== "string" || !token) reject(fail2("the token generator gave no token"));
      else resolve(token);
    };
    const ask2 = async () => {
      const made = generator(forceNew, answer2);
      const token = await (typeof made === "function" ? made(forceNew, answer2) : made);
      if (typeof token === "string") answer2(null, token);
    };
    ask2().catch((error) => answer2(error || "it threw"));
  });
}
function toToken({ token, session, expiresInMs }) {
  if (typeof token !== "string" || typeof session !== "string") throw new Refusal("httpError", "no token came", true);
  return { token, session, expiresInMs: Number(expiresInMs) || 72e5 };
}
async function exchange({ url, clock }, message) {
  const sent = clock.mono();
  const [answer2 = {}] = await post(url, json(message));
  clock.sample(sent, clock.mono(), Number(answer2.at));
  return answer2;
}
async function post(url, body, keepalive = false) {
  const limit = new AbortController();
  let reason = `no answer within ${answerLimitMs / 1e3} s`;
  const answered = await inTime(answerLimitMs, async () => {
    try {
      const response = await fetch(url, { method: "POST", credentials: "omit", body, keepalive, signal: limit.signal });
      return [response.status, await response.text()];
    } catch (error) {
      reason = text(error);
      return null;
    }
  });
  if (!answered) {
    if (!keepalive) limit.abort();
    throw new Refusal("httpError", reason, true);
  }
  const [status, answer2] = answered;
  const messages = answer2.split("\n").map(parseLine).filter(isObject);
  if (status !== 200 || !messages.length) throw refused(messages[0] ?? {}, status);
  return messages;
}
function parseLine(line) {
  const value = attempt(() => JSON.parse(String(line)), null);
  return isObject(value) ? value : null;
}
function refused({ code, csError: csError2, message, retry, retryAfterMs }, status = 0) {
  return new Refusal(
    csError2 ?? (status ? "httpError" : "wsChannelFailure"),
    String(
      message ?? (status ? `HTTP status ${status}${status === 404 ? ": set configParams.backendUrl?" : ""}` : code)
    ),
    retry === true || code === "hello_expected" || // older collectors mean it for good
    status === 429 || status >= 500 || // Without a code it was not the collector that answered.
    status > 0 && (!code || code === "token_expired"),
    Number(retryAfterMs) || 0,
    String(code ?? "")
  );
}

// src/brand.ts
function isGenuine(value) {
  return attempt(() => {
    for (let proto = value; proto; proto = Object.getPrototypeOf(proto)) {
      const getter = Object.getOwnPropertyDescriptor(proto, "signalingState")?.get;
      if (getter && /\[native code]/.test(Function.prototype.toString.call(getter))) {
        getter.call(value);
        return attempt(() => !getter.call({}), true);
      }
    }
    return false;
  }, false);
}

// src/clock.ts
var maxPartMs = 1e3;
var keptSamples = 5;
function createClock(clocks) {
  const apart = () => clocks.wall() - clocks.mono();
  let parted = apart();
  let offset = parted;
  let samples = [];
  const shifts = [0];
  const epoch = () => shifts.length - 1;
  const synced = () => {
    const now = apart();
    const step = now - parted;
    if (Math.abs(step) > maxPartMs) {
      parted = now;
      if (step > 0) offset += step;
      samples = [];
      if (epoch() % 2) shifts.push(0);
    }
    return epoch() % 2 === 1;
  };
  return {
    synced,
    mono: clocks.mono,
    stamp() {
      synced();
      return { ms: clocks.mono() + offset, epoch: epoch() };
    },
    time: (stamp) => Math.round(stamp.ms + (shifts[stamp.epoch] ?? 0)),
    sample(sent, received, serverAt) {
      if (!Number.isFinite(serverAt)) return;
      const wasSynced = synced();
      samples.push({ tripMs: received - sent, offset: serverAt - (sent + received) / 2 });
      samples = samples.slice(-keptSamples);
      const best = samples.reduce((a, b) => b.tripMs < a.tripMs ? b : a);
      if (!wasSynced) {
        shifts[epoch()] = best.offset - offset;
        shifts.push(0);
      }
      offset = best.offset;
      parted = apart();
    }
  };
}
var pageClocks = {
  wall: () => Date.now(),
  mono: () => performance.now()
};

// src/sdp.ts
var noSource = { cname: null, msid: null };
function sourceInfo(sdp, ssrc) {
  for (const section of sdp.split(/^m=/m)) {
    const find = (attribute) => new RegExp(`^a=${attribute}:(.*)$`, "m").exec(section)?.[1]?.trim() || null;
    const cname = find(`ssrc:${ssrc} cname`);
    const msid = find(`ssrc:${ssrc} msid`) ?? (cname && find("msid"));
    if (cname || msid) return { cname, msid };
  }
  return noSource;
}
function iceUfrag(sdp) {
  return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1];
}
function sdpText(description) {
  const sdp = attempt(() => description?.sdp) ?? description;
  return typeof sdp === "string" ? sdp : "";
}
function withoutAddresses(sdp) {
  return sdp.replace(/(candidate:(?:\S+ ){4})\S+( \d+ typ (?!relay))/g, "$10.0.0.0$2").replace(/ raddr \S+ rport \d+/g, " raddr 0.0.0.0 rport 0").replace(/^((?:[oc]=|a=rtcp:).*IP[46] )\S+/gm, "$10.0.0.0");
}

// src/stats/normalise.ts
var none = {};
var stalestMs = 15e3;
function num(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
function str(value) {
  return typeof value === "string" && value !== "" ? value : null;
}
function normalise(reports) {
  const byId = /* @__PURE__ */ new Map();
  for (const report of reports) byId.set(report.id, report);
  const byType = /* @__PURE__ */ new Map();
  const ofType = (type) => byType.get(type) ?? [];
  for (const report of byId.values()) {
    const alike = byType.get(report.type) ?? [];
    alike.push(report);
    byType.set(report.type, alike);
  }
  const snapshot = { byKey: /* @__PURE__ */ new Map(), pairs: /* @__PURE__ */ new Map(), byId, takenMs: null };
  for (const statsType of ["inbound-rtp", "outbound-rtp"])
    for (const rtp of ofType(statsType)) {
      const stream2 = streamOf(statsType, rtp, byId, ofType);
      if (stream2) snapshot.byKey.set(stream2.key, stream2);
      snapshot.takenMs ??= num(rtp.timestamp);
    }
  for (const pair of selectedPairs(byId, ofType)) {
    const transport = String(pair.transportId ?? "");
    snapshot.pairs.set(transport, {
      id: String(pair.id),
      transport,
      pair,
      local: byId.get(pair.localCandidateId) ?? none,
      remote: byId.get(pair.remoteCandidateId) ?? none,
      locals: ofType("local-candidate")
    });
  }
  return snapshot;
}
function streamOf(statsType, rtp, byId, ofType) {
  const mediaType = rtp.kind ?? rtp.mediaType;
  const ssrc = num(rtp.ssrc);
  if (ssrc >>> 0 !== ssrc || mediaType !== "audio" && mediaType !== "video") return null;
  const others = ofType(statsType === "inbound-rtp" ? "remote-outbound-rtp" : "remote-inbound-rtp");
  const remote = byId.get(rtp.remoteId) ?? others.find((other) => other.ssrc === ssrc) ?? none;
  return {
    key: `${statsType} ${ssrc}`,
    statsType,
    mediaType,
    ssrc,
    codec: str(byId.get(rtp.codecId)?.mimeType)?.split("/")[1] ?? null,
    rtp,
    // A report is kept when no other comes: of a dead call it would tell what was, for ever.
    remote: Number(rtp.timestamp) - Number(remote.timestamp) > stalestMs ? none : remote,
    source: byId.get(rtp.mediaSourceId) ?? none
  };
}
function selectedPairs(byId, ofType) {
  const selected = ofType("transport").map((transport) => byId.get(transport.selectedCandidatePairId)).filter(Boolean);
  if (selected.length) return selected;
  const pairs = ofType("candidate-pair");
  const pair = pairs.find((p) => p.selected === true) ?? pairs.find((p) => p.nominated === true && p.state === "succeeded");
  return pair ? [pair] : [];
}

// src/stats/measures.ts
var longestBytes = 64;
var table = `ssrc 1234
codec 1234
rid 4 $
bytes 1234 + bytesReceived bytesSent
packets 1234
packetsLost 12
packetsDiscarded 1 +
fecPackets 1 + fecPacketsReceived
jitterMs 12 = jitter
jitterBufferDelayMs 12 / jitterBufferDelay jitterBufferEmittedCount
rttMs 12345
samples 1 + totalSamplesReceived
concealedSamples 1 +
silentConcealedSamples 1 +
concealmentEvents 1 +
audioLevel 13
frames 24 + framesReceived framesSent
framesDecoded 2 +
framesEncoded 4 +
framesDropped 2 +
keyFrames 24 + keyFramesDecoded keyFramesEncoded
width 24 = frameWidth
height 24 = frameHeight
fps 24
harmonicFps 2 / totalInterFrameDelay totalSquaredInterFrameDelay
freezes 2 + freezeCount
freezeMs 2 + totalFreezesDuration
freezes60s 2
pauses 2 + pauseCount
pauseMs 2 + totalPausesDuration
decodeMs 2 + totalDecodeTime
encodeMs 4 + totalEncodeTime
qp 24 / qpSum framesDecoded framesEncoded
plis 24 + pliCount
firs 24 + firCount
nacks 234 + nackCount
retransmittedPackets 234 + retransmittedPacketsReceived retransmittedPacketsSent
retransmittedBytes 4 + retransmittedBytesSent
targetBitrateBps 34
remotePacketsLost 34
remoteLossFraction 34
remoteJitterMs 34
limitation 4 $ qualityLimitationReason
cpuLimitedMs 4
bandwidthLimitedMs 4
displayedPixels 24
bytesSent 5 +
bytesReceived 5 +
availableOutgoingBps 5 = availableOutgoingBitrate`.split("\n").map((line) => {
  const [name = "", inSets = "", how = "", first = name, second = "", third = ""] = line.split(" ");
  const factor = /Ms$/.test(name) ? 1e3 : 1;
  return { column: name, inSets, how, first, second, third, factor, range: rangeOf(name) };
});
var alwaysCounted = "packetsReceived packetsSent roundTripTimeMeasurements responsesReceived retransmittedPacketsReceived retransmittedPacketsSent packetsLost totalRoundTripTime bytesSent timestamp remoteTimestamp cpu bandwidth".split(
  " "
);
var restarts = alwaysCounted.slice(0, 4);
var sets = [
  "",
  "inbound-rtp audio",
  "inbound-rtp video",
  "outbound-rtp audio",
  "outbound-rtp video",
  "candidate-pair"
].map((kind, set) => {
  const [statsType, mediaType] = kind.split(" ");
  const columns = table.filter(({ inSets }) => inSets.includes(String(set)));
  const names2 = columns.map(({ column }) => column);
  const counted = columns.filter(({ how }) => /[+/]/.test(how)).flatMap(({ first, second, third }) => [first, second, third]);
  const blank = blankOf(names2);
  const counters = blankOf([...alwaysCounted, ...counted]);
  return {
    columns,
    names: names2,
    blank,
    counters,
    line: json({ type: "columns", set, statsType, mediaType, names: names2 })
  };
});
function blankOf(names2) {
  return JSON.parse(`{"${names2.join('":null,"')}":null}`);
}
var setNumbered = (set) => sets[set];
var pairSet = 5;
function streamSet(statsType, mediaType) {
  return (statsType === "inbound-rtp" ? 1 : 3) + Number(mediaType === "video");
}
var columnsLine = (set) => setNumbered(set).line;
function row(set, measures) {
  return [set, ...setNumbered(set).names.map((name) => measures[name] ?? null)];
}
var known = (value) => num(value) ?? NaN;
var countersOf = (set) => setNumbered(set).counters;
function count(last, report, blank) {
  const by = { ...blank };
  const anew = restarts.some((name) => known(report[name]) < known(last[name]));
  for (const name in blank) {
    const now = num(report[name]);
    if (anew) last[name] = null;
    if (now === null) continue;
    const then = last[name] ?? 0;
    by[name] = now < then && name !== "packetsLost" ? now : now - then;
    last[name] = now;
  }
  return by;
}
function measure(set, by, report, own) {
  const { blank, columns } = setNumbered(set);
  const measures = { ...blank };
  for (const { column: name, how, first, second, third, factor, range } of columns) {
    let value = own[name];
    if (how === "+") value = factor * known(by[first] ?? by[second]);
    else if (how === "/") value = factor * known(by[first]) / known(by[second] ?? by[third]);
    else if (how === "=") value = factor * known(report[first]);
    else if (how === "$") value = str(report[first]);
    measures[name] = bounded(range, value);
  }
  return measures;
}
function bounded(range, value) {
  if (typeof value === "string") return value.length * 3 > longestBytes ? cutBytes(value, longestBytes) : value;
  const number = num(value);
  if (number === null) return null;
  return Math.min(range[2], Math.max(range[1], Math.round(number * range[0]) / range[0]));
}
function rangeOf(name) {
  if (/Ms$/.test(name)) return [10, 0, 36e5];
  if (/qp$/.test(name)) return [10, 0, 255];
  if (/[fF]ps$/.test(name)) return [100, 0, 1e3];
  if (/Level$|Fraction$/.test(name)) return [1e4, 0, 1];
  const most = /width|height/.test(name) ? 65535 : 2 ** 53 - 1;
  return [1, /Lost$/.test(name) ? -most : 0, most];
}

// src/lifecycle.ts
var names = ["signalingState", "connectionState", "iceConnectionState", "iceGatheringState"];
var statesOf = (pc) => names.map((name) => pc[name]);
var isUp = (ice) => ice === "connected" || ice === "completed";
function isConnected(pc) {
  return attempt(() => {
    const { connectionState, iceConnectionState = "" } = pc;
    return connectionState === void 0 ? isUp(iceConnectionState) : connectionState === "connected";
  }, false);
}
function isClosed(pc) {
  return attempt(() => statesOf(pc).includes("closed"), false);
}
function watchLifecycle(target, mono, events) {
  const pc = target;
  const started = mono();
  let alreadyConnected = isConnected(pc);
  let remoteSet = false;
  let established = false;
  let failed = false;
  let gatheringAt;
  let gatheredAt;
  let checkingAt;
  let disruptedAt;
  let lastUfrag;
  let settled = "";
  let looked = "";
  const since = (start, end = mono()) => num(Math.round(end - known(start)));
  const ice = () => pc.iceConnectionState ?? pc.connectionState ?? "";
  const hasFailed = () => [ice(), pc.connectionState].includes("failed");
  function reached() {
    if (!pc.remoteDescription) return "noRemoteDescription";
    if (isUp(ice())) return "dtls";
    return ice() === "new" && checkingAt === void 0 ? "gathering" : "connectivity";
  }
  const stage = () => established || failed ? null : attempt(reached, "connectivity");
  function negotiation() {
    if (!remoteSet && pc.remoteDescription) {
      remoteSet = true;
      events.emit("remoteDescriptionSet");
    }
    const sdp = pc.signalingState === "stable" ? sdpText(pc.localDescription) : "";
    if (!sdp || sdp === settled) return;
    settled = sdp;
    const ufrag = iceUfrag(sdp);
    if (lastUfrag && ufrag && ufrag !== lastUfrag) events.emit("iceRestart");
    lastUfrag = ufrag ?? lastUfrag;
    events.negotiated();
  }
  function connection() {
    gathering();
    if (established) disruption();
    else if (isConnected(pc)) {
      established = true;
      events.connected(setupTimes());
    } else if (hasFailed() && !failed) {
      const failedStage = reached();
      failed = true;
      events.setupFailed(failedStage);
    }
    alreadyConnected = false;
  }
  function gathering() {
    const now = mono();
    const state = pc.iceGatheringState ?? "new";
    if (state !== "new") gatheringAt ??= now;
    if (state === "complete") gatheredAt ??= now;
    if (ice() === "checking") checkingAt ??= now;
  }
  function setupTimes() {
    const [begun, gathering2, checking] = alreadyConnected ? [] : [started, gatheringAt, checkingAt];
    return {
      setupMs: since(begun),
      // What was still being gathered when the path stood did not delay it.
      gatheringMs: since(gathering2, gatheredAt),
      connectivityMs: since(checking)
    };
  }
  function disruption() {
    const broken = hasFailed() ? "failed" : ice() === "disconnected" && "disconnected";
    if (broken && disruptedAt === void 0) {
      disruptedAt = mono();
      events.disrupted(broken);
    } else if (disruptedAt !== void 0 && !broken && isConnected(pc)) {
      events.emit("iceDisruptionEnd", { durationMs: since(disruptedAt) });
      disruptedAt = void 0;
    }
  }
  const update = () => attempt(() => {
    if (isClosed(pc)) events.closed();
    else {
      negotiation();
      connection();
    }
  });
  function look() {
    const states = attempt(() => statesOf(pc).join(), "");
    if (established && states === looked) return;
    looked = states;
    update();
  }
  for (const name of names) attempt(() => pc.addEventListener?.(`${name}change`.toLowerCase(), update));
  return {
    update,
    look,
    stage,
    /** Removes the listeners. */
    stop() {
      for (const name of names) attempt(() => pc.removeEventListener?.(`${name}change`.toLowerCase(), update));
    },
    phase: () => established ? disruptedAt === void 0 ? "established" : "disrupted" : "initialising",
    /** Since the fabric was added. */
    ageMs: () => since(started)
  };
}

// src/stats/interval.ts
function round(value, decimals) {
  const factor = 10 ** decimals;
  return num(Math.round(known(value) * factor) / factor);
}
function measureStream(counts, stream2, ms, pairRttMs) {
  const { rtp, remote, source, ssrc, codec, statsType, mediaType } = stream2;
  const set = streamSet(statsType, mediaType);
  counts.own ??= { ...countersOf(set) };
  counts.far ??= { ...countersOf(0) };
  const by = count(counts.own, rtp, countersOf(set));
  const limited = count(counts.own, rtp.qualityLimitationDurations ?? {}, countersOf(0));
  const saidMs = known(remote.timestamp) - known(counts.far.timestamp);
  const sentMs = num(remote.remoteTimestamp) === null ? ms : known(remote.remoteTimestamp) - known(counts.far.remoteTimestamp);
  const other = count(counts.far, remote, countersOf(0));
  const sent = known(by.packetsReceived ?? by.packetsSent);
  const measures = measure(set, by, rtp, {
    ssrc,
    codec,
    // For the first time: browsers count retransmissions among the packets (Chromium those of
    // the RTX stream), which would make a loss look smaller the harder it is fought.
    packets: sent - (by.retransmittedPacketsReceived ?? by.retransmittedPacketsSent ?? 0),
    packetsLost: by.packetsLost,
    audioLevel: num(rtp.audioLevel) ?? source.audioLevel,
    fps: known(by.framesSent ?? by.framesDecoded ?? by.framesEncoded) * 1e3 / ms,
    rttMs: rttOf(other, remote.roundTripTime) ?? pairRttMs,
    remotePacketsLost: other.packetsLost,
    remoteJitterMs: 1e3 * known(remote.jitter),
    // The receiver reports every few seconds: what it lost between two of its reports is held
    // against what was sent in that time.
    remoteLossFraction: num(saidMs > 0 ? known(other.packetsLost) * ms / (sent * saidMs) : null) ?? remote.fractionLost,
    cpuLimitedMs: 1e3 * known(limited.cpu),
    bandwidthLimitedMs: 1e3 * known(limited.bandwidth),
    // Of an encoding that was switched off Chromium goes on to say what it was meant to have.
    targetBitrateBps: rtp.active === false ? 0 : rtp.targetBitrate
  });
  const reported = (bytes) => sentMs > 0 ? num(bytes) : null;
  const sender = {
    bytes: reported(other.bytesSent),
    packets: reported(other.packetsSent),
    ms: num(sentMs) ?? 0
  };
  return { measures, sender };
}
function perSecond(count2, ms) {
  return round(known(count2) * 1e3 / ms, 2);
}
function rttOf(by, last) {
  const measurements = by.roundTripTimeMeasurements ?? by.responsesReceived;
  return num(1e3 * (num(known(by.totalRoundTripTime) / known(measurements)) ?? known(last)));
}
function measurePair(before, { pair }) {
  const names2 = countersOf(pairSet);
  const by = count(count({ ...names2 }, before ?? {}, names2), pair, names2);
  return measure(pairSet, by, pair, { rttMs: rttOf(by, pair.currentRoundTripTime) });
}

// src/stats/monitor.ts
var freezeWindowMs = 6e4;
var maxRows = 200;
var sameIntervalMs = 100;
var tooShortMs = 500;
var latestMs = 5e3;
var forgottenMs = 3e4;
function createMonitor(startMs) {
  const streams = /* @__PURE__ */ new Map();
  let pairs = /* @__PURE__ */ new Map();
  let base = /* @__PURE__ */ new Map();
  let lastMs = startMs;
  let aheadMs = Infinity;
  function takenAt({ takenMs }, atMs) {
    if (takenMs === null) return atMs;
    aheadMs = Math.min(aheadMs, atMs - takenMs);
    if (atMs - takenMs - aheadMs > latestMs) aheadMs = atMs - takenMs;
    return takenMs + aheadMs;
  }
  function adoptNew(snapshot, atMs) {
    const added = [...snapshot.byKey.values()].filter(({ key }) => !streams.has(key));
    for (const stream2 of added) {
      const counts = {};
      measureStream(counts, stream2, 1, null);
      streams.set(stream2.key, { ssrc: stream2.ssrc, counts, atMs, frozen: [], jitters: mean(), rtts: mean() });
    }
    return added;
  }
  const changed = (snapshot) => [...snapshot.pairs.values()].filter(({ id, transport }) => (pairs.get(transport)?.id ?? id) !== id);
  return {
    /** An interval begins. */
    begin(atMs) {
      lastMs = atMs;
    },
    /** The selected pair of the last reading. */
    pair: () => pairs.values().next().value,
    /** Whether that SSRC is in the last readings. */
    hasStream: (ssrc) => [...streams.values()].some((known2) => known2.ssrc === ssrc),
    /** A reading between intervals: only what is new becomes a starting point. */
    adopt(reports, atMs) {
      const snapshot = normalise(reports);
      const changedPairs = changed(snapshot);
      const taken = [...snapshot.pairs].filter(([transport, pair]) => pairs.get(transport)?.id !== pair.id);
      for (const [transport, pair] of taken) {
        if (!pairs.has(transport)) base = new Map([...snapshot.byId, ...base]);
        pairs.set(transport, pair);
      }
      return { added: adoptNew(snapshot, takenAt(snapshot, atMs)), changedPairs };
    },
    /** The end of an interval. */
    measure(reports, atMs, areaOf) {
      const snapshot = normalise(reports);
      const takenMs = takenAt(snapshot, atMs);
      const frameMs = span(lastMs, atMs);
      const groups = [{ intervalMs: frameMs, sets: [], rows: [] }];
      const intervals = [];
      let pairRttMs = null;
      for (const pair of snapshot.pairs.values()) {
        const measures = measurePair(base.get(pair.id), pair);
        pairRttMs ??= num(measures.rttMs);
        addRow(groups, frameMs, pairSet, measures);
      }
      for (const [key, known2] of streams) {
        const stream2 = snapshot.byKey.get(key);
        const ms = takenMs - known2.atMs;
        if (!stream2 && ms > forgottenMs) streams.delete(key);
        if (!stream2 || ms < tooShortMs) continue;
        const interval = advance(known2, stream2, takenMs, pairRttMs, areaOf);
        if (isIdle(known2)) continue;
        intervals.push(interval);
        addRow(groups, interval.ms, streamSet(stream2.statsType, stream2.mediaType), interval.measures);
      }
      lastMs = atMs;
      const changedPairs = changed(snapshot);
      if (snapshot.pairs.size) {
        pairs = snapshot.pairs;
        base = snapshot.byId;
      }
      return { intervals, groups, added: adoptNew(snapshot, takenMs), changedPairs };
    }
  };
}
function advance(known2, stream2, atMs, pairRttMs, areaOf) {
  const ms = span(known2.atMs, atMs);
  const { measures, sender } = measureStream(known2.counts, stream2, ms, pairRttMs);
  if (stream2.mediaType === "video") {
    measures.displayedPixels = bounded(rangeOf("displayedPixels"), areaOf(stream2.ssrc));
    measures.freezes60s = recentFreezes(known2, num(measures.freezes), atMs);
  }
  known2.atMs = atMs;
  return {
    stream: stream2,
    ms,
    measures,
    sender,
    meanJitterMs: known2.jitters(num(measures.jitterMs) ?? num(measures.remoteJitterMs)),
    meanRttMs: known2.rtts(num(measures.rttMs))
  };
}
function recentFreezes(known2, count2, atMs) {
  if (count2 === null) return null;
  known2.frozen = [...known2.frozen, { atMs, grown: count2 }].filter((f) => f.grown && atMs - f.atMs < freezeWindowMs);
  return known2.frozen.reduce((sum, f) => sum + f.grown, 0);
}
function mean() {
  let sum = 0;
  let count2 = 0;
  return (value) => {
    if (value !== null) {
      sum += value;
      count2++;
    }
    return count2 ? sum / count2 : null;
  };
}
function span(fromMs, toMs) {
  return Math.min(6e5, Math.max(1, Math.round(toMs - fromMs)));
}
function isIdle({ counts: { own } }) {
  return !(own?.packetsReceived ?? own?.packetsSent);
}
function addRow(groups, ms, set, measures) {
  let group = groups.find((g) => Math.abs(g.intervalMs - ms) <= sameIntervalMs && g.rows.length < maxRows);
  if (!group) {
    group = { intervalMs: ms, sets: [], rows: [] };
    groups.push(group);
  }
  if (!group.sets.includes(set)) group.sets.push(set);
  group.rows.push(row(set, measures));
}

// src/stats/legacy.ts
function fromLegacy(response) {
  const reports = response.result();
  return reports.flatMap((report) => {
    const { id, type } = report;
    const said = Object.fromEntries(report.names().map((name) => [name, report.stat(name)]));
    if (type === "ssrc") return stream(id, said, numbers(said));
    if (type !== "googCandidatePair" || said.googActiveConnection !== "true") return [];
    const pair = numbers(said);
    return [{ ...pair, id, type: "candidate-pair", selected: true, currentRoundTripTime: inSeconds(pair.googRtt) }];
  });
}
var numbers = (said) => Object.fromEntries(Object.entries(said).map(([name, text2]) => [name, text2 ? Number(text2) : void 0]));
var inSeconds = (ms) => known(ms) / 1e3;
var fullLevel = 32767;
function stream(id, said, v) {
  const inbound = said.packetsReceived !== void 0;
  const kind = said.mediaType ?? (said.audioInputLevel ?? said.audioOutputLevel ? "audio" : "video");
  const codecId = `${id} codec`;
  const rtp = {
    ...v,
    id,
    kind,
    codecId,
    type: inbound ? "inbound-rtp" : "outbound-rtp",
    trackIdentifier: said.googTrackId,
    jitter: inSeconds(v.googJitterReceived),
    audioLevel: known(inbound ? v.audioOutputLevel : v.audioInputLevel) / fullLevel,
    frameWidth: v.googFrameWidthReceived ?? v.googFrameWidthSent,
    frameHeight: v.googFrameHeightReceived ?? v.googFrameHeightSent
  };
  const remote = { ...rtp, id: `${id} remote`, type: "remote-inbound-rtp", roundTripTime: inSeconds(v.googRtt) };
  const own = [{ id: codecId, type: "codec", mimeType: `${kind}/${said.googCodecName}` }, rtp];
  return inbound ? own : [...own, remote];
}

// src/stats/read.ts
var wholeEvery = 12;
function createReader(pc) {
  let kept = /* @__PURE__ */ new Map();
  let changing = [];
  let size = 0;
  let readings = 0;
  function whole(answer2) {
    const reports = list(answer2);
    const pairs = reports.map((report) => report.selectedCandidatePairId).filter(Boolean);
    const changes = ({ id, type, kind }) => /bound-rtp|^transport|^media-source audio/.test(`${type} ${kind}`) || (pairs.length ? pairs.includes(id) : type === "candidate-pair");
    kept = new Map(reports.map((report) => [report.id, report]));
    changing = reports.filter(changes).map(({ id }) => id);
    size = answer2.size ?? NaN;
    return reports;
  }
  function changed(answer2) {
    if (answer2.size !== size) return void 0;
    for (const id of changing) {
      const report = answer2.get?.(id);
      if (typeof report !== "object" || !report) return void 0;
      if (report.type === "transport" && !changing.includes(report.selectedCandidatePairId)) return void 0;
      kept.set(id, report);
    }
    return [...kept.values()];
  }
  const read = (answer2, all) => (all || ++readings % wholeEvery === 0 ? void 0 : attempt(() => changed(answer2))) ?? whole(answer2);
  return (legacy, all = false) => ask(pc, legacy, (answer2) => read(answer2, all)).catch(() => null);
}
async function ask(pc, legacy, read) {
  const promise = attempt(() => pc.getStats());
  if (typeof promise?.then === "function") return read(await promise);
  if (!legacy) return null;
  const response = await new Promise((resolve, reject) => {
    Promise.resolve(pc.getStats(resolve)).catch(reject);
  });
  return fromLegacy(response);
}
function list(reports) {
  const all = [];
  const each = reports.forEach;
  if (typeof each === "function") each.call(reports, (report) => all.push(report));
  else if (isObject(reports)) all.push(...Object.values(reports));
  return all.filter(isObject);
}

// src/stats/quality.ts
var equipment = 18;
var robustness = 10;
var packetAndCodecMs = 26.5;
var defaultBounds = [4.2, 3.8, 3.2, 2.6];
function label(mediaType, m, ms, bounds) {
  const mos = mediaType === "audio" ? audioMos(m) : videoMos(m, ms);
  if (mos === null) return null;
  if (mos >= (bounds[1] ?? 3.8)) return "excellent";
  return mos >= (bounds[3] ?? 2.6) ? "fair" : "bad";
}
function lossOf(m) {
  const remote = num(m.remoteLossFraction);
  if (remote !== null) return remote;
  const lost = known(m.packetsLost);
  const expected = lost + (num(m.packets) ?? 0);
  return expected > 0 ? Math.min(1, Math.max(0, lost / expected)) : null;
}
function audioMos(m) {
  const loss = lossOf(m);
  if (loss === null || m.packets === 0 && num(m.remoteLossFraction) !== null) return null;
  const audible = ((num(m.concealedSamples) ?? 0) - (num(m.silentConcealedSamples) ?? 0)) / (num(m.samples) || 1);
  const lossPercent = 100 * Math.min(1, Math.max(loss, audible));
  const delayMs = (num(m.rttMs) ?? 0) / 2 + (num(m.jitterBufferDelayMs) ?? 0) + packetAndCodecMs;
  const impairment = equipment + (132 - equipment) * lossPercent / (lossPercent + robustness);
  const r = Math.min(100, Math.max(0, (148 - 1.48 * delayImpairment(delayMs) - impairment) / 1.48));
  return Math.max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6);
}
function delayImpairment(delayMs) {
  if (delayMs <= 100) return 0;
  const x = Math.log2(delayMs / 100);
  return 25 * ((1 + x ** 6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2);
}
function videoMos(m, ms) {
  if (!num(m.packets)) return null;
  const fps = num(m.harmonicFps) ?? num(m.fps);
  if (fps === 0) return 1;
  const frozen = Math.min(1, (num(m.freezeMs) ?? 0) / ms);
  const freezes = Math.exp(-0.1 * (num(m.freezes60s) ?? 0) - 2 * frozen);
  const motion = fps === null ? 1 : Math.max(0, 1 - 0.3 * Math.max(0, Math.log(24 / fps)));
  const lost = Math.exp(-10 * (num(m.remoteLossFraction) ?? 0));
  return 1 + 3.4 * freezes * motion * lost;
}

// src/stats/view.ts
function view(intervals, identityOf2, bounds) {
  const made = { mediaStreamTracks: [], streams: {} };
  for (const interval of intervals) {
    const reports = reportsOf(interval, identityOf2(interval), bounds);
    made.mediaStreamTracks.push(...reports);
    const [{ ssrc, rtt, fractionLoss, bitrate, quality }] = reports;
    const { statsType: reportType } = interval.stream;
    made.streams[ssrc] = reportType === "outbound-rtp" ? { reportType, rtt, bitrate, quality } : { reportType, fractionLoss, bitrate, quality };
  }
  return made;
}
function reportsOf({ stream: stream2, ms, measures, sender, meanJitterMs, meanRttMs }, identity, bounds) {
  const { ssrc, mediaType } = stream2;
  const inbound = stream2.statsType === "inbound-rtp";
  const rtt = num(measures.rttMs);
  const averageRTT = round(meanRttMs, 1);
  const quality = label(mediaType, measures, ms, bounds);
  const level = num(measures.audioLevel);
  const report = (statsType, loss2, overMs, bytes2, packets2, jitterMs2, meanMs, own2 = false) => (
    // Browsers are ten times slower where members follow an object that is spread.
    Object.assign(
      {
        statsType,
        ssrc,
        mediaType,
        fractionLoss: round(loss2, 4),
        packetLossPercentage: round(100 * known(loss2), 2),
        bitrate: perSecond(num(bytes2), 125 * overMs),
        // kbit/s: 8 bits, 1000 of them
        packetRate: perSecond(num(packets2), overMs),
        jitter: num(jitterMs2),
        averageJitter: round(meanMs, 1),
        rtt,
        averageRTT,
        quality,
        audioInputLevel: own2 && !inbound ? level : null,
        audioOutputLevel: own2 && inbound ? level : null
      },
      identity
    )
  );
  const { bytes, packets, jitterMs, remoteLossFraction, remoteJitterMs } = measures;
  const loss = inbound ? lossOf(measures) : null;
  const own = report(stream2.statsType, loss, ms, bytes, packets, jitterMs, inbound ? meanJitterMs : null, true);
  if (stream2.remote.type === void 0) return [own];
  return [
    own,
    inbound ? report("remote-outbound-rtp", null, sender.ms, sender.bytes, sender.packets, null, null) : report("remote-inbound-rtp", num(remoteLossFraction), ms, null, null, remoteJitterMs, meanJitterMs)
  ];
}

// src/wifi.ts
var limitMs = 5e3;
var maxAddresses = 16;
function readWifi(handler, withAddresses) {
  return inTime(limitMs, async () => parse2(await handler(), withAddresses));
}
function parse2(answer2, withAddresses) {
  const stats = typeof answer2 === "string" ? JSON.parse(answer2) : answer2;
  if (!isObject(stats)) return null;
  const { signal, rssi, timestamp, noise, addresses } = stats;
  if ([signal, rssi, timestamp].some((value) => num(value) === null)) return null;
  const kept = texts([addresses].flat());
  return {
    signal,
    rssi,
    timestamp,
    interface: texts([stats.interface])[0],
    noise: num(noise) ?? void 0,
    addresses: withAddresses && kept.length ? kept : void 0
  };
}
function texts(list2) {
  return list2.filter(str).slice(0, maxAddresses).map((value) => value.slice(0, 64));
}

// src/fabric.ts
var settleMs = 1e3;
var lastReadingMs = 1e3;
function createFabric(pc, info, env, pcCallback) {
  const { fabric, conferenceID } = info;
  const { clock } = env;
  const { mono } = clock;
  const associations = /* @__PURE__ */ new Map();
  const sources = /* @__PURE__ */ new Map();
  let { remoteUserID } = info;
  let owed = false;
  let tellSetup;
  let ending;
  let done = false;
  const monitor = createMonitor(mono());
  const reader = createReader(pc);
  function event(name, data = {}, stamp = clock.stamp(), reported2) {
    env.enqueue({ type: "event", stamp, fabric, keep: true, members: { fabric, event: name, data }, done: reported2 });
  }
  const read = (whole = false) => reader(env.config().collectLegacyStats, whole);
  async function measure2() {
    life.look();
    if (ending) return;
    if (owed) take(null);
    owed = true;
    const reports = await read();
    owed = false;
    if (!ending) take(reports);
  }
  function take(reports) {
    const from = (list2) => monitor.measure(list2, mono(), areaOf);
    record(attempt(() => from(reports ?? []), null) ?? from([]), clock.stamp());
    tellSetup?.();
  }
  async function probe() {
    if (ending) return;
    const reports = await read(true);
    if (!reports || done) return;
    const between = attempt(() => monitor.adopt(reports, mono()), null);
    if (between) announce(between);
  }
  function announce({ added, changedPairs }, stamp) {
    for (const stream2 of added) streamAdded(stream2, stamp);
    for (const pair of changedPairs) event("selectedCandidatePairChange", candidates(pair), stamp);
  }
  function record(measured, stamp) {
    announce(measured, stamp);
    for (const { intervalMs, rows, sets: sets2 } of measured.groups) {
      if (!rows.length && measured.groups.length > 1) continue;
      env.enqueue({ type: "stats", stamp, fabric, sets: sets2, members: { fabric, intervalMs, rows } });
    }
    deliver(measured.intervals);
  }
  function deliver(intervals) {
    if (!env.listening()) return;
    env.deliver({
      connectionState: env.online() ? "online" : "offline",
      fabricState: done ? "terminated" : life.phase(),
      conferenceURL: env.urlOf(info),
      conferenceID,
      ...view(intervals, identityOf2, env.labelBounds())
    });
  }
  function identityOf2({ stream: stream2 }) {
    const own = associations.get(stream2.ssrc);
    const inbound = stream2.statsType === "inbound-rtp";
    const { cname, msid } = sources.get(stream2.key) ?? noSource;
    return {
      remoteUserID: inbound && own?.userID || remoteUserID,
      userID: own?.userID ?? (inbound ? remoteUserID : env.localUser(conferenceID)),
      cname,
      msid,
      usageLabel: own?.usageLabel ?? null,
      associatedVideoTag: own?.associatedVideoTag ?? null
    };
  }
  function candidates({ local, remote, locals } = monitor.pair() ?? {}) {
    const { collectIP } = env.config();
    return {
      localCandidateType: str(local?.candidateType),
      remoteCandidateType: str(remote?.candidateType),
      relayProtocol: str(local?.relayProtocol),
      localAddress: str(collectIP && local?.address),
      localAddresses: texts([...new Set(collectIP ? locals?.flatMap((one) => [one.address, one.relatedAddress]) : [])])
    };
  }
  function streamAdded({ key, statsType, mediaType, ssrc, codec, rtp, source }, stamp) {
    const end2 = statsType === "inbound-rtp" ? "remoteDescription" : "localDescription";
    const description = attempt(() => sdpText(pc[end2]), "");
    const names2 = sourceInfo(description, ssrc);
    sources.set(key, names2);
    const trackIdentifier = str(rtp.trackIdentifier) ?? str(source.trackIdentifier);
    event("streamAdded", { ssrc, statsType, mediaType, codec, ...names2, trackIdentifier }, stamp);
  }
  function areaOf(ssrc) {
    const tag = associations.get(ssrc)?.associatedVideoTag;
    const element = typeof tag === "string" ? globalThis.document?.getElementById(tag) : tag;
    const { clientWidth, clientHeight } = element ?? {};
    const area = known(clientWidth) * known(clientHeight);
    return num(Math.round(area * (globalThis.devicePixelRatio || 1) ** 2));
  }
  async function connected(times) {
    const stamp = clock.stamp();
    monitor.begin(mono());
    env.connected();
    setTimeout(probe, settleMs);
    tellSetup = () => {
      tellSetup = void 0;
      event("fabricSetup", { ...times, ...candidates() }, stamp);
    };
    await probe();
    tellSetup?.();
  }
  function setupFailed(stage, reason, stamp) {
    event("fabricSetupFailed", { stage, failureMs: life.ageMs(), reason }, stamp);
  }
  function trouble(what) {
    env.report("appConnectivityError", `a PeerConnection of ${conferenceID} ${what}`);
  }
  function lastReading() {
    setTimeout(() => finish(null), lastReadingMs);
    const atMs = mono();
    read().then((reports) => {
      if (!reports || done) return;
      const last = attempt(() => monitor.measure(reports, atMs, areaOf), null);
      finish(last?.intervals.length ? last : null);
    });
  }
  function finish(last) {
    if (done || !ending) return;
    done = true;
    if (last) record(last, ending);
    else deliver([]);
    env.ended(self);
    if (last) env.leave();
  }
  function end(reason, now = reason === "closed") {
    if (!ending) {
      ending = clock.stamp();
      sayEnd(reason, now, ending);
      life.stop();
      if (!now) lastReading();
    }
    if (now) finish(null);
  }
  function associate(ssrc, association) {
    associations.set(ssrc, association);
    const { userID, usageLabel, tagID: associatedVideoTag } = association;
    event("associateMstWithUserID", { ssrc, userID, usageLabel, associatedVideoTag });
  }
  function sayEnd(reason, now, stamp) {
    const stage = life.stage();
    tellSetup?.();
    if (stage) setupFailed(stage, reason === "closed" || reason === "pagehide" ? reason : "terminated", stamp);
    event("fabricTerminated", { reason, measurementFollows: !(now || stage) || void 0 }, stamp);
    if (reason !== "pagehide") env.leave();
  }
  const reported = pcCallback && later.bind(null, pcCallback);
  event("fabricAdded", { alreadyConnected: isConnected(pc) }, info.addedAt, reported);
  const life = watchLifecycle(pc, mono, {
    emit: event,
    connected,
    setupFailed(stage) {
      setupFailed(stage, "failed");
      trouble("failed");
    },
    disrupted(iceConnectionState) {
      event("iceDisruptionStart", { iceConnectionState });
      trouble(`is ${iceConnectionState}`);
    },
    negotiated: () => setTimeout(probe, settleMs),
    closed: () => end("closed")
  });
  const self = {
    pc,
    info,
    emit: event,
    end,
    measure: measure2,
    hasStream: monitor.hasStream,
    /** Looks at its states. */
    look: life.look,
    associate,
    /** Names the remote user, or the local one, from now on. */
    rename(userIDType2, newUserID) {
      if (userIDType2 === "remote") remoteUserID = newUserID;
      event("userIDChange", { userIDType: userIDType2, newUserID });
    },
    /** How it would be added now. */
    asNamed: () => ({ ...info, remoteUserID }),
    /** Its streams are those of another fabric from now on. */
    handOver(next) {
      for (const [ssrc, own] of associations) next.associate(ssrc, own);
    },
    /** Whether it has ended, or is about to. */
    ended: () => Boolean(ending)
  };
  life.update();
  probe();
  return self;
}

// src/page.ts
function watchPage({ hidden, shown, covered }, withPagehide) {
  const listening = new AbortController();
  const listen = (target, type, heard) => target?.addEventListener?.(type, (event) => attempt(() => heard(event)), {
    signal: listening.signal
  });
  const inFront = ({ type, persisted }) => {
    const returned = type === "pageshow" && persisted;
    if (returned || globalThis.document?.visibilityState !== "hidden") shown(returned);
    else covered();
  };
  if (withPagehide) listen(globalThis, "pagehide", ({ persisted }) => hidden(persisted));
  listen(globalThis, "pageshow", inFront);
  listen(globalThis, "online", inFront);
  listen(globalThis.document, "visibilitychange", inFront);
  return () => listening.abort();
}

// src/queue.ts
var maxFrameBytes = 65536;
var maxEntryBytes = maxFrameBytes - 12288;
var headBytes = 90;
var skipRank = 3;
function createQueue(clock, { maxBytes = 1 << 20, ageMs = 2 * 36e5, windowBytes = 256 << 10 } = {}) {
  const entries = [];
  let lastSeq = 0;
  let ackedSeq = 0;
  let cursor = 0;
  let unread = false;
  let doubted = 0;
  function drop(entry) {
    settle(entry, "failure", "dropped unsent");
    const at = entries.indexOf(entry);
    const skipAt = (index) => Number(entries[index]?.rank === skipRank && !entries[index]?.sent);
    const start = at - skipAt(at - 1);
    const end = at + 1 + skipAt(at + 1);
    entries.splice(start, end - start, skipOf(entries.slice(start, end), clock));
  }
  const droppable = () => entries.filter((entry) => !entry.sent && entry.rank < skipRank);
  function shrink(bytes) {
    while (total(entries.filter((entry) => !entry.sent)) > bytes) {
      const [first] = droppable().sort((a, b) => a.rank - b.rank);
      if (!first) return;
      drop(first);
    }
  }
  return {
    shrink,
    /** Returns the number of a frame; 0 when it is too large. */
    push(frame) {
      const tail = json(frame.members).slice(1);
      const bytes = byteLength(tail) + headBytes;
      if (bytes > maxEntryBytes) return 0;
      entries.push(entryOf(frame, ++lastSeq, tail, bytes, clock));
      const oldestMs = frame.stamp.ms - ageMs;
      for (const entry of droppable()) if (entry.stamp.ms < oldestMs) drop(entry);
      shrink(maxBytes - total(entries.filter((entry) => entry.sent)));
      return lastSeq;
    },
    /** The next entry to send within the window. */
    upNext(windowFrames) {
      const entry = entries[cursor];
      return cursor < windowFrames && (!cursor || total(entries.slice(0, cursor + 1)) <= windowBytes) ? entry : void 0;
    },
    /** The entry is on the wire. */
    sent(entry) {
      entry.sent = true;
      cursor = entries.indexOf(entry) + 1;
    },
    /**
     * From the last acknowledged number again. Where the collector refused what had no number
     * that it could read, twice with the same frame as the first without an ack, it is that
     * frame: a skip takes its place (protocol section 2).
     */
    rewind() {
      cursor = 0;
      const [first] = entries;
      if (!unread || !first?.sent) return;
      unread = false;
      if (first.seq === doubted) drop(first);
      doubted = first.seq;
    },
    /**
     * Everything up to seq is taken or refused; a number that was never sent cannot be.
     * Returns whether a frame was taken.
     */
    ack(seq) {
      let taken = false;
      for (let entry = entries[0]; entry?.sent && entry.seq <= seq; entry = entries[0]) {
        entries.shift();
        ackedSeq = entry.seq;
        cursor = Math.max(0, cursor - 1);
        settle(entry, "success", "");
        taken ||= !entry.refused;
      }
      return taken;
    },
    /** One frame is refused for good; its number, NaN where it could not be read, waits for the ack. */
    nack(seq, err, msg) {
      unread ||= !seq;
      const entry = entries.find((other) => other.seq === seq);
      if (!entry) return;
      entry.refused = true;
      settle(entry, err, msg);
    },
    /** The highest number up to which all is acknowledged. */
    lastAcked: () => ackedSeq,
    /** Whether frames wait for an acknowledgement. */
    unacked: () => cursor > 0,
    /** Everything that is not acknowledged, in order. */
    waiting: () => [...entries],
    /** Tells every frame that waits what to expect; they go on waiting. */
    giveUp(err, msg) {
      for (const entry of entries) settle(entry, err, msg);
    }
  };
}
var total = (entries) => entries.reduce((sum, entry) => sum + entry.byteCount, 0);
function settle(entry, err, msg) {
  entry.done?.(err, msg);
  entry.done = void 0;
}
function once(write) {
  let text2;
  return () => {
    text2 ??= write();
    return text2;
  };
}
function entryOf(frame, seq, tail, bytes, clock) {
  const { type, stamp, fabric, sets: sets2 = [], keep, done, insideAt } = frame;
  const measured = type === "stats";
  return {
    seq,
    firstSeq: seq,
    stamp,
    sets: sets2,
    lost: [{ fabric, stats: Number(measured), events: Number(!measured) }],
    rank: measured ? 0 : type === "sdp" ? 0.5 : keep ? 2 : 1,
    byteCount: bytes,
    sent: false,
    done,
    line: once(() => {
      const inside = insideAt ? `"conferenceAt":${clock.time(insideAt)},` : "";
      return `{"type":"${type}","seq":${seq},"at":${clock.time(stamp)},${inside}${tail}`;
    })
  };
}
function skipOf(run, clock) {
  const sums = /* @__PURE__ */ new Map();
  for (const { fabric, stats, events } of run.flatMap((entry) => entry.lost)) {
    const before = sums.get(fabric);
    sums.set(fabric, { fabric, stats: stats + (before?.stats ?? 0), events: events + (before?.events ?? 0) });
  }
  const lost = [...sums.values()];
  const { firstSeq } = run[0];
  const { seq, stamp } = run.at(-1);
  return {
    seq,
    firstSeq,
    stamp,
    sets: [],
    lost,
    rank: skipRank,
    byteCount: headBytes + 48 * lost.length,
    sent: false,
    line: once(() => json({ type: "skip", seq, from: firstSeq, at: clock.time(stamp), lost }))
  };
}

// src/timer.ts
var longestMs = 864e5;
function createTimer() {
  let id;
  return (ms = 0, task) => {
    clearTimeout(id);
    if (task) id = setTimeout(task, Math.min(ms, longestMs));
  };
}

// src/wire.ts
function linesOf({ lost, sets: sets2, line }, context, heard) {
  const announcements = [
    ...lost.map(({ fabric }) => fabric ? context.fabricLine(fabric) : ""),
    ...sets2.map(context.columnsLine)
  ].filter((known2) => known2 && !heard.has(known2));
  for (const line2 of announcements) heard.add(line2);
  return [...announcements, line()];
}
function postBody(hello, entries, context, took) {
  const heard = /* @__PURE__ */ new Set();
  let body = json(hello);
  for (const entry of entries) {
    const longer = [body, ...linesOf(entry, context, heard)].join("\n");
    if (byteLength(longer) > maxFrameBytes) break;
    body = longer;
    took(entry);
  }
  return body;
}

// src/transport.ts
var maxBackoffMs = 6e4;
var silenceMs = 12e3;
var helloMs = 15e3;
var bufferedLimit = 128 << 10;
var refusalsBeforePost = 3;
var socketAgainMs = 3e5;
var postPauseMs = 5e3;
var steadyMs = 1e4;
var renewAgainMs = 6e4;
var asRefusal = (error) => error instanceof Refusal ? error : new Refusal("httpError", text(error), true);
function createTransport(env) {
  const { base, clock, queue, report } = env;
  let token = null;
  let socket = null;
  let heard = /* @__PURE__ */ new Set();
  let ready = false;
  let paused = false;
  let connecting = false;
  let stopped = true;
  let failure;
  let resting = false;
  let attempts = 0;
  let socketRefusals = 0;
  let notBefore = 0;
  let postUntil = 0;
  let posting = false;
  let windowFrames = 256;
  let generation = 0;
  let helloSent = 0;
  let helloToken = null;
  let doubted = false;
  let welcomedAt = 0;
  const renewal = createTimer();
  const nextTry = createTimer();
  const watchdog = createTimer();
  const pause = createTimer();
  const hello = () => {
    helloSent = clock.mono();
    helloToken = token;
    return env.hello(token);
  };
  const body = (entries) => postBody(hello(), entries, env, queue.sent);
  function disconnect() {
    const ws = socket;
    socket = null;
    ready = paused = false;
    for (const timer of [watchdog, pause, nextTry]) timer();
    if (!ws) return;
    ws.onopen = ws.onmessage = ws.onclose = ws.onerror = null;
    attempt(() => ws.close(1e3));
  }
  const connectIn = (ms) => nextTry(ms, connect);
  function retry(minMs = 0) {
    notBefore = clock.mono() + minMs;
    if (!stopped) connectIn(Math.max(minMs, Math.random() * Math.min(maxBackoffMs, 1e3 * 2 ** attempts++)));
  }
  function fail2(refusal, wasReady = ready) {
    const { csError: csError2, message, waitMs } = refusal;
    ready = false;
    const unknown = csError2 === "authError";
    const stale = unknown && token && !doubted;
    if (!stale) report(csError2, message);
    if (unknown) {
      token = null;
      doubted = true;
    }
    if (stale || refusal.mayRetry || wasReady || welcomedAt && csError2 === "tokenGenerationError") {
      retry(waitMs);
      return;
    }
    stopped = true;
    failure = refusal;
    renewal();
    pump();
  }
  const away = () => stopped || resting;
  async function connect() {
    nextTry();
    if (away() || connecting || socket) return;
    connecting = true;
    const mine = generation;
    try {
      if (!token) await renew(false);
      if (mine === generation && !away()) await exchange2();
    } catch (error) {
      if (mine === generation) fail2(asRefusal(error));
    }
    if (mine === generation) connecting = false;
  }
  const exchange2 = () => clock.mono() < postUntil ? postAll() : open();
  async function renew(forceNew) {
    const mine = generation;
    const fresh = await env.login(forceNew, (late) => {
      if (mine === generation) report(late.csError, late.message);
    });
    if (mine !== generation) return;
    token = fresh;
    if (!forceNew) report("success", "authenticated");
    renewIn(fresh.expiresInMs * (0.85 + Math.random() * 0.1));
  }
  function renewIn(ms) {
    renewal(
      Math.max(ms, renewAgainMs),
      // The old token is still good; when it is over, the next connection logs in and reports.
      () => renew(true).catch((error) => {
        if (!stopped) renewIn(Math.max(asRefusal(error).waitMs, renewAgainMs * (1 + Math.random())));
      })
    );
  }
  function open() {
    try {
      const ws = new WebSocket(`${base.replace(/^http/, "ws")}ws`, "qos");
      socket = ws;
      ready = false;
      watch(helloMs);
      ws.onopen = () => safely(() => ws.send(json(hello())));
      ws.onmessage = (event) => {
        watch(silenceMs);
        safely(() => handle(parseLine(event.data)));
      };
      ws.onclose = ws.onerror = () => lost();
    } catch (error) {
      socketFailed(text(error));
    }
  }
  function safely(task) {
    try {
      task();
    } catch (error) {
      lost(new Refusal("wsChannelFailure", text(error), true));
    }
  }
  function watch(ms, suspicious = false) {
    watchdog(ms, () => {
      const waiting = queue.unacked();
      if (!ready || waiting && suspicious) lost();
      else watch(silenceMs, waiting);
    });
  }
  function lost(refusal) {
    const wasReady = ready;
    if (wasReady && clock.mono() - welcomedAt > steadyMs) attempts = 0;
    disconnect();
    if (refusal) fail2(refusal, wasReady);
    else if (wasReady) retry();
    else socketFailed("no WebSocket");
  }
  function socketFailed(msg) {
    if (!posting) report("wsChannelFailure", msg);
    const already = posting;
    posting ||= ++socketRefusals >= refusalsBeforePost;
    if (posting) postUntil = clock.mono() + socketAgainMs;
    if (posting === already) retry();
    else connectIn(0);
  }
  function reconnect(minMs = 0) {
    disconnect();
    attempts = 0;
    retry(minMs);
  }
  function hold(ms, again = false) {
    paused = true;
    pause(ms, () => {
      paused = false;
      if (again) queue.rewind();
      pump();
    });
  }
  function pump() {
    if (failure) queue.giveUp(failure.csError, failure.message);
    const ws = socket;
    while (ws && ready && !paused) {
      const entry = queue.upNext(windowFrames);
      if (!entry) return;
      if (!clock.synced())
        reconnect();
      else if (ws.bufferedAmount > bufferedLimit) hold(250);
      else
        safely(() => {
          for (const line of linesOf(entry, env, heard)) ws.send(line);
          queue.sent(entry);
        });
    }
  }
  function handle(message) {
    if (!message) return;
    if (message.type === "ack") {
      if (queue.ack(Number(message.seq))) {
        attempts = 0;
        report("success", "connected");
      }
      pump();
      return;
    }
    const refusal = refused(message);
    const { csError: csError2, message: msg } = refusal;
    switch (message.type) {
      case "welcome":
        welcomed(message);
        break;
      case "nack":
        queue.nack(Number(message.seq), csError2, msg);
        report(csError2, msg);
        break;
      case "slow-down":
        if (message.statsIntervalMs) env.statsInterval(Number(message.statsIntervalMs));
        hold(refusal.waitMs, true);
        break;
      case "bye":
        socketRefusals = 0;
        if (refusal.reasonCode === "token_expired" && token && token !== helloToken) reconnect(refusal.waitMs);
        else lost(refusal);
    }
  }
  function welcomed(welcome) {
    clock.sample(helloSent, clock.mono(), Number(welcome.at));
    ready = true;
    doubted = false;
    welcomedAt = clock.mono();
    if (socket) {
      posting = false;
      socketRefusals = 0;
    }
    heard = /* @__PURE__ */ new Set();
    windowFrames = Number(welcome.windowFrames) || windowFrames;
    queue.rewind();
    queue.ack(Number(welcome.acked) || 0);
    env.welcomed(welcome);
    report("success", "connected");
    pump();
  }
  async function postAll() {
    const entries = clock.synced() ? queue.waiting() : [];
    if (ready && clock.synced() && !entries.length) {
      connectIn(postPauseMs);
      return;
    }
    const mine = generation;
    const acked = queue.lastAcked();
    const answers = await post(`${base}frames`, body(entries));
    if (mine !== generation) return;
    for (const answer2 of answers) handle(answer2);
    const goOn = ready && (!entries.length || queue.lastAcked() > acked && queue.upNext(windowFrames));
    if (!stopped) connectIn(goOn ? 0 : postPauseMs);
  }
  function flush(last = true) {
    if (!token || !clock.synced()) return;
    if (last) queue.shrink(maxEntryBytes);
    const all = queue.waiting();
    const fits = total(all) <= maxEntryBytes;
    const entries = fits ? all : all.filter((entry) => !entry.sent);
    if (entries.length) post(`${base}frames`, body(entries), true).catch(() => void 0);
  }
  return {
    pump,
    flush,
    /** The page may end without another word. Behind the POST door nothing goes at once. */
    covered: () => socket && ready ? pump() : flush(false),
    /** Why nothing is sent any more, until restart(). */
    halted: () => failure,
    /** Whether the collector knows who speaks and listens. */
    online: () => ready,
    /** Logs in (again) and connects anew. */
    restart() {
      generation++;
      connecting = stopped = posting = resting = doubted = false;
      token = null;
      failure = void 0;
      attempts = socketRefusals = postUntil = notBefore = welcomedAt = 0;
      renewal();
      disconnect();
      connect();
    },
    /** Connects at once if it waits to try again, or as soon as the collector allows. */
    wake() {
      resting = false;
      const waitMs = notBefore - clock.mono();
      if (socket) pump();
      else if (waitMs > 0) connectIn(waitMs);
      else connect();
    },
    /** Leaves the collector until wake(). */
    rest() {
      resting = true;
      connecting = false;
      generation++;
      disconnect();
    },
    /** Sends what waits for at most so long, then ends. */
    stop(graceMs2) {
      const until = clock.mono() + graceMs2;
      const end = () => {
        if (!stopped && clock.mono() < until && queue.waiting().length) {
          setTimeout(end, 200);
          return;
        }
        stopped = true;
        generation++;
        flush();
        renewal();
        attempt(() => socket?.send('{"type":"bye"}'));
        disconnect();
        queue.giveUp("failure", "replaced");
      };
      end();
    }
  };
}

// src/version.ts
var version = "0.1.0";

// src/session.ts
var graceMs = 1e4;
var keptEnded = 256;
var longMs = 5e3;
var longestMs2 = 2e4;
function createSession(first, env) {
  const { base, appID } = first;
  const clock = createClock(pageClocks);
  const queue = createQueue(clock);
  let info = first;
  const config = () => info.config;
  const renamed = /* @__PURE__ */ new Map();
  let fabrics = [];
  let endedFabrics = [];
  let left = [];
  const announcements = /* @__PURE__ */ new Map();
  const reportedErrors = /* @__PURE__ */ new Set();
  let id = "";
  let lastFabric = 0;
  let intervalMs = 1e4;
  let bounds = defaultBounds;
  let urlTemplate = "";
  let urls = /* @__PURE__ */ new Map();
  let measuredMs = clock.mono();
  let unwatchPage = () => {
  };
  let leaving = false;
  const beat = createTimer();
  const poll = createTimer();
  const alive = (conferenceID) => fabrics.filter((f) => !f.ended() && (conferenceID === void 0 || f.info.conferenceID === conferenceID));
  function hello(token) {
    const at = clock.time(clock.stamp());
    id ||= token?.session ?? "";
    const { applicationVersion, siteID, additionalIDs: additionalIDs2 } = config();
    const userAgent = globalThis.navigator?.userAgent;
    return {
      type: "hello",
      versions: [1],
      token: token?.token,
      session: id,
      acked: queue.lastAcked(),
      at,
      library: version,
      userAgent: userAgent ? cutBytes(userAgent, 512) : void 0,
      applicationVersion,
      siteID,
      additionalIDs: additionalIDs2
    };
  }
  function welcomed({ statsIntervalMs, conferenceURL: conferenceURL2, labels }) {
    measureEvery(Number(statsIntervalMs));
    if (typeof conferenceURL2 === "string") urlTemplate = conferenceURL2;
    urls = /* @__PURE__ */ new Map();
    const mos = labels?.mos;
    if (Array.isArray(mos) && mos.length === 4) bounds = mos.map(Number);
  }
  function measureEvery(ms) {
    if (!(ms >= 2e3 && ms <= 2e4) || ms === intervalMs) return;
    intervalMs = ms;
    startBeat();
  }
  function report(csError2, msg) {
    if (reportedErrors.has(csError2)) return;
    if (csError2 === "success") reportedErrors.clear();
    reportedErrors.delete("success");
    reportedErrors.add(csError2);
    env.report(csError2, msg);
  }
  const transport = createTransport({
    base,
    clock,
    queue,
    login: (renew, late) => login({ url: `${base}auth`, clock, late }, info, renew),
    hello,
    fabricLine: (fabric) => announcements.get(fabric)?.() ?? "",
    columnsLine,
    welcomed,
    statsInterval: measureEvery,
    report
  });
  function send(frame) {
    const taken = queue.push(frame);
    if (frame.type !== "stats") transport.pump();
    return taken;
  }
  function startBeat() {
    const latestMs2 = measuredMs + longestMs2 - clock.mono();
    measureIn(Math.min(intervalMs * (0.5 + Math.random() / 2), latestMs2));
  }
  function measureIn(ms) {
    beat(ms, measure2);
    if (ms >= longMs) poll(ms / 2, look);
  }
  function measure2() {
    measuredMs = clock.mono();
    if (!fabrics.length) return;
    measureIn(intervalMs);
    let awaited = fabrics.length;
    for (const fabric of fabrics) fabric.measure().then(() => --awaited || transport.pump());
    transport.pump();
    askWifi();
  }
  function look() {
    for (const fabric of fabrics) fabric.look();
  }
  function conferenceURL({ fabric, conferenceID, addedAt }) {
    const known2 = urls.get(fabric);
    if (known2 !== void 0) return known2;
    const values = { appID, conferenceID, at: clock.time(addedAt) };
    const url = urlTemplate.replace(/\{(\w+)\}/g, (all, name) => encodeURIComponent(String(values[name] ?? all))) || null;
    urls.set(fabric, url);
    return url;
  }
  function ended(fabric) {
    fabrics = fabrics.filter((other) => other !== fabric);
    endedFabrics = [...endedFabrics, fabric.info].slice(-keptEnded);
    urls.delete(fabric.info.fabric);
    for (const id2 of renamed.keys()) if (!conference(id2)) renamed.delete(id2);
    if (announcements.size <= 2 * keptEnded) return;
    const lost = queue.waiting().flatMap((entry) => entry.lost);
    const needed = new Set([...fabrics.map((f) => f.info), ...lost].map(({ fabric: fabric2 }) => fabric2));
    for (const number of announcements.keys()) if (!needed.has(number)) announcements.delete(number);
  }
  const fabricEnv = {
    ...env,
    clock,
    enqueue: send,
    ended,
    urlOf: conferenceURL,
    config,
    localUser: (conferenceID) => renamed.get(conferenceID) ?? info.userID,
    labelBounds: () => bounds,
    online: transport.online,
    leave,
    // With others there it joins their beat.
    connected: () => fabrics.length > 1 || startBeat()
  };
  function addFabric(pc, description, pcCallback) {
    const { conferenceID } = description;
    const newUserID = !alive(conferenceID).length && renamed.get(conferenceID);
    const fabricInfo = { ...description, fabric: ++lastFabric, addedAt: clock.stamp() };
    announcements.set(
      lastFabric,
      once(() => json({ type: "fabric", ...fabricInfo, addedAt: clock.time(fabricInfo.addedAt) }))
    );
    env.known.get(pc)?.add(conferenceID);
    const first2 = !fabrics.length;
    if (first2) measuredMs = clock.mono();
    const fabric = createFabric(pc, fabricInfo, fabricEnv, pcCallback);
    fabrics.push(fabric);
    if (newUserID) fabric.rename("local", newUserID);
    if (first2) startBeat();
    return fabric;
  }
  const conference = (conferenceID) => [...endedFabrics, ...fabrics.map((f) => f.info)].filter((known2) => known2.conferenceID === conferenceID).at(-1);
  const hasEnded = (pc, conferenceID) => Boolean(env.known.get(pc)?.has(conferenceID)) && !alive(conferenceID).some((f) => f.pc === pc);
  function standsFor(pc, conferenceID, ssrc) {
    const here = alive(conferenceID);
    const own = here.find((f) => f.pc === pc);
    if (own) return own;
    if (hasEnded(pc, conferenceID)) throw new Invalid(over);
    const heard = here.filter((f) => f.hasStream(ssrc));
    const itself = env.known.has(pc) || isGenuine(pc);
    const fits = itself ? [] : heard.length ? heard : here;
    if (fits.length === 1) return fits[0];
    throw new Invalid(`pc is no fabric of this conferenceID, ${fits.length} fit`);
  }
  function recorder(fabric, conferenceID) {
    const number = fabric?.info.fabric;
    const last = conference(conferenceID);
    const ofConference = number ?? last?.fabric ?? 0;
    return (type, members, done) => {
      const stamp = clock.stamp();
      const taken = send({
        type,
        stamp,
        done,
        fabric: announcements.has(ofConference) ? ofConference : 0,
        insideAt: fabric ? void 0 : last?.addedAt ?? stamp,
        members: fabric ? { fabric: number, ...members } : { conferenceID, ...members }
      });
      if (!taken) throw new Invalid(`the frame is over ${maxEntryBytes} bytes`);
      return taken;
    };
  }
  function hidden(kept) {
    look();
    left = kept ? alive() : [];
    for (const fabric of [...fabrics]) fabric.end("pagehide", true);
    transport.flush();
    if (kept) transport.rest();
  }
  function shown(returned) {
    const back = returned ? left.splice(0) : [];
    for (const before of back) if (!isClosed(before.pc)) before.handOver(addFabric(before.pc, before.asNamed()));
    transport.wake();
  }
  function leave() {
    if (!leaving)
      queueMicrotask(() => {
        leaving = false;
        transport.covered();
      });
    leaving = true;
  }
  function covered() {
    look();
    transport.covered();
  }
  async function askWifi() {
    const handler = env.wifi();
    const sample = handler && await readWifi(handler, config().collectIP);
    if (!sample) return;
    for (const fabric of new Map(fabrics.map((f) => [f.info.conferenceID, f])).values())
      fabric.emit("wifiStats", sample);
  }
  function start() {
    unwatchPage();
    unwatchPage = watchPage({ hidden, shown, covered }, !config().disableBeforeUnloadHandler);
    transport.restart();
  }
  start();
  return {
    standsFor,
    hasEnded,
    recorder,
    addFabric,
    /** Whether initialize() with these arguments goes on with this session (INIT-06). */
    continues: (next) => identityOf(next) === identityOf(info),
    /** initialize() again for the same user: logs in anew, keeps fabrics and queue. */
    again(next) {
      info = next;
      reportedErrors.clear();
      start();
    },
    /** Ends the session for another one. */
    retire() {
      for (const fabric of [...fabrics]) fabric.end("replaced", true);
      unwatchPage();
      beat();
      poll();
      transport.stop(graceMs);
    },
    /** Why nothing is sent until the next initialize(). */
    halted: transport.halted,
    config,
    /** Names the local user of a conference from now on. */
    setLocalUser(conferenceID, userID) {
      renamed.set(conferenceID, userID);
    },
    /** Whether there is nothing to add: it is monitored, or it was and is closed by now. */
    monitors: (pc, conferenceID) => alive(conferenceID).some((f) => f.pc === pc) || Boolean(env.known.get(pc)?.size) && isClosed(pc),
    /** Records what pc's fabric did, or the conference where pc stands for none (API-12, FAB-11). */
    scope: (pc, conferenceID) => recorder(isGiven(pc) ? attempt(() => standsFor(pc, conferenceID)) : void 0, conferenceID)
  };
}
var identityOf = ({ appID, base, userID }) => json([appID, base, userID]);
var over = "the fabric has ended already";

// src/instance.ts
function emit({ subscribers }, name, ...args) {
  for (const callback of subscribers[name] ?? []) later(callback, ...args);
}
function answer(instance, name, ...args) {
  instance.answers[name] = args;
  emit(instance, name, ...args);
}
function noResults(instance, reason) {
  const results = { mediaConnectivity: false, rtt: null, fractionalLoss: null, throughput: null };
  answer(instance, "preCallTestResults", "failure", results, reason);
}
var noTests = "this collector offers no pre-call tests";
function sessionOf({ current: session }) {
  if (!session) throw new Invalid("initialize() must be called first");
  const halted = session.halted();
  if (halted) fail(`initialize() again: ${halted.message}`);
  return session;
}
function begin(instance, info) {
  const before = instance.current;
  if (before?.continues(info)) {
    before.again(info);
    return;
  }
  before?.retire();
  const session = createSession(info, {
    report(csError2, msg) {
      if (instance.current !== session) return;
      for (const callback of /* @__PURE__ */ new Set([...instance.unanswered, instance.initCallback])) later(callback, csError2, msg);
      instance.unanswered.clear();
      if (csError2 !== "success") emit(instance, "error", csError2, msg);
    },
    listening: () => Boolean(instance.statsCallback || instance.subscribers.stats),
    deliver(stats) {
      queueMicrotask(() => {
        for (const callback of [instance.statsCallback, ...instance.subscribers.stats ?? []]) hand(callback, stats);
      });
    },
    wifi: () => instance.wifi,
    known: instance.known
  });
  instance.current = session;
  for (const name of ["defaultConfig", "recommendedConfig"]) answer(instance, name, { peerConnection: {}, media: {} });
  noResults(instance, info.config.disablePrecalltest ? "disablePrecalltest is set" : noTests);
}

// src/report.ts
var maxLogBytes = 20480;
var maxJsonBytes = 5e4;
function reportError(instance, pc, conferenceID, functionName, error, localSDP, remoteSDP) {
  const conference = requireConferenceID(conferenceID);
  const name = requireMember("wrtcFuncName", enums.webRTCFunctions, functionName);
  const session = sessionOf(instance);
  const record = session.scope(pc, conference);
  if (name.startsWith("application")) {
    record("log", { text: logText(error) });
    return;
  }
  const sdp = (field, given, withAddresses) => {
    const whole = sdpText(given);
    if (!whole && (given ?? "") !== "") ignored(field, "an SDP", given);
    return [field, cut(field, withAddresses ? whole : withoutAddresses(whole), 131072)];
  };
  const members = { function: name, ...describe(error) };
  const sdps = [sdp("localSDP", localSDP, session.config().collectIP), sdp("remoteSDP", remoteSDP, true)];
  const inParts = byteLength(json([members, sdps])) > maxJsonBytes;
  for (const [field, whole] of sdps)
    members[inParts ? `${field}Bytes` : field] = (inParts ? byteLength(whole) : whole) || void 0;
  const number = record("error", members);
  if (!inParts) return;
  for (const [field, whole] of sdps) {
    let offset = 0;
    for (const text2 of whole.match(/.{1,8000}/gsu) ?? []) {
      record("sdp", { error: number, field, offset, text: text2 });
      offset += byteLength(text2);
    }
  }
}
function describe(error) {
  const given = isObject(error) ? error : { message: attempt(() => String(error ?? ""), unreadable) };
  const kept = {};
  const keep = (member, limit = 128, other = member) => {
    const text2 = attempt(() => String(given[member] || given[other] || ""), unreadable);
    kept[member] = cut(`domError.${member}`, text2, limit);
  };
  keep("name");
  keep("message", 1024);
  keep("code");
  keep("constraintName", 128, "constraint");
  keep("stack", 4096);
  const isFurther = (key) => !(key in kept) && /str|num|boo/.test(typeof attempt(() => given[key]));
  const further = attempt(() => JSON.stringify(given, Object.keys(given).filter(isFurther)), unreadable);
  if (given === error && !kept.name && !kept.message)
    kept.message = cut("domError.message", attempt(() => json(error)) ?? further, 1024);
  else if (further !== "{}") kept.details = cut("domError", further, 2048);
  return kept;
}
function logText(log) {
  const text2 = attempt(
    () => (log instanceof Error || typeof log === "string" ? void 0 : attempt(() => json(log ?? void 0) ?? "")) ?? String(log),
    unreadable
  );
  const kept = cut("domError", text2, maxLogBytes);
  if (kept !== text2) console.warn(`qos: an application log was cut to ${maxLogBytes} bytes`);
  return kept;
}

// src/api.ts
var refuse = (msg) => () => {
  throw new Invalid(msg);
};
var precallTest = (ranks) => (instance) => {
  onRefusal((msg) => {
    noResults(instance, msg);
    if (ranks) answer(instance, "connectionRecommendation", { aggregatedStats: [], providerRanking: [] });
  });
  sessionOf(instance);
  throw new Invalid(noTests);
};
var operations = {
  initialize,
  addNewFabric,
  reportError,
  associateMstWithUserID,
  sendFabricEvent,
  reportUserIDChange,
  sendUserFeedback,
  on,
  attachWifiStatsHandler,
  sendCallDetails,
  sendCustomEvent: sendCustom("customEvent"),
  sendCustomStats: sendCustom("customStats"),
  startPrecallTests: precallTest(true),
  stopPrecallTests: sessionOf,
  // nothing runs
  makePrecallTest: precallTest(false),
  setIdentifiers: refuse("reportUserIDChange() names a remote user"),
  resetWifiStatsHandler(instance) {
    instance.wifi = void 0;
  },
  setProxyConfig: refuse("the browser has its own proxy"),
  getSctResults: refuse(noTests)
};
function createInterface(scriptUrl) {
  const instance = { scriptUrl, subscribers: {}, answers: {}, unanswered: /* @__PURE__ */ new Set(), known: /* @__PURE__ */ new WeakMap() };
  const guarded = Object.entries(operations).map(([name, operation]) => [
    name,
    (...args) => guard(() => operation(instance, ...args))
  ]);
  return {
    ...Object.fromEntries(guarded),
    getTurnCredentials: (() => Promise.reject(new Error("this collector offers no TURN credentials"))),
    version,
    ...enums,
    // Names that existing applications read (LIB-09).
    wrtcFuncNames: enums.webRTCFunctions,
    callStatsAPIReturnStatus: enums.qosAPIReturnStatus
  };
}
function callbackOf(name, value) {
  if (typeof value === "function") return value;
  if (isGiven(value)) ignored(name, "a function", value);
  return void 0;
}
function pcCallbackOf(value) {
  const callback = callbackOf("pcCallback", value);
  onRefusal((msg) => later(callback, "failure", msg));
  return callback;
}
function initialize(instance, appID, secret, localUserID, csInitCallback, csStatsCallback, configParams) {
  const initCallback = callbackOf("csInitCallback", csInitCallback);
  onRefusal((msg) => later(initCallback, "authError", msg));
  const id = requireText("AppID", Number.isSafeInteger(appID) ? String(appID) : appID, 256);
  const key = typeof secret === "function" ? secret : requireText("AppSecret", secret, 1024);
  const userID = requireUserID("localUserID", localUserID);
  const config = reading("configParams", () => readConfig(configParams));
  const base = findBackend(config.backendUrl, instance.scriptUrl);
  instance.initCallback = initCallback;
  if (initCallback) instance.unanswered.add(initCallback);
  instance.statsCallback = callbackOf("csStatsCallback", csStatsCallback);
  begin(instance, { base, appID: id, appSecret: key, userID, config });
}
function addNewFabric(instance, pc, remoteUserID, usage, conferenceID, fifth, sixth) {
  const older = typeof fifth === "function";
  const callback = pcCallbackOf(older ? fifth : sixth);
  const attributes = older ? isObject(sixth) ? sixth : void 0 : fifth;
  must(
    reading("pc", () => {
      const given = pc;
      const readable = !given?.[Symbol.toStringTag] || given.signalingState !== null;
      return readable && typeof given?.getStats === "function";
    }),
    "pc",
    "a PeerConnection with getStats",
    pc
  );
  instance.known.set(pc, instance.known.get(pc) ?? /* @__PURE__ */ new Set());
  const description = {
    remoteUserID: requireUserID("remoteUserID", remoteUserID),
    fabricUsage: requireMember("fabricUsage", enums.fabricUsage, usage),
    conferenceID: requireConferenceID(conferenceID),
    ...readAttributes(attributes)
  };
  const session = sessionOf(instance);
  if (!session.monitors(pc, description.conferenceID)) {
    session.addFabric(pc, description, callback);
    return;
  }
  const already = "the fabric is monitored already";
  note(already);
  const stopped = session.halted();
  later(callback, stopped?.csError ?? "success", stopped?.message ?? already);
}
function readAttributes(value) {
  const given = value ?? {};
  must(isObject(given), "fabricAttributes", "an object", value);
  return reading("fabricAttributes", () => {
    const member = (key, members, otherwise) => requireMember(`fabricAttributes.${key}`, members, given[key] ?? otherwise, otherwise);
    const known2 = {
      remoteEndpointType: member("remoteEndpointType", enums.endpointType, "peer"),
      fabricTransmissionDirection: member("fabricTransmissionDirection", enums.transmissionDirection, "sendrecv")
    };
    for (const key of Object.keys(given)) if (!(key in known2)) note(`fabricAttributes.${key} is unknown and ignored`);
    return known2;
  });
}
function fabricOf(instance, pc, conferenceID, ssrc) {
  const session = sessionOf(instance);
  must(isGiven(pc), "pc", "a PeerConnection", pc);
  return session.standsFor(pc, conferenceID, ssrc);
}
function associateMstWithUserID(instance, pc, user, conferenceID, source, label2, tag) {
  const userID = requireUserID("userID", user);
  const conference = requireConferenceID(conferenceID);
  const ssrc = requireInteger("ssrc", source, 0, 4294967295);
  must(typeof label2 === "string", "usageLabel", "a string", label2);
  const usageLabel = cut("usageLabel", label2, 20);
  const fabric = fabricOf(instance, pc, conference, ssrc);
  const id = attempt(() => typeof tag === "string" ? tag : tag.id);
  const tagID = id ? cut("associatedVideoTag", text(id), 256) : null;
  fabric.associate(ssrc, { userID, usageLabel, associatedVideoTag: tag ?? null, tagID });
}
function sendFabricEvent(instance, pc, name, conferenceID, eventData) {
  const event = requireMember("fabricEvent", enums.fabricEvent, name);
  if (event.startsWith("fabricSetup")) throw new Invalid(`${event} is made by the library itself`);
  const conference = requireConferenceID(conferenceID);
  const session = sessionOf(instance);
  const data = event === "activeDeviceList" ? { deviceList: deviceList(eventData ?? {}) } : requireData("eventData", eventData ?? {});
  const ofConference = event === "dominantSpeaker" || event === "activeDeviceList";
  const ended = session.hasEnded(pc, conference);
  const terminated = event === "fabricTerminated";
  if (ended && terminated) {
    note(over);
    return;
  }
  const fabric = ofConference && (ended || !isGiven(pc)) ? void 0 : session.standsFor(pc, conference);
  if (terminated) fabric?.end("application");
  else session.recorder(fabric, conference)("event", { event, data });
}
var ofDevice = ["deviceId", "kind", "label", "groupId"];
function byKind(given) {
  const isMap = isObject(given) && !ofDevice.some((name) => name in given);
  return Object.entries(isMap ? given : { "": given }).flatMap(
    ([kind, list2]) => (
      // Object.values: a list may be of four billion holes.
      Object.values(Array.isArray(list2) ? list2 : [list2]).flat().map((device) => [kind, device])
    )
  );
}
function deviceList(value) {
  return reading("eventData", () => {
    must(typeof value === "object", "eventData", "an object", value);
    const given = value.deviceList ?? value;
    const all = byKind(given).filter(([, device]) => (device ?? "") !== "");
    const known2 = JSON.parse(JSON.stringify(all.slice(0, 100), ofDevice));
    const kept = known2.flatMap(([kind, given2]) => {
      const device = typeof given2 === "string" ? { label: given2 } : given2;
      return isObject(device) ? { ...device, kind: device.kind ?? (kind || void 0) } : [];
    });
    while (byteLength(json(kept)) > 4e3) kept.pop();
    if (kept.length < all.length) note(`eventData.deviceList was cut to ${kept.length} devices`);
    return kept;
  });
}
function reportUserIDChange(instance, pc, conferenceID, user, type) {
  const conference = requireConferenceID(conferenceID);
  const newUserID = requireUserID("newUserID", user);
  const userIDType2 = requireMember("userIDType", enums.userIDType, type);
  const fabric = fabricOf(instance, pc, conference);
  if (userIDType2 === "local") sessionOf(instance).setLocalUser(conference, newUserID);
  fabric.rename(userIDType2, newUserID);
}
function sendUserFeedback(instance, conferenceID, feedback, pcCallback) {
  const callback = pcCallbackOf(pcCallback);
  const conference = requireConferenceID(conferenceID);
  must(isObject(feedback), "feedback", "an object", feedback);
  const members = reading("feedback", () => {
    const { userID = null, userId, comment } = feedback;
    const score = (name, least) => requireInteger(`feedback.${name}`, feedback[name], least, 5) || null;
    const optional = (name) => [name, isGiven(feedback[name]) ? score(name, 0) : null];
    must(typeof (comment ?? "") === "string", "feedback.comment", "a string", comment);
    return {
      userID: requireUserID("feedback.userID", userID ?? userId),
      overall: score("overall", 1),
      ...Object.fromEntries(["audio", "video", "screen"].map(optional)),
      comment: cut("feedback.comment", comment ?? "", 4096) || void 0
    };
  });
  const done = (err, msg) => later(callback, err, msg);
  sessionOf(instance).scope(null, conference)("feedback", members, done);
}
function on({ subscribers, answers }, eventName, callback) {
  const name = requireMember("eventName", callbackEvents, eventName);
  const subscriber = requireFunction("csEventCallback", callback);
  subscribers[name] ??= /* @__PURE__ */ new Set();
  if (subscribers[name].has(subscriber)) return;
  subscribers[name].add(subscriber);
  if (answers[name]) later(subscriber, ...answers[name]);
}
function attachWifiStatsHandler(instance, handler) {
  instance.wifi = requireFunction("getWifiStats", handler);
}
function sendCallDetails(instance, pc, conferenceID, attributes) {
  const conference = requireConferenceID(conferenceID);
  const data = requireData("callAttributes", attributes);
  requireMember("callAttributes.callType", enums.callType, data.callType);
  requireMember("callAttributes.role", enums.roles, data.role);
  sessionOf(instance).scope(pc, conference)("event", { event: "callDetails", data });
}
function sendCustom(event) {
  const isEvent = event === "customEvent";
  const name = isEvent ? "events" : "stats";
  return (instance, pc, conferenceID, given) => {
    const conference = requireConferenceID(conferenceID);
    const items = requireList(name, given).map((item, i) => customItem(isEvent, `${name}[${i}]`, item));
    const record = sessionOf(instance).scope(pc, conference);
    for (const data of items) record("event", { event, data });
  };
}
function customItem(isEvent, name, item) {
  const data = requireData(name, isEvent && typeof item === "string" ? { name: item } : item);
  if (!isEvent) {
    requireText(`${name}.name`, data.name, 64);
    must(typeof data.value === "number", `${name}.value`, "a number", data.value);
  }
  return data;
}

// src/index.ts
function assemble(scriptUrl) {
  function qos2() {
    return createInterface(scriptUrl);
  }
  return Object.assign(qos2, createInterface(scriptUrl));
}

// src/module.ts
var qos = assemble(attempt(() => import.meta.url));
var module_default = qos;
var {
  initialize: initialize2,
  addNewFabric: addNewFabric2,
  reportError: reportError2,
  associateMstWithUserID: associateMstWithUserID2,
  sendFabricEvent: sendFabricEvent2,
  reportUserIDChange: reportUserIDChange2,
  sendUserFeedback: sendUserFeedback2,
  on: on2,
  attachWifiStatsHandler: attachWifiStatsHandler2,
  sendCallDetails: sendCallDetails2,
  sendCustomEvent,
  sendCustomStats,
  startPrecallTests,
  stopPrecallTests,
  makePrecallTest,
  getTurnCredentials,
  setIdentifiers,
  setProxyConfig,
  resetWifiStatsHandler,
  getSctResults,
  version: version2,
  fabricUsage,
  fabricEvent,
  webRTCFunctions,
  userIDType,
  endpointType,
  transmissionDirection,
  qosAPIReturnStatus,
  csError,
  qualityRating,
  callType,
  roles,
  wrtcFuncNames,
  callStatsAPIReturnStatus
} = qos;
export {
  addNewFabric2 as addNewFabric,
  associateMstWithUserID2 as associateMstWithUserID,
  attachWifiStatsHandler2 as attachWifiStatsHandler,
  callStatsAPIReturnStatus,
  callType,
  csError,
  module_default as default,
  endpointType,
  fabricEvent,
  fabricUsage,
  getSctResults,
  getTurnCredentials,
  initialize2 as initialize,
  makePrecallTest,
  on2 as on,
  qosAPIReturnStatus,
  qualityRating,
  reportError2 as reportError,
  reportUserIDChange2 as reportUserIDChange,
  resetWifiStatsHandler,
  roles,
  sendCallDetails2 as sendCallDetails,
  sendCustomEvent,
  sendCustomStats,
  sendFabricEvent2 as sendFabricEvent,
  sendUserFeedback2 as sendUserFeedback,
  setIdentifiers,
  setProxyConfig,
  startPrecallTests,
  stopPrecallTests,
  transmissionDirection,
  userIDType,
  version2 as version,
  webRTCFunctions,
  wrtcFuncNames
};
//# sourceMappingURL=qos.mjs.map
