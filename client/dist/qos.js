/*! qos 1.0.0 | Apache-2.0 */
(function(root,factory){if(typeof define==="function"&&define.amd)define([],factory);else if(typeof module==="object"&&module.exports)module.exports=factory();else root.qos=factory()})(typeof self!=="undefined"?self:this,function(){
"use strict";
var lib = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // src/umd.ts
  var umd_exports = {};
  __export(umd_exports, {
    qos: () => qos
  });

  // src/result.ts
  function success(notes = []) {
    return outcome("success", notes.join("; "));
  }
  function failure(msg) {
    return outcome("failure", msg);
  }
  function outcome(status, msg) {
    return { status, msg, message: msg };
  }
  var Invalid = class extends Error {
  };
  function guard(operation) {
    try {
      return operation();
    } catch (error) {
      return failure(error instanceof Invalid ? error.message : `internal error: ${text(error)}`);
    }
  }
  function text(thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
  function later(callback, ...args) {
    if (typeof callback !== "function") return;
    setTimeout(() => {
      try {
        callback(...args);
      } catch (error) {
        console.error("qos: a callback of the application threw", error);
      }
    }, 0);
  }

  // src/backend.ts
  function findBackend(backendUrl, scriptUrl) {
    if (backendUrl !== void 0) {
      const url2 = parse(backendUrl);
      if (!url2 || !/^https?:$/.test(url2.protocol)) throw new Invalid("configParams.backendUrl must be an http or https URL");
      url2.search = url2.hash = "";
      return url2.href.endsWith("/") ? url2.href : `${url2.href}/`;
    }
    const url = parse(scriptUrl ?? "");
    if (url && /^https?:$/.test(url.protocol) && /\/qos(\.min)?\.m?js$/.test(url.pathname)) return new URL(".", url).href;
    throw new Invalid("the collector is unknown: load the library from it, or set configParams.backendUrl");
  }
  function parse(url) {
    try {
      return new URL(url, typeof location === "object" ? location.href : void 0);
    } catch {
      return null;
    }
  }

  // src/enums.ts
  var enums_exports = {};
  __export(enums_exports, {
    callbackEvents: () => callbackEvents,
    endpointType: () => endpointType,
    fabricEvent: () => fabricEvent,
    fabricUsage: () => fabricUsage,
    isMember: () => isMember,
    qosAPIReturnStatus: () => qosAPIReturnStatus,
    transmissionDirection: () => transmissionDirection,
    userIDType: () => userIDType,
    webRTCFunctions: () => webRTCFunctions
  });
  function enumeration(...names) {
    return Object.fromEntries(names.map((name) => [name, name]));
  }
  var fabricUsage = enumeration("multiplex", "audio", "video", "screen", "data", "unbundled");
  var userIDType = enumeration("local", "remote");
  var endpointType = enumeration("peer", "server");
  var transmissionDirection = enumeration("sendonly", "receiveonly", "sendrecv", "inactive");
  var qosAPIReturnStatus = enumeration("success", "failure");
  var webRTCFunctions = enumeration(
    "getUserMedia",
    "createOffer",
    "createAnswer",
    "setLocalDescription",
    "setRemoteDescription",
    "addIceCandidate",
    "iceConnectionFailure",
    "signalingError",
    "applicationLog",
    "applicationError"
  );
  var fabricEvent = enumeration(
    "fabricHold",
    "fabricResume",
    "audioMute",
    "audioUnmute",
    "videoPause",
    "videoResume",
    "fabricTerminated",
    "screenShareStart",
    "screenShareStop",
    "dominantSpeaker",
    "activeDeviceList",
    "fabricSetup",
    "fabricSetupFailed"
  );
  var callbackEvents = [
    "preCallTestResults",
    "defaultConfig",
    "recommendedConfig",
    "connectionRecommendation",
    "error",
    "stats"
  ];
  function isMember(members, value) {
    return typeof value === "string" && Object.hasOwn(members, value);
  }

  // src/validate.ts
  var encoder = new TextEncoder();
  var decoder = new TextDecoder();
  function byteLength(value) {
    return encoder.encode(value).length;
  }
  function cutBytes(value, limit) {
    const bytes = encoder.encode(value);
    if (bytes.length <= limit) return value;
    let end = limit;
    while (end > 0 && ((bytes[end] ?? 0) & 192) === 128) end--;
    return decoder.decode(bytes.subarray(0, end));
  }
  function cutChars(value, limit) {
    return value.length <= limit ? value : Array.from(value).slice(0, limit).join("");
  }
  function kindOf(value) {
    if (value === null) return "null";
    if (value === "") return "an empty string";
    if (Array.isArray(value)) return "an array";
    return value === void 0 ? "nothing" : `${/^[aeiou]/.test(typeof value) ? "an" : "a"} ${typeof value}`;
  }
  function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }
  function requireText(name, value, limit) {
    if (typeof value !== "string" || value === "") {
      throw new Invalid(`${name} must be a non-empty string of at most ${limit} bytes, got ${kindOf(value)}`);
    }
    const bytes = byteLength(value);
    if (bytes > limit) throw new Invalid(`${name} must be at most ${limit} bytes, got ${bytes}`);
    return value;
  }
  function requireConferenceID(value) {
    return requireText("conferenceID", value, 256);
  }
  function requireMember(name, members, value) {
    if (isMember(members, value)) return value;
    const came = typeof value === "string" ? "an unknown value" : kindOf(value);
    throw new Invalid(`${name} must be one of ${Object.keys(members).join(", ")}, got ${came}`);
  }
  function requireUserID(name, value, notes = []) {
    if (!isObject(value)) return requireText(name, value, 256);
    const aliasName = requireName(`${name}.aliasName`, value.aliasName);
    if (value.userName === void 0 || value.userName === null || value.userName === "") {
      notes.push(`${name}.userName is missing, aliasName was taken`);
      return { userName: aliasName, aliasName };
    }
    return { userName: requireName(`${name}.userName`, value.userName), aliasName };
  }
  function requireName(name, value) {
    const text2 = requireText(name, value, 512);
    const chars = Array.from(text2).length;
    if (chars > 128) throw new Invalid(`${name} must be at most 128 characters, got ${chars}`);
    return text2;
  }
  function sameUser(a, b) {
    return JSON.stringify(a) === JSON.stringify(b);
  }
  function requireSSRC(value) {
    const ssrc = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value;
    if (typeof ssrc === "number" && Number.isInteger(ssrc) && ssrc >= 0 && ssrc < 2 ** 32) return ssrc;
    throw new Invalid(`ssrc must be an integer from 0 to 4294967295 or its decimal string, got ${kindOf(value)}`);
  }
  function requireData(name, value, limit = 4096) {
    if (value === void 0 || value === null) return {};
    if (!isObject(value)) throw new Invalid(`${name} must be an object, got ${kindOf(value)}`);
    let json2;
    try {
      json2 = JSON.stringify(value);
    } catch {
      throw new Invalid(`${name} cannot be written as JSON`);
    }
    const bytes = byteLength(json2 ?? "");
    if (bytes > limit) throw new Invalid(`${name} must be at most ${limit} bytes of JSON, got ${bytes}`);
    const data = JSON.parse(json2 ?? "{}");
    return isObject(data) ? data : {};
  }
  function requireScore(name, value, optional) {
    if (optional && (value === void 0 || value === null)) return null;
    const score = typeof value === "string" && /^[1-5]$/.test(value) ? Number(value) : value;
    if (typeof score === "number" && Number.isInteger(score) && score >= 1 && score <= 5) return score;
    throw new Invalid(`${name} must be an integer from 1 to 5, got ${typeof value === "number" ? "another number" : kindOf(value)}`);
  }

  // src/config.ts
  var additionalKeys = [
    "customerID",
    "tenantID",
    "productName",
    "meetingsName",
    "serverName",
    "pbxID",
    "pbxExtensionID",
    "fqExtensionID",
    "sessionID"
  ];
  function readConfig(params, notes) {
    const config = {
      disableBeforeUnloadHandler: false,
      disablePrecalltest: false,
      collectLegacyStats: true,
      collectIP: true
    };
    if (params === void 0 || params === null) return config;
    if (!isObject(params)) {
      notes.push(`configParams must be an object, got ${kindOf(params)}: ignored`);
      return config;
    }
    for (const [key, value] of Object.entries(params)) {
      if (value !== void 0 && value !== null) readKey(config, key, value, notes);
    }
    return config;
  }
  function readKey(config, key, value, notes) {
    switch (key) {
      case "disableBeforeUnloadHandler":
      case "disablePrecalltest":
      case "collectLegacyStats":
      case "collectIP":
        if (typeof value === "boolean") config[key] = value;
        else dropped(key, "a boolean", value, notes);
        return;
      case "applicationVersion":
      case "siteID":
      case "backendUrl": {
        const text2 = readText(key, value, notes);
        if (text2 !== null) config[key] = text2;
        return;
      }
      case "additionalIDs":
        if (isObject(value)) config.additionalIDs = readAdditional(value, notes);
        else dropped(key, "an object", value, notes);
        return;
      default:
        notes.push(`${key} is unknown and ignored`);
    }
  }
  function readAdditional(value, notes) {
    const ids = {};
    for (const [key, id] of Object.entries(value)) {
      const name = `additionalIDs.${key}`;
      if (!additionalKeys.includes(key)) notes.push(`${name} is unknown and ignored`);
      else if (id !== void 0 && id !== null) {
        const text2 = readText(name, id, notes);
        if (text2 !== null) ids[key] = text2;
      }
    }
    return ids;
  }
  function readText(name, value, notes) {
    if (typeof value !== "string") {
      dropped(name, "a string", value, notes);
      return null;
    }
    if (name === "backendUrl") return value;
    const cut = name === "applicationVersion" ? cutChars(value, 30) : cutBytes(value, 256);
    if (cut !== value) notes.push(`${name} was cut to ${name === "applicationVersion" ? "30 characters" : `${byteLength(cut)} bytes`}`);
    return cut;
  }
  function dropped(name, wanted, value, notes) {
    notes.push(`${name} must be ${wanted}, got ${kindOf(value)}: ignored`);
  }

  // src/instance.ts
  var Instance = class {
    constructor() {
      this.session = null;
      this.initCallback = null;
      this.statsCallback = null;
      this.wifi = null;
      this.#subscribers = /* @__PURE__ */ new Map();
    }
    #subscribers;
    /** Registers one more callback of on(). */
    subscribe(name, callback) {
      this.#subscribers.set(name, [...this.#subscribers.get(name) ?? [], callback]);
    }
    /** Calls the callbacks of on(), later. */
    emit(name, ...args) {
      for (const callback of this.#subscribers.get(name) ?? []) later(callback, ...args);
    }
  };
  function findScope(session2, pc, conferenceID, nullAllowed) {
    if (pc === null || pc === void 0) {
      if (nullAllowed) return { conferenceID };
      throw new Invalid(`pc must be a PeerConnection, got ${kindOf(pc)}`);
    }
    const fabric = session2.match(pc, conferenceID);
    if (fabric) return { fabric };
    if (session2.knows(conferenceID)) return { conferenceID };
    throw new Invalid("no fabric of this conferenceID is monitored");
  }

  // src/sdp.ts
  function sourceInfo(sdp, ssrc) {
    for (const section of sdp.split(/^m=/m)) {
      const own = (attribute) => new RegExp(`^a=ssrc:${ssrc} ${attribute}:(.*)$`, "m").exec(section)?.[1]?.trim();
      const cname = own("cname");
      const msid = own("msid") ?? (cname && /^a=msid:(.*)$/m.exec(section)?.[1]?.trim());
      if (cname || msid) return { cname: cname ?? null, msid: msid || null };
    }
    return { cname: null, msid: null };
  }
  function iceUfrag(sdp) {
    return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1] ?? null;
  }
  function sdpText(description) {
    const sdp = typeof description === "object" && description !== null ? description.sdp : description;
    return typeof sdp === "string" ? sdp : "";
  }
  function withoutAddresses(sdp) {
    return sdp.replace(/^((?:a=)?candidate:\S+ \d+ \S+ \d+ )\S+( \d+ typ (?!relay))/gm, "$10.0.0.0$2").replace(/ raddr \S+ rport \d+/g, " raddr 0.0.0.0 rport 0").replace(/^(o=\S+ \S+ \S+ IN IP[46] |c=IN IP[46] |a=rtcp:\d+ IN IP[46] )\S+/gm, "$10.0.0.0");
  }

  // src/report.ts
  var maxLogBytes = 20480;
  function reportError(instance, args) {
    const [pc, conferenceID, functionName, error, localSDP, remoteSDP] = args;
    const conference = requireConferenceID(conferenceID);
    const name = requireMember("wrtcFuncName", webRTCFunctions, functionName);
    const { session: session2 } = instance;
    if (!session2) throw new Invalid("initialize() must be called first");
    const scope = findScope(session2, pc, conference, true);
    const isLog = name === "applicationLog" || name === "applicationError";
    const taken = isLog ? session2.record("log", scope, { text: logText(error) }) : session2.record("error", scope, {
      function: name,
      ...describe(error),
      ...sdpMember("localSDP", localSDP, !session2.config.collectIP),
      ...sdpMember("remoteSDP", remoteSDP, false)
    });
    return taken ? success() : failure("the report would be larger than 65536 bytes");
  }
  function describe(error) {
    const { name, message } = isObject(error) ? error : {};
    const said = message ?? (isObject(error) && name === void 0 ? json(error) : isObject(error) ? "" : error ?? "");
    return { name: cutBytes(String(name ?? ""), 128), message: cutBytes(String(said), 1024) };
  }
  function logText(log) {
    const text2 = log instanceof Error ? `${log.name}: ${log.message}` : typeof log === "string" ? log : json(log ?? "");
    const kept = cutBytes(text2, maxLogBytes);
    if (kept !== text2) console.warn(`qos: an application log was cut to ${maxLogBytes} bytes`);
    return kept;
  }
  function json(value) {
    try {
      return JSON.stringify(value) ?? "";
    } catch {
      return String(value);
    }
  }
  function sdpMember(name, description, hideAddresses) {
    const sdp = sdpText(description);
    return sdp && { [name]: cutBytes(hideAddresses ? withoutAddresses(sdp) : sdp, 16384) } || {};
  }

  // src/scram.ts
  var encoder2 = new TextEncoder();
  function clientFirstBare(appID, nonce) {
    return `n=${appID.replace(/=/g, "=3D").replace(/,/g, "=2C")},r=${nonce}`;
  }
  function makeNonce() {
    return toBase64(crypto.getRandomValues(new Uint8Array(18)));
  }
  async function prove(secret, firstBare, serverFirst) {
    const match = /^r=([^,]+),s=([^,]+),i=(\d+)/.exec(serverFirst);
    const [, nonce = "", salt = "", count = ""] = match ?? [];
    const ownNonce = firstBare.slice(firstBare.lastIndexOf(",r=") + 3);
    if (!nonce.startsWith(ownNonce) || nonce === ownNonce) throw new Error("the server did not answer our nonce");
    const iterations = Number(count);
    if (iterations < 4096 || iterations > 6e5) throw new Error(`iteration count ${iterations} is outside 4096 to 600000`);
    const salted = await pbkdf2(secret.normalize("NFKC"), fromBase64(salt), iterations);
    const clientKey = await hmac(salted, "Client Key");
    const storedKey = new Uint8Array(await crypto.subtle.digest("SHA-256", clientKey));
    const withoutProof = `c=biws,r=${nonce}`;
    const message = `${firstBare},${serverFirst},${withoutProof}`;
    const signature = await hmac(storedKey, message);
    const proof = clientKey.map((byte, i) => byte ^ (signature[i] ?? 0));
    const serverSignature = await hmac(await hmac(salted, "Server Key"), message);
    return { final: `${withoutProof},p=${toBase64(proof)}`, expected: `v=${toBase64(serverSignature)}` };
  }
  async function pbkdf2(password, salt, iterations) {
    const key = await crypto.subtle.importKey("raw", encoder2.encode(password), "PBKDF2", false, ["deriveBits"]);
    return new Uint8Array(await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations }, key, 256));
  }
  async function hmac(keyBytes, message) {
    const key = await crypto.subtle.importKey("raw", keyBytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder2.encode(message)));
  }
  function toBase64(bytes) {
    return btoa(String.fromCharCode(...bytes));
  }
  function fromBase64(text2) {
    return Uint8Array.from(atob(text2), (char) => char.charCodeAt(0));
  }

  // src/auth.ts
  var Refusal = class extends Error {
    constructor(csError, message, retry, retryAfterMs = 0, code = "") {
      super(message);
      this.csError = csError;
      this.retry = retry;
      this.retryAfterMs = retryAfterMs;
      this.code = code;
    }
  };
  var generatorLimitMs = 1e4;
  function login(env, who, renew) {
    const { secret } = who;
    return typeof secret === "function" ? jwtLogin(env, who, secret, renew) : scramLogin(env, who, secret);
  }
  async function scramLogin(env, { appID, userID }, secret) {
    if (!globalThis.crypto?.subtle) {
      throw new Refusal("authError", "this page has no WebCrypto (it needs https or localhost), an AppSecret cannot be used", false);
    }
    const bare = clientFirstBare(appID, makeNonce());
    const first = await exchange(env, { type: "scram-first", appID, userID, scram: `n,,${bare}` });
    const proof = await prove(secret, bare, String(first.answer.scram)).catch((error) => {
      throw new Refusal("authError", text(error), false);
    });
    const last = await exchange(env, { type: "scram-final", state: first.answer.state, scram: proof.final });
    if (last.answer.scram !== proof.expected) {
      throw new Refusal("authError", "the server could not prove that it knows the AppSecret", false, 0, "auth_failed");
    }
    return toToken(last);
  }
  async function jwtLogin(env, { appID, userID }, generator, renew) {
    const jwt = await generate(env, generator, renew);
    try {
      return toToken(await exchange(env, { type: "jwt", appID, userID, jwt }));
    } catch (error) {
      if (renew || !(error instanceof Refusal) || error.code !== "auth_failed") throw error;
      return jwtLogin(env, { appID, userID, secret: generator }, generator, true);
    }
  }
  function generate(env, generator, forceNew) {
    return new Promise((resolve, reject) => {
      const fail = (reason) => new Refusal("tokenGenerationError", reason, false);
      const timer = setTimeout(() => env.late(fail("the token generator gave no answer within 10 s")), generatorLimitMs);
      const answer = (error, token) => {
        clearTimeout(timer);
        if (error) reject(fail(text(error)));
        else if (typeof token !== "string" || !token) reject(fail("the token generator gave no token"));
        else resolve(token);
      };
      try {
        const made = generator(forceNew, answer);
        if (typeof made === "function") made(forceNew, answer);
      } catch (error) {
        answer(error || "the token generator threw");
      }
    });
  }
  function toToken({ answer, sent: sent2, received }) {
    if (typeof answer.token !== "string") throw new Refusal("httpError", "the answer has no token", true);
    return { token: answer.token, expiresInMs: Number(answer.expiresInMs) || 72e5, at: Number(answer.at), sent: sent2, received };
  }
  async function exchange(env, message) {
    const sent2 = env.mono();
    const { status, body } = await post(env.url, JSON.stringify(message));
    const received = env.mono();
    const answer = parseLine(body);
    if (status === 200 && answer) return { answer, sent: sent2, received };
    throw refused(status, answer);
  }
  async function post(url, body, keepalive = false) {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "text/plain; charset=utf-8" },
        credentials: "omit",
        body,
        keepalive
      });
      return { status: response.status, body: await response.text() };
    } catch (error) {
      throw new Refusal("httpError", text(error), true);
    }
  }
  function parseLine(line) {
    try {
      const value = JSON.parse(String(line));
      return isObject(value) ? value : null;
    } catch {
      return null;
    }
  }
  function refused(status, answer) {
    const csError = answer?.csError ?? "httpError";
    const message = typeof answer?.message === "string" ? answer.message : `HTTP status ${status}`;
    const retry = status === 429 || status >= 500 || answer?.code === "token_expired";
    return new Refusal(csError, message, retry || !answer, Number(answer?.retryAfterMs) || 0, String(answer?.code ?? ""));
  }

  // src/clock.ts
  var maxPartMs = 1e3;
  var keptSamples = 5;
  function createClock(clocks) {
    let parted = clocks.wall() - clocks.mono();
    let offset = parted;
    let samples = [];
    const shifts = [0];
    const epoch = () => shifts.length - 1;
    const synced = () => {
      const now = clocks.wall() - clocks.mono();
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
      sample(sent2, received, serverAt) {
        const wasSynced = synced();
        samples.push({ rtt: received - sent2, offset: serverAt - (sent2 + received) / 2 });
        samples = samples.slice(-keptSamples);
        const best = samples.reduce((a, b) => b.rtt < a.rtt ? b : a);
        if (!wasSynced) {
          shifts[epoch()] = best.offset - offset;
          shifts.push(0);
        }
        offset = best.offset;
        parted = clocks.wall() - clocks.mono();
      }
    };
  }
  var pageClocks = {
    wall: () => Date.now(),
    mono: () => performance.now()
  };

  // src/lifecycle.ts
  var watched = ["iceconnectionstatechange", "connectionstatechange", "icegatheringstatechange", "signalingstatechange"];
  function isConnected(pc) {
    const { connectionState, iceConnectionState } = pc;
    if (connectionState !== void 0) return connectionState === "connected";
    return iceConnectionState === "connected" || iceConnectionState === "completed";
  }
  function watchLifecycle(object, mono, events) {
    const pc = object;
    const started = mono();
    let alreadyConnected = isConnected(pc);
    let remoteSet = false;
    let established = false;
    let failed = false;
    let gathering = null;
    let gathered = null;
    let checking = null;
    let disrupted = null;
    let ufrag = null;
    let settled;
    const ice = () => pc.iceConnectionState ?? pc.connectionState ?? "";
    const hasFailed = () => ice() === "failed" || pc.connectionState === "failed";
    function negotiation() {
      if (!remoteSet && pc.remoteDescription) {
        remoteSet = true;
        events.remoteDescriptionSet();
      }
      if (pc.signalingState !== "stable" || !pc.localDescription || settled === sdpText(pc.localDescription)) return;
      settled = sdpText(pc.localDescription);
      const now = iceUfrag(String(settled));
      if (ufrag && now && now !== ufrag) events.iceRestarted();
      ufrag = now ?? ufrag;
      events.negotiated();
    }
    function connection() {
      const now = mono();
      if (pc.iceGatheringState !== "new") gathering ??= now;
      if (pc.iceGatheringState === "complete") gathered ??= now;
      if (ice() === "checking") checking ??= now;
      if (established) disruption(now);
      else if (isConnected(pc)) {
        established = true;
        events.connected(alreadyConnected ? { setupMs: null, gatheringMs: null, connectivityMs: null } : times(now));
      } else if (hasFailed() && !failed) {
        failed = true;
        events.setupFailed(stage());
      }
      alreadyConnected = false;
    }
    function times(now) {
      const since = (start, end) => start === null ? null : Math.round(end - start);
      return {
        setupMs: Math.round(now - started),
        // What was still being gathered when the path stood did not delay it.
        gatheringMs: since(gathering, Math.min(gathered ?? now, now)),
        connectivityMs: since(checking, now)
      };
    }
    function disruption(now) {
      const broken = ice() === "disconnected" || hasFailed();
      if (broken && disrupted === null) {
        disrupted = now;
        events.disrupted(hasFailed() ? "failed" : "disconnected");
      } else if (disrupted !== null && !broken && isConnected(pc)) {
        events.recovered(Math.round(now - disrupted));
        disrupted = null;
      }
    }
    function stage() {
      if (!pc.remoteDescription) return "noRemoteDescription";
      const state = ice();
      if (state === "connected" || state === "completed") return "dtls";
      return state === "new" && checking === null ? "gathering" : "connectivity";
    }
    function update() {
      try {
        if (pc.signalingState === "closed" || pc.connectionState === "closed" || pc.iceConnectionState === "closed") events.closed();
        else {
          negotiation();
          connection();
        }
      } catch {
      }
    }
    for (const type of watched) pc.addEventListener?.(type, update);
    return {
      update,
      stage,
      state: () => !established ? "initialising" : disrupted === null ? "established" : "disrupted",
      stop() {
        for (const type of watched) pc.removeEventListener?.(type, update);
      }
    };
  }

  // src/stats/columns.ts
  var sets = [
    set(1, "inbound-rtp", "audio", "ssrc codec bytes packets packetsLost packetsDiscarded fecPackets jitterMs jitterBufferDelayMs rttMs samples concealedSamples silentConcealedSamples concealmentEvents audioLevel"),
    set(2, "inbound-rtp", "video", "ssrc codec bytes packets packetsLost jitterMs jitterBufferDelayMs rttMs frames framesDecoded framesDropped keyFrames width height fps harmonicFps freezes freezeMs freezes60s pauses pauseMs decodeMs qp plis firs nacks retransmittedPackets displayedPixels"),
    set(3, "outbound-rtp", "audio", "ssrc codec bytes packets rttMs audioLevel targetBitrateBps nacks retransmittedPackets remotePacketsLost remoteLossFraction remoteJitterMs"),
    set(4, "outbound-rtp", "video", "ssrc codec rid bytes packets rttMs frames framesEncoded keyFrames width height fps encodeMs qp plis firs nacks retransmittedPackets retransmittedBytes targetBitrateBps remotePacketsLost remoteLossFraction remoteJitterMs limitation cpuLimitedMs bandwidthLimitedMs displayedPixels"),
    set(5, "candidate-pair", void 0, "bytesSent bytesReceived rttMs availableOutgoingBps")
  ];
  function set(number2, statsType, mediaType, names) {
    return { set: number2, statsType, ...mediaType && { mediaType }, names: names.split(" ") };
  }
  var pairSet = 5;
  function streamSet(statsType, mediaType) {
    return (statsType === "inbound-rtp" ? 1 : 3) + (mediaType === "video" ? 1 : 0);
  }
  function columnsLine(number2) {
    return JSON.stringify({ type: "columns", ...sets[number2 - 1] });
  }
  function row(number2, measures) {
    return [number2, ...(sets[number2 - 1]?.names ?? []).map((name) => measures[name] ?? null)];
  }

  // src/stats/normalise.ts
  var none = {};
  function num(value) {
    return typeof value === "number" && Number.isFinite(value) ? value : null;
  }
  function str(value) {
    return typeof value === "string" && value !== "" ? value : null;
  }
  function normalise(reports) {
    const byId = /* @__PURE__ */ new Map();
    const remotes = /* @__PURE__ */ new Map();
    for (const report of reports) {
      byId.set(report.id, report);
      if (report.type === "remote-inbound-rtp" || report.type === "remote-outbound-rtp") {
        remotes.set(`${report.type} ${report.ssrc}`, report);
      }
    }
    const snapshot = { streams: /* @__PURE__ */ new Map(), pairs: /* @__PURE__ */ new Map() };
    for (const report of byId.values()) {
      if (report.type === "inbound-rtp" || report.type === "outbound-rtp") {
        const stream2 = streamOf(report, report.type, byId, remotes);
        if (stream2) snapshot.streams.set(stream2.key, stream2);
      }
    }
    for (const pair2 of selectedPairs(byId)) {
      snapshot.pairs.set(String(pair2.transportId ?? ""), {
        id: String(pair2.id),
        pair: pair2,
        local: byId.get(pair2.localCandidateId) ?? none,
        remote: byId.get(pair2.remoteCandidateId) ?? none
      });
    }
    return snapshot;
  }
  function streamOf(rtp, statsType, byId, remotes) {
    const mediaType = rtp.kind ?? rtp.mediaType;
    const ssrc = num(rtp.ssrc);
    if (ssrc === null || mediaType !== "audio" && mediaType !== "video") return null;
    const remoteType = statsType === "inbound-rtp" ? "remote-outbound-rtp" : "remote-inbound-rtp";
    return {
      key: `${statsType} ${ssrc}`,
      statsType,
      mediaType,
      ssrc,
      codec: str(byId.get(rtp.codecId)?.mimeType)?.split("/")[1] ?? null,
      rtp,
      remote: byId.get(rtp.remoteId) ?? remotes.get(`${remoteType} ${ssrc}`) ?? none,
      source: byId.get(rtp.mediaSourceId) ?? none
    };
  }
  function selectedPairs(byId) {
    const all = [...byId.values()];
    const selected = all.filter((report) => report.type === "transport").map((transport) => byId.get(transport.selectedCandidatePairId)).filter((pair3) => pair3 !== void 0);
    if (selected.length) return selected;
    const pairs = all.filter((report) => report.type === "candidate-pair");
    const pair2 = pairs.find((p) => p.selected === true) ?? pairs.find((p) => p.nominated === true && p.state === "succeeded");
    return pair2 ? [pair2] : [];
  }

  // src/stats/interval.ts
  var inboundCounters = {
    bytes: "bytesReceived",
    packets: "packetsReceived",
    packetsDiscarded: "packetsDiscarded",
    fecPackets: "fecPacketsReceived",
    samples: "totalSamplesReceived",
    concealedSamples: "concealedSamples",
    silentConcealedSamples: "silentConcealedSamples",
    concealmentEvents: "concealmentEvents",
    frames: "framesReceived",
    framesDecoded: "framesDecoded",
    framesDropped: "framesDropped",
    keyFrames: "keyFramesDecoded",
    freezes: "freezeCount",
    pauses: "pauseCount",
    plis: "pliCount",
    firs: "firCount",
    nacks: "nackCount",
    retransmittedPackets: "retransmittedPacketsReceived"
  };
  var outboundCounters = {
    bytes: "bytesSent",
    packets: "packetsSent",
    frames: "framesSent",
    framesEncoded: "framesEncoded",
    keyFrames: "keyFramesEncoded",
    plis: "pliCount",
    firs: "firCount",
    nacks: "nackCount",
    retransmittedPackets: "retransmittedPacketsSent",
    retransmittedBytes: "retransmittedBytesSent"
  };
  function round(value, decimals) {
    const factor = 10 ** decimals;
    return value === null ? null : Math.round(value * factor) / factor;
  }
  function increase(before, after) {
    const now = num(after);
    if (now === null) return null;
    const then = num(before) ?? 0;
    return now < then ? now : now - then;
  }
  function ratio(part, whole) {
    return part === null || !whole ? null : part / whole;
  }
  var inMs = (seconds2) => round(seconds2 === null ? null : Math.max(0, seconds2) * 1e3, 1);
  function reader(before, after, counter) {
    const restarted = (num(after[counter]) ?? 0) < (num(before[counter]) ?? 0);
    const base = restarted ? {} : before;
    return {
      base,
      by: (field) => increase(base[field], after[field]),
      ms: (field) => inMs(increase(base[field], after[field]))
    };
  }
  function counters(table, by) {
    return Object.fromEntries(Object.entries(table).map(([name, field]) => [name, by(field)]));
  }
  function lossBetween(before, after) {
    const now = num(after.packetsLost);
    return now === null ? null : now - (num(before.packetsLost) ?? 0);
  }
  function measureStream(before, after, ms, pairRttMs) {
    const measures = after.statsType === "inbound-rtp" ? inbound(before, after, ms) : outbound(before, after, ms);
    return { ...measures, rttMs: rttOf(before.remote, after.remote) ?? pairRttMs };
  }
  function inbound(before, after, ms) {
    const { rtp } = after;
    const { base, by, ms: time } = reader(before.rtp, rtp, "packetsReceived");
    const video = after.mediaType === "video";
    return {
      ssrc: after.ssrc,
      codec: after.codec,
      ...counters(inboundCounters, by),
      packetsLost: lossBetween(base, rtp),
      jitterMs: inMs(num(rtp.jitter)),
      jitterBufferDelayMs: inMs(ratio(by("jitterBufferDelay"), by("jitterBufferEmittedCount"))),
      audioLevel: round(num(rtp.audioLevel), 4),
      width: num(rtp.frameWidth),
      height: num(rtp.frameHeight),
      fps: video ? rate(by("framesDecoded"), ms) : null,
      harmonicFps: round(ratio(by("totalInterFrameDelay"), by("totalSquaredInterFrameDelay")), 2),
      freezeMs: time("totalFreezesDuration"),
      pauseMs: time("totalPausesDuration"),
      decodeMs: time("totalDecodeTime"),
      qp: round(ratio(by("qpSum"), by("framesDecoded")), 1)
    };
  }
  function outbound(before, after, ms) {
    const { rtp, remote } = after;
    const { base, by, ms: time } = reader(before.rtp, rtp, "packetsSent");
    const limited = (why) => inMs(increase(durations(base)?.[why], durations(rtp)?.[why]));
    return {
      ssrc: after.ssrc,
      codec: after.codec,
      rid: str(rtp.rid),
      ...counters(outboundCounters, by),
      audioLevel: round(num(after.source.audioLevel), 4),
      width: num(rtp.frameWidth),
      height: num(rtp.frameHeight),
      fps: after.mediaType === "video" ? rate(by("framesSent") ?? by("framesEncoded"), ms) : null,
      encodeMs: time("totalEncodeTime"),
      qp: round(ratio(by("qpSum"), by("framesEncoded")), 1),
      targetBitrateBps: round(num(rtp.targetBitrate), 0),
      remotePacketsLost: lossBetween(base === before.rtp ? before.remote : {}, remote),
      remoteLossFraction: round(num(remote.fractionLost), 4),
      remoteJitterMs: inMs(num(remote.jitter)),
      limitation: str(rtp.qualityLimitationReason),
      cpuLimitedMs: limited("cpu"),
      bandwidthLimitedMs: limited("bandwidth")
    };
  }
  function durations(rtp) {
    return rtp.qualityLimitationDurations;
  }
  function rate(count, ms) {
    return round(count === null ? null : count * 1e3 / ms, 2);
  }
  function rttOf(before, after) {
    const { by } = reader(before, after, "roundTripTimeMeasurements");
    const mean2 = ratio(by("totalRoundTripTime"), by("roundTripTimeMeasurements"));
    return inMs(mean2 ?? num(after.roundTripTime));
  }
  function measurePair(before, after) {
    const { pair: pair2 } = after;
    const { by } = reader(before?.id === after.id ? before.pair : {}, pair2, "responsesReceived");
    const mean2 = ratio(by("totalRoundTripTime"), by("responsesReceived"));
    return {
      bytesSent: by("bytesSent"),
      bytesReceived: by("bytesReceived"),
      rttMs: inMs(mean2 ?? num(pair2.currentRoundTripTime)),
      availableOutgoingBps: round(num(pair2.availableOutgoingBitrate), 0)
    };
  }
  function measureRemoteSender(before, after) {
    const { by } = reader(before, after, "packetsSent");
    return { bytes: by("bytesSent"), packets: by("packetsSent") };
  }

  // src/stats/monitor.ts
  var freezeWindowMs = 6e4;
  var maxRows = 200;
  var sameIntervalMs = 100;
  function createMonitor(startMs) {
    let known = /* @__PURE__ */ new Map();
    let pairs = /* @__PURE__ */ new Map();
    let lastMs = startMs;
    function adoptNew(snapshot, atMs) {
      const added = [...snapshot.streams.values()].filter((stream2) => !known.has(stream2.key));
      for (const stream2 of added) {
        known.set(stream2.key, { stream: stream2, atMs, freezes: [], jitter: { sum: 0, count: 0 }, rtt: { sum: 0, count: 0 } });
      }
      return added;
    }
    function notePairs(snapshot, keep) {
      const changed = [...snapshot.pairs].filter(([transport, pair2]) => {
        const before = pairs.get(transport);
        return before && before.id !== pair2.id;
      });
      const next = keep ? [...snapshot.pairs].map(([t, p]) => [t, pairs.get(t)?.id === p.id ? pairs.get(t) : p]) : snapshot.pairs;
      if (snapshot.pairs.size) pairs = new Map(next);
      return changed.map(([, pair2]) => pair2);
    }
    function measure(reports, atMs, areaOf) {
      const snapshot = normalise(reports);
      const frameMs = span(lastMs, atMs);
      const frame = new Groups(frameMs);
      let pairRttMs = null;
      for (const [transport, pair2] of snapshot.pairs) {
        const measures = measurePair(pairs.get(transport), pair2);
        pairRttMs ??= num(measures.rttMs);
        frame.add(frameMs, pairSet, measures);
      }
      const intervals = [];
      const next = /* @__PURE__ */ new Map();
      for (const stream2 of snapshot.streams.values()) {
        const before = known.get(stream2.key);
        if (!before) continue;
        const interval = advance(before, stream2, atMs, pairRttMs, areaOf);
        next.set(stream2.key, before);
        if (isIdle(stream2)) continue;
        intervals.push(interval);
        frame.add(interval.ms, streamSet(stream2.statsType, stream2.mediaType), interval.measures);
      }
      known = next;
      lastMs = atMs;
      const changedPairs = notePairs(snapshot, false);
      return { intervals, groups: frame.list, added: adoptNew(snapshot, atMs), changedPairs };
    }
    return {
      measure,
      adopt(reports, atMs) {
        const snapshot = normalise(reports);
        return { intervals: [], groups: [], added: adoptNew(snapshot, atMs), changedPairs: notePairs(snapshot, true) };
      },
      begin(atMs) {
        lastMs = atMs;
      },
      pair: () => pairs.values().next().value,
      has: (ssrc) => [...known.values()].some((k) => k.stream.ssrc === ssrc)
    };
  }
  function span(fromMs, toMs) {
    return Math.min(6e5, Math.max(1, Math.round(toMs - fromMs)));
  }
  function isIdle({ rtp }) {
    return !(num(rtp.packetsReceived) ?? num(rtp.packetsSent));
  }
  function advance(known, stream2, atMs, pairRttMs, areaOf) {
    const ms = span(known.atMs, atMs);
    const measures = { ...measureStream(known.stream, stream2, ms, pairRttMs) };
    if (num(measures.freezes) !== null) {
      known.freezes.push({ atMs, count: num(measures.freezes) ?? 0 });
      known.freezes = known.freezes.filter((f) => atMs - f.atMs < freezeWindowMs);
      measures.freezes60s = known.freezes.reduce((sum, f) => sum + f.count, 0);
    }
    measures.displayedPixels = stream2.mediaType === "video" ? areaOf(stream2.ssrc) : null;
    const sender = measureRemoteSender(known.stream.remote, stream2.remote);
    known.stream = stream2;
    known.atMs = atMs;
    return {
      stream: stream2,
      ms,
      measures,
      sender,
      meanJitterMs: mean(known.jitter, num(measures.jitterMs) ?? num(measures.remoteJitterMs)),
      meanRttMs: mean(known.rtt, num(measures.rttMs))
    };
  }
  function mean(sum, value) {
    if (value !== null) {
      sum.sum += value;
      sum.count++;
    }
    return sum.count ? sum.sum / sum.count : null;
  }
  var Groups = class {
    constructor(frameMs) {
      this.list = [{ intervalMs: frameMs, sets: [], rows: [] }];
    }
    add(ms, set2, measures) {
      let group = this.list.find((g) => Math.abs(g.intervalMs - ms) <= sameIntervalMs && g.rows.length < maxRows);
      if (!group) {
        group = { intervalMs: ms, sets: [], rows: [] };
        this.list.push(group);
      }
      if (!group.sets.includes(set2)) group.sets.push(set2);
      group.rows.push(row(set2, measures));
    }
  };

  // src/stats/legacy.ts
  function fromLegacy(response) {
    const reports = response.result();
    return reports.flatMap((report) => {
      const values = Object.fromEntries(report.names().map((name) => [name, report.stat(name)]));
      if (report.type === "ssrc") return stream(report.id, values);
      if (report.type === "googCandidatePair" && values.googActiveConnection === "true") return [pair(report.id, values)];
      return [];
    });
  }
  var number = (value) => value === void 0 || value === "" ? void 0 : Number(value);
  var seconds = (value) => value === void 0 ? void 0 : Number(value) / 1e3;
  var level = (value) => value === void 0 ? void 0 : Number(value) / 32767;
  function stream(id, v) {
    const inbound2 = v.packetsReceived !== void 0;
    const kind = v.mediaType ?? (v.audioInputLevel ?? v.audioOutputLevel ? "audio" : "video");
    const ssrc = number(v.ssrc);
    const codec = { id: `${id} codec`, type: "codec", mimeType: `${kind}/${v.googCodecName}` };
    const common = { id, kind, ssrc, codecId: codec.id, trackIdentifier: v.googTrackId };
    if (inbound2) {
      const rtp2 = {
        ...common,
        type: "inbound-rtp",
        bytesReceived: number(v.bytesReceived),
        packetsReceived: number(v.packetsReceived),
        packetsLost: number(v.packetsLost),
        jitter: seconds(v.googJitterReceived),
        audioLevel: level(v.audioOutputLevel),
        framesDecoded: number(v.framesDecoded),
        frameWidth: number(v.googFrameWidthReceived),
        frameHeight: number(v.googFrameHeightReceived)
      };
      return [codec, rtp2];
    }
    const source = { id: `${id} source`, type: "media-source", audioLevel: level(v.audioInputLevel) };
    const rtp = {
      ...common,
      type: "outbound-rtp",
      mediaSourceId: source.id,
      bytesSent: number(v.bytesSent),
      packetsSent: number(v.packetsSent),
      framesEncoded: number(v.framesEncoded),
      frameWidth: number(v.googFrameWidthSent),
      frameHeight: number(v.googFrameHeightSent)
    };
    const remote = {
      id: `${id} remote`,
      type: "remote-inbound-rtp",
      ssrc,
      packetsLost: number(v.packetsLost),
      roundTripTime: seconds(v.googRtt),
      jitter: seconds(v.googJitterReceived)
    };
    return [codec, source, rtp, remote];
  }
  function pair(id, v) {
    return {
      id,
      type: "candidate-pair",
      selected: true,
      bytesSent: number(v.bytesSent),
      bytesReceived: number(v.bytesReceived),
      currentRoundTripTime: seconds(v.googRtt)
    };
  }

  // src/stats/read.ts
  var limitMs = 5e3;
  function readStats(pc, legacy) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs, null);
      const answer = (reports) => {
        clearTimeout(timer);
        resolve(reports);
      };
      const getStats = pc.getStats;
      const askLegacy = () => {
        if (!legacy) answer(null);
        else getStats.call(pc, (response) => answer(attempt(() => fromLegacy(response))));
      };
      try {
        const promise = getStats.call(pc);
        if (typeof promise?.then !== "function") askLegacy();
        else promise.then((reports) => answer(attempt(() => list(reports))), () => answer(null));
      } catch {
        if (attempt(() => (askLegacy(), true)) === null) answer(null);
      }
    });
  }
  function attempt(make) {
    try {
      return make();
    } catch {
      return null;
    }
  }
  function list(reports) {
    const all = [];
    const each = reports.forEach;
    if (typeof each === "function") each.call(reports, (report) => all.push(report));
    else if (isObject(reports)) all.push(...Object.values(reports));
    return all.filter(isObject);
  }

  // src/stats/quality.ts
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
    const lost = num(m.packetsLost);
    const expected = (num(m.packets) ?? 0) + (lost ?? 0);
    return lost === null || expected <= 0 ? null : Math.min(1, Math.max(0, lost / expected));
  }
  var equipment = 18;
  var robustness = 10;
  var packetAndCodecMs = 26.5;
  function audioMos(m) {
    const loss = lossOf(m);
    if (loss === null) return null;
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
  function view(intervals, identityOf, bounds) {
    const made = { mediaStreamTracks: [], streams: {} };
    for (const interval of intervals) {
      const identity = identityOf(interval);
      const own = ownReport(interval, identity, bounds);
      made.mediaStreamTracks.push(own);
      const remote = remoteReport(interval, own);
      if (remote) made.mediaStreamTracks.push(remote);
      made.streams[own.ssrc] = {
        reportType: interval.stream.statsType,
        ...interval.stream.statsType === "outbound-rtp" ? { rtt: own.rtt } : { fractionLoss: own.fractionLoss },
        bitrate: own.bitrate,
        quality: own.quality
      };
    }
    return made;
  }
  var kbps = (bytes, ms) => round(bytes === null ? null : bytes * 8 / ms, 2);
  var perSecond = (count, ms) => round(count === null ? null : count * 1e3 / ms, 2);
  function ownReport(interval, identity, bounds) {
    const { stream: stream2, ms, measures } = interval;
    const inbound2 = stream2.statsType === "inbound-rtp";
    return {
      ...identity,
      ...lossFields(inbound2 ? lossOf(measures) : null),
      statsType: stream2.statsType,
      ssrc: stream2.ssrc,
      mediaType: stream2.mediaType,
      bitrate: kbps(num(measures.bytes), ms),
      packetRate: perSecond(num(measures.packets), ms),
      jitter: num(measures.jitterMs),
      averageJitter: inbound2 ? round(interval.meanJitterMs, 1) : null,
      rtt: num(measures.rttMs),
      averageRTT: round(interval.meanRttMs, 1),
      quality: label(stream2.mediaType, measures, ms, bounds),
      audioInputLevel: inbound2 ? null : num(measures.audioLevel),
      audioOutputLevel: inbound2 ? num(measures.audioLevel) : null
    };
  }
  function lossFields(fraction) {
    return { fractionLoss: round(fraction, 4), packetLossPercentage: round(fraction === null ? null : fraction * 100, 2) };
  }
  function remoteReport(interval, own) {
    const { stream: stream2, ms, measures, sender } = interval;
    if (stream2.remote.type === void 0) return null;
    const empty = { ...own, ...lossFields(null), bitrate: null, packetRate: null, jitter: null, averageJitter: null, audioInputLevel: null, audioOutputLevel: null };
    if (stream2.statsType === "outbound-rtp") {
      return {
        ...empty,
        ...lossFields(num(measures.remoteLossFraction)),
        statsType: "remote-inbound-rtp",
        jitter: num(measures.remoteJitterMs),
        averageJitter: round(interval.meanJitterMs, 1)
      };
    }
    return {
      ...empty,
      statsType: "remote-outbound-rtp",
      bitrate: kbps(sender.bytes, ms),
      packetRate: perSecond(sender.packets, ms)
    };
  }

  // src/fabric.ts
  var pollMs = 1e3;
  var settleMs = 1e3;
  var lastReadingMs = 1e3;
  function createFabric(info, env, pcCallback) {
    const { pc } = info;
    const { clock } = env;
    const startedMs = clock.mono();
    const monitor = createMonitor(startedMs);
    const associations = /* @__PURE__ */ new Map();
    const sources = /* @__PURE__ */ new Map();
    const timers = /* @__PURE__ */ new Set();
    let remoteUserID = info.remoteUserID;
    let reading = false;
    let failure2 = null;
    let ending = null;
    let done = false;
    let failedBefore = false;
    let endStamp;
    function event(name, data = {}, stamp = clock.stamp(), notify) {
      const settle2 = notify ? { done: (err, msg) => later(notify, err, msg) } : {};
      return env.send({ type: "event", stamp, fabric: info.fabric, members: { fabric: info.fabric, event: name, data }, ...settle2 });
    }
    function after(ms, task) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        task();
      }, ms);
      timers.add(timer);
    }
    function clearTimers() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    }
    function schedule(delayMs) {
      after(delayMs, () => {
        schedule(env.intervalMs());
        interval();
      });
    }
    async function interval() {
      life.update();
      if (ending || reading) return;
      reading = true;
      const reports = await readStats(pc, env.legacyStats);
      reading = false;
      if (!ending) record(monitor.measure(reports ?? [], clock.mono(), areaOf), clock.stamp());
    }
    async function probe(found = () => void 0) {
      const reports = await readStats(pc, env.legacyStats);
      if (reports && !done) announce(monitor.adopt(reports, clock.mono()));
      found();
    }
    function announce(made) {
      for (const stream2 of made.added) streamAdded(stream2);
      for (const pair2 of made.changedPairs) event("selectedCandidatePairChange", candidates(pair2));
    }
    function record(made, stamp) {
      announce(made);
      for (const { intervalMs, rows, sets: sets2 } of made.groups) {
        if (!rows.length && made.groups.length > 1) continue;
        env.send({ type: "stats", stamp, fabric: info.fabric, sets: sets2, members: { fabric: info.fabric, intervalMs, rows } });
      }
      deliver(made.intervals);
    }
    function deliver(intervals) {
      env.deliver({
        connectionState: env.online() ? "online" : "offline",
        fabricState: done ? "terminated" : life.state(),
        conferenceURL: env.conferenceURL(info),
        conferenceID: info.conferenceID,
        ...view(intervals, identityOf, env.labelBounds())
      });
    }
    function identityOf({ stream: stream2 }) {
      const { cname = null, msid = null } = sources.get(stream2.key) ?? {};
      const own = associations.get(stream2.ssrc);
      const inbound2 = stream2.statsType === "inbound-rtp";
      return {
        remoteUserID: inbound2 && own?.userID || remoteUserID,
        userID: own?.userID ?? (inbound2 ? remoteUserID : env.localUserID()),
        cname,
        msid,
        usageLabel: own?.usageLabel ?? null,
        associatedVideoTag: own?.associatedVideoTag ?? null
      };
    }
    function streamAdded(stream2) {
      const inbound2 = stream2.statsType === "inbound-rtp";
      const descriptions = pc;
      const sdp = sdpText(inbound2 ? descriptions.remoteDescription : descriptions.localDescription);
      const source = sourceInfo(sdp, stream2.ssrc);
      sources.set(stream2.key, source);
      event("streamAdded", {
        ssrc: stream2.ssrc,
        statsType: stream2.statsType,
        mediaType: stream2.mediaType,
        codec: stream2.codec,
        ...source,
        trackIdentifier: str(stream2.rtp.trackIdentifier) ?? str(stream2.source.trackIdentifier)
      });
    }
    function areaOf(ssrc) {
      return displayedPixels(associations.get(ssrc)?.associatedVideoTag);
    }
    function connected(times) {
      const stamp = clock.stamp();
      clearTimers();
      monitor.begin(clock.mono());
      probe(() => event("fabricSetup", { ...times, ...candidates(monitor.pair()) }, stamp));
      after(settleMs, probe);
      schedule(firstDelay(env.intervalMs()));
      poll();
    }
    function poll() {
      after(pollMs, () => {
        poll();
        life.update();
      });
    }
    function end(reason, now = false) {
      if (done) return;
      const first = ending === null;
      ending ??= reason;
      endStamp ??= clock.stamp();
      if (first) {
        if (life.state() === "initialising" && !failedBefore) failure2 = life.stage();
        life.stop();
        clearTimers();
      }
      if (now || reason === "closed") finish();
      else if (first) lastReading(endStamp, clock.mono());
    }
    function lastReading(stamp, atMs) {
      after(lastReadingMs, finish);
      readStats(pc, env.legacyStats).then((reports) => {
        if (done) return;
        const made = reports && monitor.measure(reports, atMs, areaOf);
        finish(made?.intervals.length ? made : null, stamp);
      });
    }
    function finish(last = null, stamp = endStamp) {
      if (done) return;
      done = true;
      clearTimers();
      if (failure2) {
        const reason = ending === "closed" || ending === "pagehide" ? ending : "terminated";
        event("fabricSetupFailed", { stage: failure2, failureMs: Math.round(clock.mono() - startedMs), reason }, stamp);
      }
      if (last) record(last, stamp ?? clock.stamp());
      else deliver([]);
      event("fabricTerminated", { reason: ending }, stamp);
      env.ended(fabric);
    }
    const fabric = {
      info,
      event: (name, data, stamp) => event(name, data, stamp),
      associate: (ssrc, association) => associations.set(ssrc, association),
      hasStream: monitor.has,
      renameRemote(userID) {
        remoteUserID = userID;
      },
      end,
      ended: () => done || ending !== null
    };
    event("fabricAdded", { alreadyConnected: isConnected(pc) }, info.addedAt, pcCallback);
    const life = watchLifecycle(pc, clock.mono, {
      remoteDescriptionSet: () => event("remoteDescriptionSet"),
      connected,
      setupFailed(stage) {
        failedBefore = true;
        event("fabricSetupFailed", { stage, failureMs: Math.round(clock.mono() - startedMs), reason: "failed" });
        env.report("appConnectivityError", `connectivity checks failed for a PeerConnection to the conference ${info.conferenceID}`);
      },
      disrupted(iceConnectionState) {
        event("iceDisruptionStart", { iceConnectionState });
        env.report("appConnectivityError", `a PeerConnection to the conference ${info.conferenceID} is ${iceConnectionState}`);
      },
      recovered: (durationMs) => event("iceDisruptionEnd", { durationMs }),
      iceRestarted: () => event("iceRestart"),
      negotiated: () => after(settleMs, probe),
      closed: () => end("closed")
    });
    probe();
    schedule(firstDelay(env.intervalMs()));
    poll();
    life.update();
    return fabric;
  }
  function firstDelay(intervalMs) {
    return intervalMs * (0.5 + Math.random() / 2);
  }
  function candidates(pair2) {
    return {
      localCandidateType: str(pair2?.local.candidateType),
      remoteCandidateType: str(pair2?.remote.candidateType),
      relayProtocol: str(pair2?.local.relayProtocol)
    };
  }
  function displayedPixels(tag) {
    const element = typeof tag === "string" && typeof document === "object" ? document.getElementById(tag) : tag;
    const { clientWidth, clientHeight } = element ?? {};
    const width = num(clientWidth);
    const height = num(clientHeight);
    if (width === null || height === null) return null;
    return Math.round(width * height * (globalThis.devicePixelRatio || 1) ** 2);
  }

  // src/page.ts
  function watchPage(events, withPagehide) {
    if (typeof addEventListener !== "function") return () => void 0;
    const pagehide = (event) => events.hidden(event.persisted);
    const shown = () => {
      if (typeof document !== "object" || document.visibilityState !== "hidden") events.shown();
    };
    if (withPagehide) addEventListener("pagehide", pagehide);
    addEventListener("pageshow", shown);
    addEventListener("online", shown);
    if (typeof document === "object") document.addEventListener("visibilitychange", shown);
    return () => {
      removeEventListener("pagehide", pagehide);
      removeEventListener("pageshow", shown);
      removeEventListener("online", shown);
      if (typeof document === "object") document.removeEventListener("visibilitychange", shown);
    };
  }

  // src/queue.ts
  var maxFrameBytes = 65536;
  var defaults = { bytes: 1 << 20, ageMs: 2 * 36e5, windowBytes: 256 << 10 };
  var headBytes = 90;
  function createQueue(clock, limits = defaults) {
    const entries = [];
    let lastSeq = 0;
    let ackedSeq = 0;
    let cursor = 0;
    const sentCount = () => {
      const first = entries.findIndex((entry) => !entry.sent);
      return first < 0 ? entries.length : first;
    };
    const total = (part) => part.reduce((sum, entry) => sum + entry.bytes, 0);
    function drop(index) {
      const entry = entries[index];
      if (!entry) return;
      settle(entry, "failure", "dropped before it could be sent");
      const before = entries[index - 1];
      const after = entries[index + 1];
      const merged = [before, entry, after].filter((e) => e !== void 0 && !e.sent && (e === entry || e.lost));
      entries.splice(before && merged.includes(before) ? index - 1 : index, merged.length, skipOf(merged, clock));
    }
    function dropOldest() {
      const start = sentCount();
      const waiting = entries.slice(start);
      let index = waiting.findIndex((entry) => entry.isStats);
      if (index < 0) index = waiting.findIndex((entry) => !entry.lost);
      if (index < 0) return false;
      drop(start + index);
      return true;
    }
    function shrink(bytes) {
      while (total(entries.slice(sentCount())) > bytes && dropOldest()) ;
      return [...entries];
    }
    function enforceLimits() {
      const oldest = clock.stamp().ms - limits.ageMs;
      for (let i = sentCount(); i < entries.length && (entries[i]?.stamp.ms ?? oldest) < oldest; i++) {
        if (!entries[i]?.lost) drop(i--);
      }
      if (total(entries) > limits.bytes) shrink(limits.bytes - total(entries.slice(0, sentCount())));
    }
    return {
      push(frame) {
        const tail = JSON.stringify(frame.members).slice(1);
        const bytes = byteLength(tail) + headBytes;
        if (bytes > maxFrameBytes) return false;
        entries.push(entryOf(frame, ++lastSeq, tail, bytes, clock));
        enforceLimits();
        return true;
      },
      next(windowFrames) {
        const entry = entries[cursor];
        if (!entry || cursor >= windowFrames) return null;
        const inFlight = total(entries.slice(0, cursor));
        return cursor === 0 || inFlight + entry.bytes <= limits.windowBytes ? entry : null;
      },
      sent(entry) {
        entry.sent = true;
        cursor = entries.indexOf(entry) + 1;
      },
      rewind() {
        cursor = 0;
      },
      ack(seq) {
        while (entries[0]?.sent && entries[0].seq <= seq) {
          const entry = entries.shift();
          ackedSeq = entry.seq;
          cursor = Math.max(0, cursor - 1);
          settle(entry, "success", "");
        }
      },
      nack(seq, err, msg) {
        const entry = entries.find((e) => e.seq === seq);
        if (entry) settle(entry, err, msg);
      },
      acked: () => ackedSeq,
      unacked: () => cursor > 0,
      waiting: () => [...entries],
      shrink,
      giveUp(err, msg) {
        for (const entry of entries) settle(entry, err, msg);
      }
    };
  }
  function settle(entry, err, msg) {
    const { done } = entry;
    entry.done = void 0;
    done?.(err, msg);
  }
  function entryOf(frame, seq, tail, bytes, clock) {
    let text2 = "";
    return {
      seq,
      from: seq,
      stamp: frame.stamp,
      fabrics: frame.fabric ? [frame.fabric] : [],
      sets: frame.sets ?? [],
      isStats: frame.type === "stats",
      bytes,
      sent: false,
      done: frame.done,
      text() {
        if (text2 === "") {
          const conferenceAt = frame.conferenceAt ? `"conferenceAt":${clock.time(frame.conferenceAt)},` : "";
          text2 = `{"type":"${frame.type}","seq":${seq},"at":${clock.time(frame.stamp)},${conferenceAt}${tail}`;
        }
        return text2;
      }
    };
  }
  function skipOf(run, clock) {
    const lost = /* @__PURE__ */ new Map();
    for (const entry of run) {
      const own = entry.lost ?? [[entry.fabrics[0] ?? 0, { stats: +entry.isStats, events: +!entry.isStats }]];
      for (const [fabric, { stats, events }] of own) {
        const sum = lost.get(fabric) ?? { stats: 0, events: 0 };
        lost.set(fabric, { stats: sum.stats + stats, events: sum.events + events });
      }
    }
    const first = run[0];
    const last = run[run.length - 1];
    let text2 = "";
    return {
      seq: last.seq,
      from: first.from,
      stamp: last.stamp,
      fabrics: [...lost.keys()].filter((fabric) => fabric > 0),
      sets: [],
      isStats: false,
      bytes: headBytes + 48 * lost.size,
      sent: false,
      lost,
      text() {
        text2 ||= JSON.stringify({
          type: "skip",
          seq: last.seq,
          from: first.from,
          at: clock.time(last.stamp),
          lost: Array.from(lost, ([fabric, counts]) => ({ fabric, ...counts }))
        });
        return text2;
      }
    };
  }

  // src/transport.ts
  var maxBackoffMs = 6e4;
  var silenceMs = 3e4;
  var helloMs = 15e3;
  var bufferedLimit = 128 << 10;
  var refusalsBeforePost = 3;
  var socketAgainMs = 3e5;
  var postPauseMs = 5e3;
  function createTransport(env) {
    const { clock, queue } = env;
    let token = null;
    let renewing;
    let timer;
    let watchdog;
    let pause;
    let socket = null;
    let ready = false;
    let paused = false;
    let connecting = false;
    let stopped = true;
    let attempts = 0;
    let socketRefusals = 0;
    let postUntil = 0;
    let windowFrames = 256;
    let generation = 0;
    let helloSent = 0;
    let announced = /* @__PURE__ */ new Set();
    function retry(minMs = 0) {
      if (stopped) return;
      clearTimeout(timer);
      const backoff = Math.random() * Math.min(maxBackoffMs, 1e3 * 2 ** attempts++);
      timer = setTimeout(connect, Math.max(minMs, backoff));
    }
    function fail(error) {
      ready = false;
      if (error.code === "token_expired" || error.code === "auth_failed") token = null;
      env.report(error.csError, error.message);
      if (error.retry) retry(error.retryAfterMs);
      else {
        stopped = true;
        queue.giveUp(error.csError, error.message);
      }
    }
    async function connect() {
      if (stopped || connecting || socket) return;
      connecting = true;
      const mine = generation;
      try {
        if (!token) await renew(false);
        if (mine !== generation || stopped) return;
        if (clock.mono() < postUntil) await postAll();
        else openSocket();
      } catch (error) {
        if (mine === generation) fail(error instanceof Refusal ? error : new Refusal("httpError", text(error), true));
      } finally {
        if (mine === generation) connecting = false;
      }
    }
    async function renew(forceNew) {
      const mine = generation;
      const made = await env.login(forceNew, (late) => mine === generation && env.report(late.csError, late.message));
      if (mine !== generation) return;
      token = made;
      clock.sample(made.sent, made.received, made.at);
      env.report("success", "authenticated");
      clearTimeout(renewing);
      renewing = setTimeout(() => {
        renew(true).catch(() => {
          token = null;
        });
      }, made.expiresInMs * 0.9);
    }
    function openSocket() {
      let ws;
      try {
        ws = new WebSocket(`${env.base.replace(/^http/, "ws")}ws`, "qos");
      } catch (error) {
        socketFailed(text(error));
        return;
      }
      socket = ws;
      ready = false;
      watch(helloMs);
      ws.onopen = () => {
        helloSent = clock.mono();
        if (token) ws.send(JSON.stringify(env.hello(token.token)));
      };
      ws.onmessage = (event) => {
        if (socket !== ws) return;
        watch(silenceMs);
        const message = parseLine(event.data);
        if (message) handle(message);
      };
      ws.onclose = ws.onerror = () => {
        if (socket === ws) lost();
      };
    }
    function watch(ms, suspicious = false) {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => {
        const waiting = !ready || queue.unacked();
        if (waiting && (suspicious || !ready)) lost();
        else watch(silenceMs, waiting);
      }, ms);
    }
    function lost(refusal) {
      const wasReady = ready;
      disconnect();
      if (refusal) fail(refusal);
      else if (wasReady) retry();
      else socketFailed("cannot connect over WebSockets");
    }
    function socketFailed(msg) {
      env.report("wsChannelFailure", msg);
      if (++socketRefusals >= refusalsBeforePost) {
        socketRefusals = refusalsBeforePost - 1;
        postUntil = clock.mono() + socketAgainMs;
      }
      retry();
    }
    function disconnect(bye = "") {
      const ws = socket;
      socket = null;
      ready = paused = false;
      clearTimeout(watchdog);
      clearTimeout(pause);
      if (!ws) return;
      ws.onopen = ws.onmessage = ws.onclose = ws.onerror = null;
      try {
        if (bye && ws.readyState === 1) ws.send(bye);
        ws.close(1e3);
      } catch {
      }
    }
    function handle(message) {
      const code = String(message.code ?? "");
      const msg = String(message.message ?? code);
      const csError = message.csError ?? "wsChannelFailure";
      switch (message.type) {
        case "welcome":
          welcomed(message);
          break;
        case "ack":
          queue.ack(Number(message.seq));
          pump();
          break;
        case "nack":
          queue.nack(Number(message.seq), csError, msg);
          env.report(csError, msg);
          break;
        case "slow-down":
          if (message.statsIntervalMs) env.statsInterval(Number(message.statsIntervalMs));
          slowDown(Number(message.retryAfterMs) || 0);
          break;
        case "bye":
          lost(new Refusal(csError, msg, message.retry === true, Number(message.retryAfterMs) || 0, code));
          break;
      }
    }
    function welcomed(welcome) {
      clock.sample(helloSent, clock.mono(), Number(welcome.at));
      ready = true;
      attempts = socketRefusals = 0;
      announced = /* @__PURE__ */ new Set();
      windowFrames = Number(welcome.windowFrames) || windowFrames;
      queue.rewind();
      queue.ack(Number(welcome.acked) || 0);
      env.welcomed(welcome);
      env.report("success", "connected");
      pump();
    }
    function slowDown(ms) {
      paused = true;
      clearTimeout(pause);
      pause = setTimeout(() => {
        paused = false;
        queue.rewind();
        pump();
      }, ms);
    }
    function lines(entry, known) {
      const context = [...entry.fabrics.map(env.fabricLine), ...entry.sets.map(env.columnsLine)];
      const fresh = context.filter((line) => !known.has(line));
      for (const line of fresh) known.add(line);
      return [...fresh, entry.text()];
    }
    function pump() {
      const ws = socket;
      if (!ws || !ready || paused) return;
      if (!clock.synced()) {
        disconnect();
        attempts = 0;
        retry();
        return;
      }
      for (let entry = queue.next(windowFrames); entry; entry = queue.next(windowFrames)) {
        if (ws.bufferedAmount > bufferedLimit) {
          slowDownLocally();
          return;
        }
        for (const line of lines(entry, announced)) ws.send(line);
        queue.sent(entry);
      }
    }
    function slowDownLocally() {
      clearTimeout(timer);
      timer = setTimeout(pump, 250);
    }
    function body(entries) {
      const known = /* @__PURE__ */ new Set();
      helloSent = clock.mono();
      let all = JSON.stringify(env.hello(token?.token ?? ""));
      let bytes = byteLength(all);
      for (const entry of entries) {
        const added = `
${lines(entry, known).join("\n")}`;
        bytes += byteLength(added);
        if (bytes > maxFrameBytes) break;
        all += added;
        queue.sent(entry);
      }
      return all;
    }
    async function postAll() {
      const answer = await post(`${env.base}frames`, body(queue.waiting()));
      const answers = answer.body.split("\n").map(parseLine);
      if (answer.status !== 200) throw refused(answer.status, answers[0] ?? null);
      for (const message of answers) if (message) handle(message);
      ready = true;
      clearTimeout(timer);
      timer = setTimeout(connect, queue.next(windowFrames) ? 0 : postPauseMs);
    }
    function flush() {
      if (!token || !clock.synced()) return;
      const room = maxFrameBytes - 8192;
      const all = queue.shrink(room);
      const size = all.reduce((sum, entry) => sum + entry.bytes, 0);
      const entries = size <= room ? all : all.filter((entry) => !entry.sent);
      if (!entries.length) return;
      post(`${env.base}frames`, body([...entries]), true).catch(() => void 0);
    }
    function restart() {
      generation++;
      connecting = false;
      stopped = false;
      token = null;
      attempts = socketRefusals = postUntil = 0;
      disconnect();
      clearTimeout(timer);
      connect();
    }
    function stop(graceMs2) {
      const until = clock.mono() + graceMs2;
      const end = () => {
        if (clock.mono() < until && (queue.next(windowFrames) || queue.unacked())) {
          setTimeout(end, 200);
          return;
        }
        stopped = true;
        generation++;
        flush();
        clearTimeout(timer);
        clearTimeout(renewing);
        disconnect('{"type":"bye","code":"going_away","csError":"success","message":"the session ended","retry":false}');
        queue.giveUp("failure", "the session was replaced");
      };
      end();
    }
    return {
      start: restart,
      restart,
      pump,
      flush,
      online: () => ready,
      wake() {
        if (stopped || connecting) return;
        clock.synced() ? pump() : lost();
        if (!socket) {
          clearTimeout(timer);
          connect();
        }
      },
      stop
    };
  }

  // src/uuid.ts
  function uuidv7(ms) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    let hex = "";
    bytes.forEach((byte, i) => {
      let value = byte;
      if (i < 6) value = Math.floor(ms / 2 ** (40 - 8 * i)) % 256;
      else if (i === 6) value = byte & 15 | 112;
      else if (i === 8) value = byte & 63 | 128;
      hex += value.toString(16).padStart(2, "0");
    });
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }

  // src/version.ts
  var version = "1.0.0";

  // src/wifi.ts
  var limitMs2 = 5e3;
  var maxAddresses = 16;
  async function readWifi(handler, withAddresses) {
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, limitMs2, null);
    });
    try {
      return parse2(await Promise.race([handler(), late]), withAddresses);
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  }
  function parse2(answer, withAddresses) {
    const stats = typeof answer === "string" ? JSON.parse(answer) : answer;
    if (!isObject(stats)) return null;
    const { signal, rssi, timestamp, noise } = stats;
    if (num(signal) === null || num(rssi) === null || num(timestamp) === null) return null;
    const addresses = Array.isArray(stats.addresses) ? stats.addresses.filter((a) => typeof a === "string") : [];
    return {
      signal,
      rssi,
      timestamp,
      ...typeof stats.interface === "string" && { interface: stats.interface.slice(0, 64) },
      ...num(noise) !== null && { noise },
      ...withAddresses && addresses.length && { addresses: addresses.slice(0, maxAddresses).map((a) => a.slice(0, 64)) }
    };
  }

  // src/session.ts
  var graceMs = 1e4;
  var keptEnded = 256;
  var Session = class {
    #env;
    #clock = createClock(pageClocks);
    #queue = createQueue(this.#clock);
    #transport;
    #fabrics = [];
    #endedFabrics = [];
    #announcements = /* @__PURE__ */ new Map();
    #infos = /* @__PURE__ */ new Map();
    #outages = /* @__PURE__ */ new Set();
    #info;
    #userID;
    #id = "";
    #lastFabric = 0;
    #intervalMs = 1e4;
    #bounds = defaultBounds;
    #urlTemplate = "";
    #announcedSuccess = false;
    #unwatchPage = () => void 0;
    #wifiTimer;
    constructor(info, env) {
      this.#info = info;
      this.#userID = info.userID;
      this.#env = env;
      const { base } = info;
      this.#transport = createTransport({
        base,
        clock: this.#clock,
        queue: this.#queue,
        login: (renew, late) => this.#login(renew, late),
        hello: (token) => this.#hello(token),
        fabricLine: (fabric) => this.#fabricLine(fabric),
        columnsLine,
        welcomed: (welcome) => this.#welcomed(welcome),
        statsInterval: (ms) => this.#setInterval(ms),
        report: (csError, msg) => this.#report(csError, msg)
      });
      this.#begin();
    }
    /** Whether initialize() with these arguments goes on with this session (INIT-06). */
    continues(info) {
      const own = this.#info;
      return own.appID === info.appID && own.base === info.base && sameUser(own.userID, info.userID);
    }
    /** initialize() again for the same user: logs in anew, keeps fabrics and queue. */
    again(info) {
      this.#info = info;
      this.#outages.clear();
      this.#announcedSuccess = false;
      this.#begin();
    }
    #begin() {
      this.#unwatchPage();
      this.#unwatchPage = watchPage(
        {
          hidden: (kept) => this.#hidden(kept),
          shown: () => this.#transport.wake()
        },
        !this.#info.config.disableBeforeUnloadHandler
      );
      this.#transport.restart();
    }
    /** Ends the session for another one. */
    close() {
      for (const fabric of [...this.#fabrics]) fabric.end("replaced", true);
      this.#unwatchPage();
      clearTimeout(this.#wifiTimer);
      this.#transport.stop(graceMs);
    }
    #hidden(kept) {
      if (!kept) for (const fabric of [...this.#fabrics]) fabric.end("pagehide", true);
      this.#transport.flush();
    }
    get config() {
      return this.#info.config;
    }
    stamp() {
      return this.#clock.stamp();
    }
    setLocalUser(userID) {
      this.#userID = userID;
    }
    addFabric(info, pcCallback) {
      const full = { ...info, fabric: ++this.#lastFabric, addedAt: this.#clock.stamp() };
      this.#infos.set(full.fabric, full);
      this.#fabrics.push(createFabric(full, this.#fabricEnv(), pcCallback));
      this.#wifi();
    }
    #fabricEnv() {
      return {
        clock: this.#clock,
        legacyStats: this.#info.config.collectLegacyStats,
        send: (frame) => this.#send(frame),
        intervalMs: () => this.#intervalMs,
        localUserID: () => this.#userID,
        labelBounds: () => this.#bounds,
        online: () => this.#transport.online(),
        conferenceURL: (info) => this.#conferenceURL(info),
        deliver: (stats) => this.#env.stats(stats),
        report: (csError, msg) => this.#env.report(csError, msg),
        ended: (fabric) => this.#ended(fabric)
      };
    }
    #ended(fabric) {
      const at = this.#fabrics.indexOf(fabric);
      if (at >= 0) this.#fabrics.splice(at, 1);
      this.#endedFabrics.push({ ...fabric.info, pc: {} });
      this.#endedFabrics.splice(0, this.#endedFabrics.length - keptEnded);
    }
    /** A living fabric of that PeerConnection and conference. */
    fabricOf(pc, conferenceID) {
      return this.#fabrics.find((f) => f.info.pc === pc && f.info.conferenceID === conferenceID && !f.ended());
    }
    /** As fabricOf; a PeerConnection never added is matched by conference, and SSRC (API-12). */
    match(pc, conferenceID, ssrc) {
      const alive = this.#fabrics.filter((f) => f.info.conferenceID === conferenceID && !f.ended());
      return alive.find((f) => f.info.pc === pc) ?? alive.find((f) => ssrc !== void 0 && f.hasStream(ssrc)) ?? alive[alive.length - 1];
    }
    /** Whether a fabric was ever in that conference. */
    knows(conferenceID) {
      return this.#conference(conferenceID) !== void 0;
    }
    #conference(conferenceID) {
      const all = [...this.#endedFabrics, ...this.#fabrics.map((f) => f.info)];
      return all.filter((info) => info.conferenceID === conferenceID).pop();
    }
    /** Records a frame of a fabric or, without one, of a conference. */
    record(type, scope, members, done) {
      const base = { type, stamp: this.#clock.stamp(), ...done && { done } };
      if ("fabric" in scope) {
        const { fabric } = scope.fabric.info;
        return this.#send({ ...base, fabric, members: { fabric, ...members } });
      }
      const { conferenceID } = scope;
      const conferenceAt = this.#conference(conferenceID)?.addedAt ?? base.stamp;
      return this.#send({ ...base, fabric: 0, conferenceAt, members: { conferenceID, ...members } });
    }
    #send(frame) {
      const taken = this.#queue.push(frame);
      this.#transport.pump();
      return taken;
    }
    async #login(renew, late) {
      const { appID, secret, userID, base } = this.#info;
      const env = { url: `${base}auth`, mono: this.#clock.mono, late };
      return login(env, { appID, userID, secret }, renew);
    }
    #hello(token) {
      const at = this.#clock.time(this.#clock.stamp());
      this.#id ||= uuidv7(at);
      const { applicationVersion, siteID, additionalIDs } = this.#info.config;
      return {
        type: "hello",
        versions: [1],
        token,
        session: this.#id,
        acked: this.#queue.acked(),
        at,
        library: version,
        ...typeof navigator === "object" && navigator.userAgent && { userAgent: cutBytes(navigator.userAgent, 512) },
        ...applicationVersion !== void 0 && { applicationVersion },
        ...siteID !== void 0 && { siteID },
        ...additionalIDs && { additionalIDs }
      };
    }
    /** Fixed at its first use: a fabric's number means the same all session. */
    #fabricLine(fabric) {
      let line = this.#announcements.get(fabric);
      const info = this.#infos.get(fabric);
      if (line === void 0 && info) {
        const { conferenceID, remoteUserID, fabricUsage: fabricUsage2, remoteEndpointType, fabricTransmissionDirection } = info;
        line = JSON.stringify({
          type: "fabric",
          fabric,
          conferenceID,
          addedAt: this.#clock.time(info.addedAt),
          remoteUserID,
          fabricUsage: fabricUsage2,
          remoteEndpointType,
          fabricTransmissionDirection
        });
        this.#announcements.set(fabric, line);
        this.#infos.delete(fabric);
      }
      return line ?? "";
    }
    #welcomed(welcome) {
      this.#setInterval(Number(welcome.statsIntervalMs));
      if (typeof welcome.conferenceURL === "string") this.#urlTemplate = welcome.conferenceURL;
      const bounds = welcome.labels?.mos;
      if (Array.isArray(bounds) && bounds.length === 4) this.#bounds = bounds.map(Number);
    }
    #setInterval(ms) {
      if (ms >= 2e3 && ms <= 2e4) this.#intervalMs = ms;
    }
    #conferenceURL(info) {
      if (!this.#urlTemplate) return null;
      const values = {
        appID: this.#info.appID,
        conferenceID: info.conferenceID,
        at: String(this.#clock.time(info.addedAt))
      };
      return this.#urlTemplate.replace(/\{(appID|conferenceID|at)\}/g, (_, name) => encodeURIComponent(values[name] ?? ""));
    }
    /** Once per outage and kind, and success when sending works again (INIT-05). */
    #report(csError, msg) {
      if (csError !== "success") {
        if (this.#outages.has(csError)) return;
        this.#outages.add(csError);
      } else {
        if (this.#announcedSuccess && !this.#outages.size) return;
        this.#announcedSuccess = true;
        this.#outages.clear();
      }
      this.#env.report(csError, msg);
    }
    /** Asks for Wi-Fi statistics at every interval while there is a fabric. */
    #wifi() {
      clearTimeout(this.#wifiTimer);
      this.#wifiTimer = setTimeout(async () => {
        const handler = this.#env.wifi();
        if (!this.#fabrics.length) return;
        this.#wifi();
        const sample = handler && await readWifi(handler, this.#info.config.collectIP);
        if (!sample) return;
        const seen = /* @__PURE__ */ new Set();
        for (const fabric of this.#fabrics) {
          if (!seen.has(fabric.info.conferenceID)) fabric.event("wifiStats", sample);
          seen.add(fabric.info.conferenceID);
        }
      }, this.#intervalMs);
    }
  };

  // src/api.ts
  var noPrecall = "this collector offers no pre-call tests";
  var noTurn = "this collector offers no TURN credentials";
  function createOperations(instance, scriptUrl) {
    const operations = {
      initialize: (...args) => guard(() => initialize(instance, scriptUrl, args)),
      addNewFabric: (...args) => guardCallback(instance, args, () => addNewFabric(instance, args)),
      reportError: (...args) => guard(() => reportError(instance, args)),
      associateMstWithUserID: (...args) => guard(() => associate(instance, args)),
      sendFabricEvent: (...args) => guard(() => sendFabricEvent(instance, args)),
      reportUserIDChange: (...args) => guard(() => reportUserIDChange(instance, args)),
      sendUserFeedback: (...args) => guardCallback(instance, args, () => sendUserFeedback(instance, args)),
      on: (name, callback) => guard(() => on(instance, name, callback)),
      attachWifiStatsHandler: (handler) => guard(() => attachWifi(instance, handler)),
      sendCallDetails: (...args) => guard(() => sendCallDetails(instance, args)),
      sendCustomEvent: (...args) => guard(() => sendCustom(instance, "customEvent", args)),
      sendCustomStats: (...args) => guard(() => sendCustom(instance, "customStats", args)),
      startPrecallTests: () => failure(noPrecall),
      stopPrecallTests: () => failure(noPrecall),
      makePrecallTest: () => failure(noPrecall),
      getTurnCredentials: () => Promise.reject(new Error(noTurn))
    };
    const { fabricUsage: fabricUsage2, fabricEvent: fabricEvent2, webRTCFunctions: webRTCFunctions2, userIDType: userIDType2, endpointType: endpointType2, transmissionDirection: transmissionDirection2, qosAPIReturnStatus: qosAPIReturnStatus2 } = enums_exports;
    return {
      ...operations,
      version,
      fabricUsage: fabricUsage2,
      fabricEvent: fabricEvent2,
      webRTCFunctions: webRTCFunctions2,
      userIDType: userIDType2,
      endpointType: endpointType2,
      transmissionDirection: transmissionDirection2,
      qosAPIReturnStatus: qosAPIReturnStatus2,
      wrtcFuncNames: webRTCFunctions2,
      callStatsAPIReturnStatus: qosAPIReturnStatus2
    };
  }
  function guardCallback(_, args, operation) {
    const result = guard(operation);
    if (result.status === "failure") later(lastFunction(args), "failure", result.msg);
    return result;
  }
  function lastFunction(args) {
    return args.filter((arg) => typeof arg === "function").pop() ?? null;
  }
  function session(instance) {
    if (!instance.session) throw new Invalid("initialize() must be called first");
    return instance.session;
  }
  function initialize(instance, scriptUrl, args) {
    const [appID, secret, localUserID, initCallback, statsCallback, configParams] = args;
    const callback = typeof initCallback === "function" ? initCallback : null;
    const notes = [];
    try {
      requireText("AppID", appID, 256);
      if (typeof secret !== "function") requireText("AppSecret", secret, 1024);
      const userID = requireUserID("localUserID", localUserID, notes);
      const config = readConfig(configParams, notes);
      const base = findBackend(config.backendUrl, scriptUrl);
      instance.initCallback = callback;
      instance.statsCallback = typeof statsCallback === "function" ? statsCallback : null;
      begin(instance, { base, appID, secret, userID, config });
    } catch (error) {
      if (error instanceof Invalid) later(callback, "authError", error.message);
      throw error;
    }
    return success(notes);
  }
  function begin(instance, info) {
    if (instance.session?.continues(info)) {
      instance.session.again(info);
      return;
    }
    instance.session?.close();
    instance.session = new Session(info, {
      report: (csError, msg) => {
        later(instance.initCallback, csError, msg);
        if (csError !== "success") instance.emit("error", csError, msg);
      },
      stats: (stats) => {
        later(instance.statsCallback, stats);
        instance.emit("stats", stats);
      },
      wifi: () => instance.wifi
    });
  }
  function addNewFabric(instance, args) {
    const [pc, remoteUserID, usage, conferenceID, fifth, sixth] = args;
    const notes = [];
    if (!isPeerConnection(pc)) throw new Invalid(`pc must be a PeerConnection with getStats, got ${kindOf(pc)}`);
    const user = requireUserID("remoteUserID", remoteUserID, notes);
    const fabricUsage2 = requireMember("fabricUsage", fabricUsage, usage);
    const conference = requireConferenceID(conferenceID);
    const attributes = readAttributes(typeof fifth === "function" ? void 0 : fifth, notes);
    const callback = lastFunction([fifth, sixth]);
    const own = session(instance);
    if (own.fabricOf(pc, conference)) {
      later(callback, "success", "monitored already");
      return success(["this PeerConnection is monitored already"]);
    }
    own.addFabric({ pc, remoteUserID: user, fabricUsage: fabricUsage2, conferenceID: conference, ...attributes }, callback);
    return success(notes);
  }
  function isPeerConnection(pc) {
    return (typeof pc === "object" || typeof pc === "function") && pc !== null && typeof pc.getStats === "function";
  }
  function readAttributes(value, notes) {
    const given = requireData("fabricAttributes", value);
    const { remoteEndpointType, fabricTransmissionDirection, ...rest } = given;
    for (const key of Object.keys(rest)) notes.push(`fabricAttributes.${key} is unknown and ignored`);
    return {
      remoteEndpointType: requireMember("remoteEndpointType", endpointType, remoteEndpointType ?? "peer"),
      fabricTransmissionDirection: requireMember("fabricTransmissionDirection", transmissionDirection, fabricTransmissionDirection ?? "sendrecv")
    };
  }
  function associate(instance, args) {
    const [pc, user, conferenceID, source, label2, tag] = args;
    const notes = [];
    const userID = requireUserID("userID", user, notes);
    const conference = requireConferenceID(conferenceID);
    const ssrc = requireSSRC(source);
    const usageLabel = label2 === "" ? "" : requireText("usageLabel", label2, 20);
    const fabric = session(instance).match(pc, conference, ssrc);
    if (!fabric) throw new Invalid("no fabric of this conferenceID is monitored");
    const associatedVideoTag = tag ?? null;
    fabric.associate(ssrc, { userID, usageLabel, associatedVideoTag });
    const id = typeof tag === "string" ? tag : tag?.id ?? null;
    return sent(fabric.event("associateMstWithUserID", { ssrc, userID, usageLabel, associatedVideoTag: id && cutBytes(String(id), 256) }), notes);
  }
  function sent(taken, notes = []) {
    return taken ? success(notes) : failure("the frame would be larger than 65536 bytes");
  }
  var withoutPc = /* @__PURE__ */ new Set([fabricEvent.dominantSpeaker, fabricEvent.activeDeviceList]);
  function sendFabricEvent(instance, args) {
    const [pc, name, conferenceID, eventData] = args;
    const event = requireMember("fabricEvent", fabricEvent, name);
    if (event === "fabricSetup" || event === "fabricSetupFailed") throw new Invalid(`${event} is made by the library itself and cannot be sent`);
    const conference = requireConferenceID(conferenceID);
    const own = session(instance);
    const data = event === "activeDeviceList" ? { deviceList: deviceList(eventData) } : requireData("eventData", eventData);
    const scope = findScope(own, pc, conference, withoutPc.has(event));
    if (event === "fabricTerminated") {
      if (!("fabric" in scope)) return success(["the fabric had ended already"]);
      scope.fabric.end("application");
      return success();
    }
    if (!("fabric" in scope) && pc && !withoutPc.has(event)) throw new Invalid("the fabric has ended");
    return sent(own.record("event", scope, { event, data }));
  }
  function deviceList(value) {
    const list2 = isObject(value) ? value.deviceList ?? value : value;
    const devices = Array.isArray(list2) ? list2 : isObject(list2) ? Object.values(list2).flat() : [];
    const kept = devices.filter(isObject).map(({ deviceId, kind, label: label2, groupId }) => ({ deviceId, kind, label: label2, groupId }));
    while (kept.length && byteLength(JSON.stringify(kept)) > 4e3) kept.pop();
    return kept;
  }
  function reportUserIDChange(instance, args) {
    const [pc, conferenceID, user, type] = args;
    const notes = [];
    const conference = requireConferenceID(conferenceID);
    const newUserID = requireUserID("newUserID", user, notes);
    const kind = requireMember("userIDType", userIDType, type);
    const own = session(instance);
    const fabric = own.match(pc, conference);
    if (!fabric) throw new Invalid("no fabric of this conferenceID is monitored");
    if (kind === "local") own.setLocalUser(newUserID);
    else fabric.renameRemote(newUserID);
    return sent(fabric.event("userIDChange", { userIDType: kind, newUserID }), notes);
  }
  function sendUserFeedback(instance, args) {
    const [conferenceID, feedback, callback] = args;
    const notes = [];
    const conference = requireConferenceID(conferenceID);
    if (!isObject(feedback)) throw new Invalid(`feedback must be an object, got ${kindOf(feedback)}`);
    const given = feedback;
    const members = {
      userID: requireUserID("feedback.userID", given.userID ?? given.userId, notes),
      overall: requireScore("feedback.overall", given.overall, false),
      audio: requireScore("feedback.audio", given.audio, true),
      video: requireScore("feedback.video", given.video, true),
      screen: requireScore("feedback.screen", given.screen, true),
      ...comment(given.comment, notes)
    };
    const done = (err, msg) => later(callback, err, msg);
    return sent(session(instance).record("feedback", { conferenceID: conference }, members, done), notes);
  }
  function comment(value, notes) {
    if (value === void 0 || value === null) return {};
    if (typeof value !== "string") throw new Invalid(`feedback.comment must be a string, got ${kindOf(value)}`);
    const kept = cutBytes(value, 4096);
    if (kept !== value) notes.push("feedback.comment was cut to 4096 bytes");
    return { comment: kept };
  }
  function on(instance, name, callback) {
    if (!callbackEvents.includes(name)) {
      throw new Invalid(`eventName must be one of ${callbackEvents.join(", ")}, got ${typeof name === "string" ? "another name" : kindOf(name)}`);
    }
    if (typeof callback !== "function") throw new Invalid(`csEventCallback must be a function, got ${kindOf(callback)}`);
    instance.subscribe(name, callback);
    return success();
  }
  function attachWifi(instance, handler) {
    if (typeof handler !== "function") throw new Invalid(`getWifiStats must be a function, got ${kindOf(handler)}`);
    instance.wifi = handler;
    return success();
  }
  var callTypes = { inbound: 1, outbound: 1, monitoring: 1 };
  var roles = { agent: 1, participant: 1, manager: 1 };
  function sendCallDetails(instance, args) {
    const [pc, conferenceID, attributes] = args;
    const conference = requireConferenceID(conferenceID);
    if (!isObject(attributes)) throw new Invalid(`callAttributes must be an object, got ${kindOf(attributes)}`);
    const data = requireData("callAttributes", attributes);
    requireMember("callAttributes.callType", callTypes, data.callType);
    requireMember("callAttributes.role", roles, data.role);
    const own = session(instance);
    return sent(own.record("event", findScope(own, pc, conference, true), { event: "callDetails", data }));
  }
  function sendCustom(instance, event, args) {
    const [pc, conferenceID, given] = args;
    const conference = requireConferenceID(conferenceID);
    const list2 = Array.isArray(given) ? given : [given];
    const items = list2.map((item) => customItem(event, item));
    const own = session(instance);
    const scope = findScope(own, pc, conference, true);
    return sent(items.map((data) => own.record("event", scope, { event, data })).every(Boolean));
  }
  function customItem(event, item) {
    if (event === "customEvent" && typeof item === "string") return requireData("event", { name: item });
    if (!isObject(item)) throw new Invalid(`${event} takes an array of objects, got ${kindOf(item)} in it`);
    const data = requireData(event, item);
    if (event === "customStats") {
      requireText("name", data.name, 64);
      if (typeof data.value !== "number") throw new Invalid(`value must be a number, got ${kindOf(data.value)}`);
    }
    return data;
  }

  // src/index.ts
  function assemble(scriptUrl) {
    const create = () => createOperations(new Instance(), scriptUrl);
    function qos2() {
      return create();
    }
    return Object.assign(qos2, create());
  }

  // src/umd.ts
  var script = typeof document === "object" ? document.currentScript : null;
  var qos = assemble(script instanceof HTMLScriptElement ? script.src : void 0);
  return __toCommonJS(umd_exports);
})();
return lib.qos});
//# sourceMappingURL=qos.js.map
