/*! qos 0.1.0 | Apache-2.0 */
"use strict";
(() => {
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
    return attempt(() => thrown instanceof Error ? thrown.message : String(thrown), "it cannot be told what");
  }
  function attempt(make, otherwise) {
    try {
      return make();
    } catch {
      return otherwise;
    }
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
      if (!url2 || !/^https?:$/.test(url2.protocol))
        throw new Invalid("configParams.backendUrl must be an http or https URL");
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
    throw new Invalid(
      `${name} must be an integer from 1 to 5, got ${typeof value === "number" ? "another number" : kindOf(value)}`
    );
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
    if (cut !== value)
      notes.push(`${name} was cut to ${name === "applicationVersion" ? "30 characters" : `${byteLength(cut)} bytes`}`);
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

  // src/queue.ts
  var maxFrameBytes = 65536;
  var maxEntryBytes = maxFrameBytes - 12288;
  var defaults = { bytes: 1 << 20, ageMs: 2 * 36e5, windowBytes: 256 << 10 };
  var headBytes = 90;
  function textOf(entry) {
    entry.text ??= entry.write();
    return entry.text;
  }
  var Queue = class {
    #entries = [];
    #clock;
    #limits;
    #lastSeq = 0;
    #ackedSeq = 0;
    #cursor = 0;
    #unread = false;
    #doubted = 0;
    constructor(clock, limits = defaults) {
      this.#clock = clock;
      this.#limits = limits;
    }
    /** Numbers a frame; false when it is too large. */
    push(frame) {
      const tail = JSON.stringify(frame.members).slice(1);
      const bytes = byteLength(tail) + headBytes;
      if (bytes > maxEntryBytes) return false;
      this.#entries.push(entryOf(frame, ++this.#lastSeq, tail, bytes, this.#clock));
      this.#enforceLimits();
      return true;
    }
    /** The next entry to send within the window, null when there is none. */
    next(windowFrames) {
      const entry = this.#entries[this.#cursor];
      if (!entry || this.#cursor >= windowFrames) return null;
      const inFlight = total(this.#entries.slice(0, this.#cursor));
      return this.#cursor === 0 || inFlight + entry.bytes <= this.#limits.windowBytes ? entry : null;
    }
    /** The entry is on the wire. */
    sent(entry) {
      entry.sent = true;
      this.#cursor = this.#entries.indexOf(entry) + 1;
    }
    /**
     * From the last acknowledged number again. Where the collector refused what had no number
     * that it could read, twice with the same frame as the first without an ack, it is that
     * frame: a skip takes its place (protocol section 2).
     */
    rewind() {
      this.#cursor = 0;
      const [first] = this.#entries;
      if (!this.#unread || !first?.sent) return;
      this.#unread = false;
      if (first.seq === this.#doubted) this.#drop(0);
      this.#doubted = first.seq;
    }
    /**
     * Everything up to seq is taken or refused; a number that was never sent cannot be.
     * Returns whether a frame was taken.
     */
    ack(seq) {
      let taken = false;
      for (let entry = this.#entries[0]; entry?.sent && entry.seq <= seq; entry = this.#entries[0]) {
        this.#entries.shift();
        this.#ackedSeq = entry.seq;
        this.#cursor = Math.max(0, this.#cursor - 1);
        settle(entry, "success", "");
        taken ||= !entry.refused;
      }
      return taken;
    }
    /** One frame is refused for good; its number, NaN where it could not be read, waits for the ack. */
    nack(seq, err, msg) {
      const entry = this.#entries.find((e) => e.seq === seq);
      this.#unread ||= !seq;
      if (!entry) return;
      entry.refused = true;
      settle(entry, err, msg);
    }
    /** The highest number up to which all is acknowledged. */
    acked() {
      return this.#ackedSeq;
    }
    /** Whether frames wait for an acknowledgement. */
    unacked() {
      return this.#cursor > 0;
    }
    /** Everything that is not acknowledged, in order. */
    waiting() {
      return [...this.#entries];
    }
    /** Drops until what was never sent takes at most so many bytes. */
    shrink(bytes) {
      while (total(this.#entries.slice(this.#sentCount())) > bytes && this.#dropOldest()) ;
    }
    /** Tells every frame that waits what to expect; they go on waiting. */
    giveUp(err, msg) {
      for (const entry of this.#entries) settle(entry, err, msg);
    }
    #sentCount() {
      const first = this.#entries.findIndex((entry) => !entry.sent);
      return first < 0 ? this.#entries.length : first;
    }
    #enforceLimits() {
      const oldest = this.#clock.stamp().ms - this.#limits.ageMs;
      const tooOld = () => this.#entries.findIndex((e) => !e.sent && !e.lost && e.stamp.ms < oldest);
      for (let at = tooOld(); at >= 0; at = tooOld()) this.#drop(at);
      const { bytes } = this.#limits;
      if (total(this.#entries) > bytes) this.shrink(bytes - total(this.#entries.slice(0, this.#sentCount())));
    }
    #dropOldest() {
      const droppable = this.#entries.filter((entry) => !entry.sent && entry.rank < 3);
      const [first] = droppable.sort((a, b) => a.rank - b.rank);
      if (!first) return false;
      this.#drop(this.#entries.indexOf(first));
      return true;
    }
    /** Puts a skip in the place of an entry, together with the skips beside it. */
    #drop(index) {
      const entry = this.#entries[index];
      settle(entry, "failure", "dropped before it could be sent");
      const isSkip = (other) => other?.lost && !other.sent;
      const start = isSkip(this.#entries[index - 1]) ? index - 1 : index;
      const end = isSkip(this.#entries[index + 1]) ? index + 2 : index + 1;
      this.#entries.splice(start, end - start, skipOf(this.#entries.slice(start, end), this.#clock));
    }
  };
  function total(entries) {
    return entries.reduce((sum, entry) => sum + entry.bytes, 0);
  }
  function settle(entry, err, msg) {
    const { done } = entry;
    entry.done = void 0;
    done?.(err, msg);
  }
  function entryOf(frame, seq, tail, bytes, clock) {
    const { type, stamp, fabric, sets: sets2 = [], keep, done, conferenceAt } = frame;
    return {
      seq,
      from: seq,
      stamp,
      fabrics: fabric ? [fabric] : [],
      sets: sets2,
      rank: type === "stats" ? 0 : keep ? 2 : 1,
      bytes,
      sent: false,
      done,
      write() {
        const inside = conferenceAt ? `"conferenceAt":${clock.time(conferenceAt)},` : "";
        return `{"type":"${type}","seq":${seq},"at":${clock.time(stamp)},${inside}${tail}`;
      }
    };
  }
  function skipOf(run, clock) {
    const lost = /* @__PURE__ */ new Map();
    for (const entry of run) {
      const own = entry.lost ?? [
        [entry.fabrics[0] ?? 0, { stats: +!entry.rank, events: +!!entry.rank }]
      ];
      for (const [fabric, { stats, events }] of own) {
        const sum = lost.get(fabric) ?? { stats: 0, events: 0 };
        lost.set(fabric, { stats: sum.stats + stats, events: sum.events + events });
      }
    }
    const { from } = run[0];
    const { seq, stamp } = run[run.length - 1];
    return {
      seq,
      from,
      stamp,
      fabrics: [...lost.keys()].filter(Boolean),
      sets: [],
      rank: 3,
      bytes: headBytes + 48 * lost.size,
      sent: false,
      lost,
      write: () => JSON.stringify({
        type: "skip",
        seq,
        from,
        at: clock.time(stamp),
        lost: Array.from(lost, ([fabric, counts]) => ({ fabric, ...counts }))
      })
    };
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
    return taken ? success() : failure(`the report would be larger than ${maxEntryBytes} bytes`);
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
    if (iterations < 4096 || iterations > 6e5)
      throw new Error(`iteration count ${iterations} is outside 4096 to 600000`);
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
    return new Uint8Array(
      await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations }, key, 256)
    );
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
  var answerLimitMs = 2e4;
  function login(env, who, renew) {
    const { secret } = who;
    return typeof secret === "function" ? jwtLogin(env, who, secret, renew) : scramLogin(env, who, secret);
  }
  async function scramLogin(env, { appID, userID }, secret) {
    if (!globalThis.crypto?.subtle) {
      throw new Refusal(
        "authError",
        "this page has no WebCrypto (it needs https or localhost), an AppSecret cannot be used",
        false
      );
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
    return {
      token: answer.token,
      expiresInMs: Number(answer.expiresInMs) || 72e5,
      at: Number(answer.at),
      sent: sent2,
      received
    };
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
    const limit = new AbortController();
    const timer = keepalive ? void 0 : setTimeout(() => limit.abort(), answerLimitMs);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "text/plain; charset=utf-8" },
        credentials: "omit",
        body,
        keepalive,
        signal: limit.signal
      });
      return { status: response.status, body: await response.text() };
    } catch (error) {
      const reason = limit.signal.aborted ? `no answer within ${answerLimitMs / 1e3} s` : text(error);
      throw new Refusal("httpError", reason, true);
    } finally {
      clearTimeout(timer);
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
    return new Refusal(
      csError,
      message,
      retry || typeof answer?.code !== "string",
      Number(answer?.retryAfterMs) || 0,
      String(answer?.code ?? "")
    );
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
        if (!Number.isFinite(serverAt)) return;
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
  var watched = [
    "iceconnectionstatechange",
    "connectionstatechange",
    "icegatheringstatechange",
    "signalingstatechange"
  ];
  var unknownTimes = { setupMs: null, gatheringMs: null, connectivityMs: null };
  function isConnected(pc) {
    return attempt(() => {
      const { connectionState, iceConnectionState } = pc;
      if (connectionState !== void 0) return connectionState === "connected";
      return iceConnectionState === "connected" || iceConnectionState === "completed";
    }, false);
  }
  function isClosed(pc) {
    return attempt(() => {
      const { signalingState, connectionState, iceConnectionState } = pc;
      return [signalingState, connectionState, iceConnectionState].includes("closed");
    }, false);
  }
  function since(start, end) {
    return start === null ? null : Math.round(end - start);
  }
  var Lifecycle = class {
    #pc;
    #mono;
    #events;
    #started;
    #update = () => this.update();
    #alreadyConnected;
    #remoteSet = false;
    #established = false;
    #failed = false;
    #gathering = null;
    #gathered = null;
    #checking = null;
    #disrupted = null;
    #ufrag = null;
    #settled = "";
    /** Watches a PeerConnection until stop(). */
    constructor(pc, mono, events) {
      this.#pc = pc;
      this.#mono = mono;
      this.#events = events;
      this.#started = mono();
      this.#alreadyConnected = isConnected(pc);
      for (const type of watched) attempt(() => this.#pc.addEventListener?.(type, this.#update), void 0);
    }
    /** Removes the listeners. */
    stop() {
      for (const type of watched) attempt(() => this.#pc.removeEventListener?.(type, this.#update), void 0);
    }
    state() {
      if (!this.#established) return "initialising";
      return this.#disrupted === null ? "established" : "disrupted";
    }
    /** How far a fabric got that is not connected; null once its failure was told. */
    stage() {
      return this.#established || this.#failed ? null : attempt(() => this.#reached(), "connectivity");
    }
    #reached() {
      if (!this.#pc.remoteDescription) return "noRemoteDescription";
      const ice = this.#ice();
      if (ice === "connected" || ice === "completed") return "dtls";
      return ice === "new" && this.#checking === null ? "gathering" : "connectivity";
    }
    /** Since the fabric was added. */
    ageMs() {
      return Math.round(this.#mono() - this.#started);
    }
    /** Reads the states now. */
    update() {
      try {
        if (isClosed(this.#pc)) this.#events.closed();
        else {
          this.#negotiation();
          this.#connection(this.#mono());
        }
      } catch {
      }
    }
    #ice() {
      return this.#pc.iceConnectionState ?? this.#pc.connectionState ?? "";
    }
    #hasFailed() {
      return this.#ice() === "failed" || this.#pc.connectionState === "failed";
    }
    #negotiation() {
      const { remoteDescription, localDescription, signalingState } = this.#pc;
      if (!this.#remoteSet && remoteDescription) {
        this.#remoteSet = true;
        this.#events.remoteDescriptionSet();
      }
      const sdp = signalingState === "stable" ? sdpText(localDescription) : "";
      if (sdp === "" || sdp === this.#settled) return;
      this.#settled = sdp;
      const ufrag = iceUfrag(sdp);
      if (this.#ufrag && ufrag && ufrag !== this.#ufrag) this.#events.iceRestarted();
      this.#ufrag = ufrag ?? this.#ufrag;
      this.#events.negotiated();
    }
    #connection(now) {
      const gathering = this.#pc.iceGatheringState;
      if (gathering && gathering !== "new") this.#gathering ??= now;
      if (gathering === "complete") this.#gathered ??= now;
      if (this.#ice() === "checking") this.#checking ??= now;
      if (this.#established) this.#disruption(now);
      else if (isConnected(this.#pc)) {
        this.#established = true;
        this.#events.connected(this.#alreadyConnected ? unknownTimes : this.#times(now));
      } else if (this.#hasFailed() && !this.#failed) {
        const stage = this.stage() ?? "connectivity";
        this.#failed = true;
        this.#events.setupFailed(stage);
      }
      this.#alreadyConnected = false;
    }
    #times(now) {
      return {
        setupMs: since(this.#started, now),
        // What was still being gathered when the path stood did not delay it.
        gatheringMs: since(this.#gathering, this.#gathered ?? now),
        connectivityMs: since(this.#checking, now)
      };
    }
    #disruption(now) {
      const broken = this.#ice() === "disconnected" || this.#hasFailed();
      if (broken && this.#disrupted === null) {
        this.#disrupted = now;
        this.#events.disrupted(this.#hasFailed() ? "failed" : "disconnected");
      } else if (this.#disrupted !== null && !broken && isConnected(this.#pc)) {
        this.#events.recovered(Math.round(now - this.#disrupted));
        this.#disrupted = null;
      }
    }
  };

  // src/stats/columns.ts
  var sets = [
    set(
      1,
      "inbound-rtp",
      "audio",
      "ssrc codec bytes packets packetsLost packetsDiscarded fecPackets jitterMs jitterBufferDelayMs rttMs samples concealedSamples silentConcealedSamples concealmentEvents audioLevel"
    ),
    set(
      2,
      "inbound-rtp",
      "video",
      "ssrc codec bytes packets packetsLost jitterMs jitterBufferDelayMs rttMs frames framesDecoded framesDropped keyFrames width height fps harmonicFps freezes freezeMs freezes60s pauses pauseMs decodeMs qp plis firs nacks retransmittedPackets displayedPixels"
    ),
    set(
      3,
      "outbound-rtp",
      "audio",
      "ssrc codec bytes packets rttMs audioLevel targetBitrateBps nacks retransmittedPackets remotePacketsLost remoteLossFraction remoteJitterMs"
    ),
    set(
      4,
      "outbound-rtp",
      "video",
      "ssrc codec rid bytes packets rttMs frames framesEncoded keyFrames width height fps encodeMs qp plis firs nacks retransmittedPackets retransmittedBytes targetBitrateBps remotePacketsLost remoteLossFraction remoteJitterMs limitation cpuLimitedMs bandwidthLimitedMs displayedPixels"
    ),
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
    return [number2, ...(sets[number2 - 1]?.names ?? []).map((name) => bounded(name, measures[name] ?? null))];
  }
  function bounded(name, value) {
    if (typeof value === "string") return value.slice(0, 32);
    if (value === null || !Number.isFinite(value)) return null;
    const whole = /Ms$|[fF]ps$|Bps$|Level$|Fraction$|^qp$/.test(name) ? value : Math.round(value);
    const least = /Lost$/.test(name) ? Number.NEGATIVE_INFINITY : 0;
    return Math.min(Math.max(whole, least), greatest(name));
  }
  function greatest(name) {
    if (/Level$|Fraction$/.test(name)) return 1;
    if (/Ms$/.test(name)) return 36e5;
    if (/[fF]ps$/.test(name)) return 1e3;
    if (name === "qp") return 255;
    return /^(width|height)$/.test(name) ? 65535 : Number.MAX_SAFE_INTEGER;
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
      const transport = String(pair2.transportId ?? "");
      snapshot.pairs.set(transport, {
        id: String(pair2.id),
        transport,
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
  function withoutRetransmissions(packets, retransmitted) {
    return packets === null ? null : Math.max(0, packets - (retransmitted ?? 0));
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
      packets: withoutRetransmissions(by("packetsReceived"), by("retransmittedPacketsReceived")),
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
      packets: withoutRetransmissions(by("packetsSent"), by("retransmittedPacketsSent")),
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
    const mean = ratio(by("totalRoundTripTime"), by("roundTripTimeMeasurements"));
    return inMs(mean ?? num(after.roundTripTime));
  }
  function measurePair(before, after) {
    const { pair: pair2 } = after;
    const { by } = reader(before?.id === after.id ? before.pair : {}, pair2, "responsesReceived");
    const mean = ratio(by("totalRoundTripTime"), by("responsesReceived"));
    return {
      bytesSent: by("bytesSent"),
      bytesReceived: by("bytesReceived"),
      rttMs: inMs(mean ?? num(pair2.currentRoundTripTime)),
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
  var tooShortMs = 500;
  var Monitor = class {
    #known = /* @__PURE__ */ new Map();
    #pairs = /* @__PURE__ */ new Map();
    #lastMs;
    constructor(startMs) {
      this.#lastMs = startMs;
    }
    /** An interval begins. */
    begin(atMs) {
      this.#lastMs = atMs;
    }
    /** The selected pair of the last reading. */
    pair() {
      return this.#pairs.values().next().value;
    }
    /** Whether the last reading has that SSRC. */
    has(ssrc) {
      return [...this.#known.values()].some((known) => known.stream.ssrc === ssrc);
    }
    /** A reading between intervals: only what is new becomes a starting point. */
    adopt(reports, atMs) {
      const snapshot = normalise(reports);
      const added = this.#adoptNew(snapshot, atMs);
      const changedPairs = this.#changed(snapshot);
      for (const pair2 of changedPairs) this.#pairs.set(pair2.transport, pair2);
      for (const [transport, pair2] of snapshot.pairs) if (!this.#pairs.has(transport)) this.#pairs.set(transport, pair2);
      return { intervals: [], groups: [], added, changedPairs };
    }
    /** The end of an interval. */
    measure(reports, atMs, areaOf) {
      const snapshot = normalise(reports);
      const frameMs = span(this.#lastMs, atMs);
      const groups = [{ intervalMs: frameMs, sets: [], rows: [] }];
      let pairRttMs = null;
      for (const [transport, pair2] of snapshot.pairs) {
        const measures = measurePair(this.#pairs.get(transport), pair2);
        pairRttMs ??= num(measures.rttMs);
        addRow(groups, frameMs, pairSet, measures);
      }
      const intervals = [];
      for (const [key, known] of this.#known) {
        const stream2 = snapshot.streams.get(key);
        if (!stream2) this.#known.delete(key);
        else if (atMs - known.atMs >= tooShortMs) {
          const interval = known.advance(stream2, atMs, pairRttMs, areaOf);
          if (isIdle(stream2)) continue;
          intervals.push(interval);
          addRow(groups, interval.ms, streamSet(stream2.statsType, stream2.mediaType), interval.measures);
        }
      }
      this.#lastMs = atMs;
      const changedPairs = this.#changed(snapshot);
      if (snapshot.pairs.size) this.#pairs = snapshot.pairs;
      return { intervals, groups, added: this.#adoptNew(snapshot, atMs), changedPairs };
    }
    #adoptNew(snapshot, atMs) {
      const added = [...snapshot.streams.values()].filter((stream2) => !this.#known.has(stream2.key));
      for (const stream2 of added) this.#known.set(stream2.key, new Known(stream2, atMs));
      return added;
    }
    #changed(snapshot) {
      return [...snapshot.pairs.values()].filter((pair2) => {
        const before = this.#pairs.get(pair2.transport);
        return before && before.id !== pair2.id;
      });
    }
  };
  var Known = class {
    #freezes = [];
    #jitter = new Mean();
    #rtt = new Mean();
    constructor(stream2, atMs) {
      this.stream = stream2;
      this.atMs = atMs;
    }
    /** The interval since the last reading, which this one replaces. */
    advance(stream2, atMs, pairRttMs, areaOf) {
      const ms = span(this.atMs, atMs);
      const measures = { ...measureStream(this.stream, stream2, ms, pairRttMs) };
      if (stream2.mediaType === "video") {
        measures.displayedPixels = areaOf(stream2.ssrc);
        measures.freezes60s = this.#recentFreezes(num(measures.freezes), atMs);
      }
      const sender = measureRemoteSender(this.stream.remote, stream2.remote);
      this.stream = stream2;
      this.atMs = atMs;
      return {
        stream: stream2,
        ms,
        measures,
        sender,
        meanJitterMs: this.#jitter.with(num(measures.jitterMs) ?? num(measures.remoteJitterMs)),
        meanRttMs: this.#rtt.with(num(measures.rttMs))
      };
    }
    #recentFreezes(count, atMs) {
      if (count === null) return null;
      this.#freezes = this.#freezes.filter((f) => atMs - f.atMs < freezeWindowMs);
      if (count) this.#freezes.push({ atMs, count });
      return this.#freezes.reduce((sum, f) => sum + f.count, 0);
    }
  };
  var Mean = class {
    #sum = 0;
    #count = 0;
    with(value) {
      if (value !== null) {
        this.#sum += value;
        this.#count++;
      }
      return this.#count ? this.#sum / this.#count : null;
    }
  };
  function span(fromMs, toMs) {
    return Math.min(6e5, Math.max(1, Math.round(toMs - fromMs)));
  }
  function isIdle({ rtp }) {
    return !(num(rtp.packetsReceived) ?? num(rtp.packetsSent));
  }
  function addRow(groups, ms, set2, measures) {
    let group = groups.find((g) => Math.abs(g.intervalMs - ms) <= sameIntervalMs && g.rows.length < maxRows);
    if (!group) {
      group = { intervalMs: ms, sets: [], rows: [] };
      groups.push(group);
    }
    if (!group.sets.includes(set2)) group.sets.push(set2);
    group.rows.push(row(set2, measures));
  }

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
      const ask = (...callback) => pc.getStats(...callback);
      const askLegacy = () => {
        if (!legacy) answer(null);
        else
          Promise.resolve(ask((response) => answer(attempt(() => fromLegacy(response), null)))).catch(() => answer(null));
      };
      try {
        const promise = ask();
        if (typeof promise?.then !== "function") askLegacy();
        else
          promise.then(
            (reports) => answer(attempt(() => list(reports), null)),
            () => answer(null)
          );
      } catch {
        try {
          askLegacy();
        } catch {
          answer(null);
        }
      }
    });
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
    return {
      fractionLoss: round(fraction, 4),
      packetLossPercentage: round(fraction === null ? null : fraction * 100, 2)
    };
  }
  function remoteReport(interval, own) {
    const { stream: stream2, ms, measures, sender } = interval;
    if (stream2.remote.type === void 0) return null;
    const empty = {
      ...own,
      ...lossFields(null),
      bitrate: null,
      packetRate: null,
      jitter: null,
      averageJitter: null,
      audioInputLevel: null,
      audioOutputLevel: null
    };
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
  var longestMs = 2e4;
  var Fabric = class {
    #env;
    #monitor;
    #life;
    #associations = /* @__PURE__ */ new Map();
    #sources = /* @__PURE__ */ new Map();
    #timers = /* @__PURE__ */ new Set();
    #tick;
    #remoteUserID;
    #reading = false;
    #measuredMs;
    /** fabricSetup waits for the candidates of the first reading. */
    #tellSetup = null;
    #ending = null;
    #done = false;
    /** Starts to monitor; pcCallback hears whether the collector took the fabric. */
    constructor(info, env, pcCallback) {
      this.info = info;
      this.#env = env;
      this.#remoteUserID = info.remoteUserID;
      const { mono } = env.clock;
      this.#measuredMs = mono();
      this.#monitor = new Monitor(this.#measuredMs);
      this.event("fabricAdded", { alreadyConnected: isConnected(info.pc) }, info.addedAt, teller(pcCallback));
      this.#life = new Lifecycle(info.pc, mono, {
        remoteDescriptionSet: () => this.event("remoteDescriptionSet"),
        connected: (times) => this.#connected(times),
        setupFailed: (stage) => this.#setupFailed(stage),
        disrupted: (iceConnectionState) => {
          this.event("iceDisruptionStart", { iceConnectionState });
          this.#trouble(`is ${iceConnectionState}`);
        },
        recovered: (durationMs) => this.event("iceDisruptionEnd", { durationMs }),
        iceRestarted: () => this.event("iceRestart"),
        negotiated: () => this.#after(settleMs, () => this.#probe()),
        closed: () => this.end("closed")
      });
      this.#probe();
      this.#poll();
      this.reschedule();
      this.#life.update();
    }
    /** Records an event of the fabric; false when it is too large. */
    event(name, data = {}, stamp = this.#env.clock.stamp(), done) {
      const { fabric } = this.info;
      return this.#env.send({
        type: "event",
        stamp,
        fabric,
        keep: true,
        members: { fabric, event: name, data },
        ...done && { done }
      });
    }
    /** Says whose an SSRC is. */
    associate(ssrc, association) {
      this.#associations.set(ssrc, association);
    }
    hasStream(ssrc) {
      return this.#monitor.has(ssrc);
    }
    renameRemote(userID) {
      this.#remoteUserID = userID;
    }
    /** Whether it has ended, or is about to. */
    ended() {
      return this.#ending !== null;
    }
    /** Measures at the session's interval from now on; those that start together do not measure together (STAT-01). */
    reschedule() {
      const { clock, intervalMs } = this.#env;
      const latestMs = this.#measuredMs + longestMs - clock.mono();
      this.#measureIn(Math.min(intervalMs() * (0.5 + Math.random() / 2), latestMs));
    }
    /** Ends it; a last reading is tried unless now is set. */
    end(reason, now = reason === "closed") {
      if (!this.#ending) {
        this.#ending = { reason, stamp: this.#env.clock.stamp(), stage: this.#life.stage() };
        this.#life.stop();
        this.#clearTimers();
        if (!now) this.#lastReading();
      }
      if (now) this.#finish(null);
    }
    #lastReading() {
      this.#after(lastReadingMs, () => this.#finish(null));
      const atMs = this.#env.clock.mono();
      this.#read().then((reports) => {
        if (!reports || this.#done) return;
        const reading = attempt(() => this.#monitor.measure(reports, atMs, this.#areaOf), null);
        this.#finish(reading?.intervals.length ? reading : null);
      });
    }
    #finish(last) {
      if (this.#done || !this.#ending) return;
      const { reason, stamp, stage } = this.#ending;
      this.#done = true;
      this.#clearTimers();
      this.#tellSetup?.();
      if (stage) {
        const kept = reason === "closed" || reason === "pagehide" ? reason : "terminated";
        this.event("fabricSetupFailed", { stage, failureMs: this.#life.ageMs(), reason: kept }, stamp);
      }
      if (last) this.#record(last, stamp);
      else this.#deliver([]);
      this.event("fabricTerminated", { reason }, stamp);
      this.#env.ended(this);
    }
    #after(ms, task) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        task();
      }, ms);
      this.#timers.add(timer);
    }
    #clearTimers() {
      clearTimeout(this.#tick);
      for (const timer of this.#timers) clearTimeout(timer);
      this.#timers.clear();
    }
    #poll() {
      this.#after(pollMs, () => {
        this.#poll();
        this.#life.update();
      });
    }
    #measureIn(ms) {
      clearTimeout(this.#tick);
      this.#tick = setTimeout(() => {
        this.#measureIn(this.#env.intervalMs());
        this.#measure();
      }, ms);
    }
    #read() {
      return readStats(this.info.pc, this.#env.legacyStats);
    }
    async #measure() {
      if (this.#ending || this.#reading) return;
      this.#reading = true;
      this.#measuredMs = this.#env.clock.mono();
      const reports = await this.#read();
      this.#reading = false;
      const { clock } = this.#env;
      if (this.#ending) return;
      const measure = (from) => this.#monitor.measure(from, clock.mono(), this.#areaOf);
      this.#record(attempt(() => measure(reports ?? []), null) ?? measure([]), clock.stamp());
    }
    /** A reading between intervals. */
    async #probe() {
      const reports = await this.#read();
      if (!reports || this.#done) return;
      const reading = attempt(() => this.#monitor.adopt(reports, this.#env.clock.mono()), null);
      if (reading) this.#announce(reading);
    }
    #announce({ added, changedPairs }) {
      for (const stream2 of added) this.#streamAdded(stream2);
      for (const pair2 of changedPairs) this.event("selectedCandidatePairChange", candidates(pair2));
    }
    #record(reading, stamp) {
      this.#announce(reading);
      const { fabric } = this.info;
      for (const { intervalMs, rows, sets: sets2 } of reading.groups) {
        if (!rows.length && reading.groups.length > 1) continue;
        this.#env.send({ type: "stats", stamp, fabric, sets: sets2, members: { fabric, intervalMs, rows } });
      }
      this.#deliver(reading.intervals);
    }
    #deliver(intervals) {
      const { online, conferenceURL, deliver, labelBounds } = this.#env;
      deliver({
        connectionState: online() ? "online" : "offline",
        fabricState: this.#done ? "terminated" : this.#life.state(),
        conferenceURL: conferenceURL(this.info),
        conferenceID: this.info.conferenceID,
        ...view(intervals, (interval) => this.#identityOf(interval), labelBounds())
      });
    }
    #identityOf({ stream: stream2 }) {
      const { cname = null, msid = null } = this.#sources.get(stream2.key) ?? {};
      const own = this.#associations.get(stream2.ssrc);
      const inbound2 = stream2.statsType === "inbound-rtp";
      return {
        remoteUserID: inbound2 && own?.userID || this.#remoteUserID,
        userID: own?.userID ?? (inbound2 ? this.#remoteUserID : this.#env.localUserID()),
        cname,
        msid,
        usageLabel: own?.usageLabel ?? null,
        associatedVideoTag: own?.associatedVideoTag ?? null
      };
    }
    #streamAdded(stream2) {
      const { statsType, mediaType, ssrc, codec, rtp, source } = stream2;
      const descriptions = this.info.pc;
      const end = statsType === "inbound-rtp" ? "remoteDescription" : "localDescription";
      const names = sourceInfo(
        attempt(() => sdpText(descriptions[end]), ""),
        ssrc
      );
      this.#sources.set(stream2.key, names);
      const trackIdentifier = str(rtp.trackIdentifier) ?? str(source.trackIdentifier);
      this.event("streamAdded", { ssrc, statsType, mediaType, codec, ...names, trackIdentifier });
    }
    /** The area of the element that shows a video, in device pixels; null when unknown. */
    #areaOf = (ssrc) => {
      const tag = this.#associations.get(ssrc)?.associatedVideoTag;
      const element = typeof tag === "string" && typeof document === "object" ? document.getElementById(tag) : tag;
      const { clientWidth, clientHeight } = element ?? {};
      const width = num(clientWidth);
      const height = num(clientHeight);
      return width === null || height === null ? null : Math.round(width * height * (globalThis.devicePixelRatio || 1) ** 2);
    };
    async #connected(times) {
      const stamp = this.#env.clock.stamp();
      this.#monitor.begin(this.#env.clock.mono());
      this.reschedule();
      this.#after(settleMs, () => this.#probe());
      this.#tellSetup = () => {
        this.#tellSetup = null;
        this.event("fabricSetup", { ...times, ...candidates(this.#monitor.pair()) }, stamp);
      };
      await this.#probe();
      this.#tellSetup?.();
    }
    #setupFailed(stage) {
      this.event("fabricSetupFailed", { stage, failureMs: this.#life.ageMs(), reason: "failed" });
      this.#trouble("failed");
    }
    #trouble(what) {
      this.#env.report("appConnectivityError", `a PeerConnection of the conference ${this.info.conferenceID} ${what}`);
    }
  };
  function teller(pcCallback) {
    return (err, msg) => later(pcCallback, err, msg);
  }
  function candidates(pair2) {
    return {
      localCandidateType: str(pair2?.local.candidateType),
      remoteCandidateType: str(pair2?.remote.candidateType),
      relayProtocol: str(pair2?.local.relayProtocol)
    };
  }

  // src/page.ts
  function watchPage(events, withPagehide) {
    if (typeof addEventListener !== "function") return () => void 0;
    const pagehide = (event) => attempt(() => events.hidden(event.persisted), void 0);
    const shown = (event) => {
      const returned = event.type === "pageshow" && event.persisted;
      if (returned || typeof document !== "object" || document.visibilityState !== "hidden")
        attempt(() => events.shown(returned), void 0);
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

  // src/wire.ts
  var Speaker = class {
    #known = /* @__PURE__ */ new Set();
    #context;
    constructor(context) {
      this.#context = context;
    }
    /** A frame, after the announcements that are new to this connection. */
    lines(entry) {
      const { fabricLine, columnsLine: columnsLine2 } = this.#context;
      const fresh = [...entry.fabrics.map(fabricLine), ...entry.sets.map(columnsLine2)].filter(
        (line) => !this.#known.has(line)
      );
      for (const line of fresh) this.#known.add(line);
      return [...fresh, textOf(entry)];
    }
  };
  function postBody(hello, entries, context, took) {
    const speaker = new Speaker(context);
    let body = JSON.stringify(hello);
    let bytes = byteLength(body);
    for (const entry of entries) {
      const added = `
${speaker.lines(entry).join("\n")}`;
      bytes += byteLength(added);
      if (bytes > maxFrameBytes) break;
      body += added;
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
  var longestTimerMs = 864e5;
  var bye = '{"type":"bye"}';
  var Transport = class {
    #env;
    #token = null;
    #socket = null;
    #speaker;
    #ready = false;
    #paused = false;
    #connecting = false;
    #stopped = true;
    #resting = false;
    #attempts = 0;
    #socketRefusals = 0;
    #postUntil = 0;
    // on the monotonic clock: WebSockets are not tried before
    #posting = false;
    // WebSockets are refused; the POST door stands in
    #windowFrames = 256;
    #login = 0;
    // numbers the logins: a restart makes older ones void
    #helloSent = 0;
    #helloToken = null;
    #doubted = false;
    // a token was refused, and no connection has been welcomed since
    #welcomedAt = 0;
    #renewal;
    #next;
    // the next attempt or POST
    #watchdog;
    #pause;
    constructor(env) {
      this.#env = env;
      this.#speaker = new Speaker(env);
    }
    /** Whether the collector knows who speaks and listens. */
    online() {
      return this.#ready;
    }
    /** Logs in (again) and connects anew. */
    restart() {
      this.#login++;
      this.#connecting = this.#stopped = false;
      this.#token = null;
      this.#posting = this.#resting = this.#doubted = false;
      this.#attempts = this.#socketRefusals = this.#postUntil = 0;
      clearTimeout(this.#renewal);
      this.#disconnect();
      this.#connect();
    }
    /** Connects at once if it waits to try again. */
    wake() {
      this.#resting = false;
      if (this.#stopped || this.#connecting) return;
      if (this.#socket) this.pump();
      else this.#connect();
    }
    /** Leaves the collector until wake(). */
    rest() {
      this.#resting = true;
      this.#disconnect();
    }
    /** Sends what waits for at most so long, then ends. */
    stop(graceMs2) {
      const { clock, queue } = this.#env;
      const until = clock.mono() + graceMs2;
      const end = () => {
        if (!this.#stopped && clock.mono() < until && queue.waiting().length) {
          setTimeout(end, 200);
          return;
        }
        this.#stopped = true;
        this.#login++;
        this.flush();
        clearTimeout(this.#renewal);
        this.#disconnect(bye);
        queue.giveUp("failure", "the session was replaced");
      };
      end();
    }
    /** Hands what waits to a request that outlives the page. */
    flush() {
      const { clock, queue, base } = this.#env;
      if (!this.#token || !clock.synced()) return;
      queue.shrink(maxEntryBytes);
      const all = queue.waiting();
      const fits = all.reduce((sum, entry) => sum + entry.bytes, 0) <= maxEntryBytes;
      const entries = fits ? all : all.filter((entry) => !entry.sent);
      if (entries.length) post(`${base}frames`, this.#body(entries), true).catch(() => void 0);
    }
    /** Sends what can be sent now. */
    pump() {
      const ws = this.#socket;
      if (!ws || !this.#ready || this.#paused) return;
      const { clock, queue } = this.#env;
      if (!clock.synced()) {
        this.#disconnect();
        this.#retry(0, 0);
        return;
      }
      for (let entry = queue.next(this.#windowFrames); entry; entry = queue.next(this.#windowFrames)) {
        if (ws.bufferedAmount > bufferedLimit) {
          this.#hold(250, false);
          return;
        }
        const sendLines = () => {
          for (const line of this.#speaker.lines(entry)) ws.send(line);
        };
        if (!this.#safely(sendLines)) return;
        queue.sent(entry);
      }
    }
    /** A socket or an answer that throws is a connection lost, nothing for the page. */
    #safely(task) {
      try {
        task();
        return true;
      } catch (error) {
        this.#lost(new Refusal("wsChannelFailure", text(error), true));
        return false;
      }
    }
    /** Sends nothing for so long; then again from the last acknowledged number, or on. */
    #hold(ms, again) {
      this.#paused = true;
      clearTimeout(this.#pause);
      this.#pause = setTimeout(() => {
        this.#paused = false;
        if (again) this.#env.queue.rewind();
        this.pump();
      }, ms);
    }
    /** Exponential back-off with full jitter. */
    #retry(minMs = 0, attempts = this.#attempts) {
      if (this.#stopped) return;
      this.#attempts = attempts + 1;
      const backoffMs = Math.random() * Math.min(maxBackoffMs, 1e3 * 2 ** attempts);
      this.#connectIn(Math.max(minMs, backoffMs));
    }
    #connectIn(ms) {
      clearTimeout(this.#next);
      this.#next = setTimeout(() => this.#connect(), Math.min(ms, longestTimerMs));
    }
    #fail(error) {
      this.#ready = false;
      const unknown = error.csError === "authError";
      const stale = unknown && this.#token && !this.#doubted;
      if (!stale) this.#env.report(error.csError, error.message);
      if (unknown) {
        this.#token = null;
        this.#doubted = true;
      }
      if (stale || error.retry) {
        this.#retry(error.retryAfterMs);
        return;
      }
      this.#stopped = true;
      clearTimeout(this.#renewal);
      this.#env.queue.giveUp(error.csError, error.message);
    }
    async #connect() {
      clearTimeout(this.#next);
      if (this.#stopped || this.#resting || this.#connecting || this.#socket) return;
      this.#connecting = true;
      const mine = this.#login;
      try {
        if (!this.#token) await this.#renew(false);
        if (mine !== this.#login || this.#stopped || this.#resting) return;
        if (this.#env.clock.mono() < this.#postUntil) await this.#postAll();
        else this.#open();
      } catch (error) {
        if (mine === this.#login)
          this.#fail(error instanceof Refusal ? error : new Refusal("httpError", text(error), true));
      } finally {
        if (mine === this.#login) this.#connecting = false;
      }
    }
    async #renew(forceNew) {
      const mine = this.#login;
      const { clock, login: login2, report } = this.#env;
      const token = await login2(forceNew, (late) => {
        if (mine === this.#login) report(late.csError, late.message);
      });
      if (mine !== this.#login) return;
      this.#token = token;
      clock.sample(token.sent, token.received, token.at);
      if (!forceNew) report("success", "authenticated");
      this.#renewIn(token.expiresInMs * 0.9);
    }
    #renewIn(ms) {
      clearTimeout(this.#renewal);
      this.#renewal = setTimeout(
        // The old token is still good; when it is over, the next connection logs in and reports.
        () => this.#renew(true).catch(() => this.#stopped || this.#renewIn(renewAgainMs)),
        Math.min(Math.max(ms, renewAgainMs), longestTimerMs)
      );
    }
    #open() {
      let ws;
      try {
        ws = new WebSocket(`${this.#env.base.replace(/^http/, "ws")}ws`, "qos");
      } catch (error) {
        this.#socketFailed(text(error));
        return;
      }
      this.#socket = ws;
      this.#ready = false;
      this.#watch(helloMs);
      ws.onopen = () => this.#safely(() => ws.send(JSON.stringify(this.#hello())));
      ws.onmessage = (event) => {
        this.#watch(silenceMs);
        this.#safely(() => this.#handle(parseLine(event.data)));
      };
      ws.onclose = () => this.#lost();
    }
    #hello() {
      this.#helloSent = this.#env.clock.mono();
      this.#helloToken = this.#token;
      return this.#env.hello(this.#token?.token ?? "");
    }
    /** Ends a connection that says nothing for two spans while something is expected of it. */
    #watch(ms, suspicious = false) {
      clearTimeout(this.#watchdog);
      this.#watchdog = setTimeout(() => {
        const waiting = this.#env.queue.unacked();
        if (!this.#ready || waiting && suspicious) this.#lost();
        else this.#watch(silenceMs, waiting);
      }, ms);
    }
    #lost(refusal) {
      const wasReady = this.#ready;
      if (wasReady && this.#env.clock.mono() - this.#welcomedAt > steadyMs) this.#attempts = 0;
      this.#disconnect();
      if (refusal) this.#fail(refusal);
      else if (wasReady) this.#retry();
      else this.#socketFailed("cannot connect over WebSockets");
    }
    #socketFailed(msg) {
      if (!this.#posting) this.#env.report("wsChannelFailure", msg);
      if (this.#posting || ++this.#socketRefusals >= refusalsBeforePost) {
        this.#posting = true;
        this.#postUntil = this.#env.clock.mono() + socketAgainMs;
      }
      this.#retry();
    }
    #disconnect(lastWords = "") {
      const ws = this.#socket;
      this.#socket = null;
      this.#ready = this.#paused = false;
      for (const timer of [this.#watchdog, this.#pause, this.#next]) clearTimeout(timer);
      if (!ws) return;
      ws.onopen = ws.onmessage = ws.onclose = null;
      try {
        if (lastWords && ws.readyState === 1) ws.send(lastWords);
        ws.close(1e3);
      } catch {
      }
    }
    #handle(message) {
      if (!message) return;
      const { queue, report, statsInterval } = this.#env;
      const code = String(message.code ?? "");
      const msg = String(message.message ?? code);
      const csError = message.csError ?? "wsChannelFailure";
      const retryAfterMs = Number(message.retryAfterMs) || 0;
      switch (message.type) {
        case "welcome":
          this.#welcomed(message);
          break;
        case "ack":
          if (queue.ack(Number(message.seq))) {
            this.#attempts = 0;
            report("success", "connected");
          }
          this.pump();
          break;
        case "nack":
          queue.nack(Number(message.seq), csError, msg);
          report(csError, msg);
          break;
        case "slow-down":
          if (message.statsIntervalMs) statsInterval(Number(message.statsIntervalMs));
          this.#hold(retryAfterMs, true);
          break;
        case "bye":
          this.#bye(new Refusal(csError, msg, message.retry === true, retryAfterMs, code));
      }
    }
    #bye(refusal) {
      const renewed = this.#token !== null && this.#token !== this.#helloToken;
      if (refusal.code !== "token_expired" || !renewed) {
        this.#lost(refusal);
        return;
      }
      this.#disconnect();
      this.#retry(refusal.retryAfterMs, 0);
    }
    #welcomed(welcome) {
      const { clock, queue, welcomed, report } = this.#env;
      clock.sample(this.#helloSent, clock.mono(), Number(welcome.at));
      this.#ready = true;
      this.#doubted = false;
      this.#welcomedAt = clock.mono();
      if (this.#socket) {
        this.#posting = false;
        this.#socketRefusals = 0;
      }
      this.#speaker = new Speaker(this.#env);
      this.#windowFrames = Number(welcome.windowFrames) || this.#windowFrames;
      queue.rewind();
      queue.ack(Number(welcome.acked) || 0);
      welcomed(welcome);
      report("success", "connected");
      this.pump();
    }
    #body(entries) {
      return postBody(this.#hello(), entries, this.#env, (entry) => this.#env.queue.sent(entry));
    }
    async #postAll() {
      const { base, clock, queue } = this.#env;
      const entries = clock.synced() ? queue.waiting() : [];
      if (this.#ready && clock.synced() && !entries.length) {
        this.#connectIn(postPauseMs);
        return;
      }
      const mine = this.#login;
      const acked = queue.acked();
      const { status, body } = await post(`${base}frames`, this.#body(entries));
      if (mine !== this.#login) return;
      const answers = body.split("\n").map(parseLine);
      if (status !== 200) throw refused(status, answers[0] ?? null);
      for (const answer of answers) this.#handle(answer);
      const goOn = queue.acked() > acked && queue.next(this.#windowFrames);
      if (!this.#stopped) this.#connectIn(goOn || !entries.length ? 0 : postPauseMs);
    }
  };

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
  var version = "0.1.0";

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
    #queue = new Queue(this.#clock);
    #transport;
    #fabrics = [];
    #endedFabrics = [];
    #announcements = /* @__PURE__ */ new Map();
    #infos = /* @__PURE__ */ new Map();
    #outages = /* @__PURE__ */ new Set();
    /** What was monitored when the page went into the back/forward cache. */
    #left = [];
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
      this.#transport = new Transport({
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
          shown: (returned) => this.#shown(returned)
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
    /** A page that may come back ends its fabrics too: nobody knows whether it will. */
    #hidden(kept) {
      const alive = this.#fabrics.filter((fabric) => !fabric.ended());
      this.#left = kept ? alive.map((fabric) => fabric.info) : [];
      for (const fabric of [...this.#fabrics]) fabric.end("pagehide", true);
      this.#transport.flush();
      if (kept) this.#transport.rest();
    }
    #shown(returned) {
      const left = returned ? this.#left.splice(0) : [];
      for (const info of left) if (!isClosed(info.pc)) this.addFabric(info);
      this.#transport.wake();
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
      this.#infos.set(full.fabric, { ...full, pc: {} });
      this.#fabrics.push(new Fabric(full, this.#fabricEnv(), pcCallback));
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
      if (this.#announcements.size + this.#infos.size > 2 * keptEnded) this.#forgetAnnouncements();
    }
    /** Forgets how to announce fabrics that have ended and that no frame is about any more. */
    #forgetAnnouncements() {
      const needed = /* @__PURE__ */ new Set([
        ...this.#fabrics.map((f) => f.info.fabric),
        ...this.#queue.waiting().flatMap((e) => e.fabrics)
      ]);
      for (const map of [this.#announcements, this.#infos])
        for (const fabric of [...map.keys()]) if (!needed.has(fabric)) map.delete(fabric);
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
      if (!(ms >= 2e3 && ms <= 2e4) || ms === this.#intervalMs) return;
      this.#intervalMs = ms;
      for (const fabric of this.#fabrics) if (!fabric.ended()) fabric.reschedule();
    }
    #conferenceURL(info) {
      if (!this.#urlTemplate) return null;
      const values = {
        appID: this.#info.appID,
        conferenceID: info.conferenceID,
        at: String(this.#clock.time(info.addedAt))
      };
      return this.#urlTemplate.replace(
        /\{(appID|conferenceID|at)\}/g,
        (_, name) => encodeURIComponent(values[name] ?? "")
      );
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
      addNewFabric: (...args) => guardCallback(args, () => addNewFabric(instance, args)),
      reportError: (...args) => guard(() => reportError(instance, args)),
      associateMstWithUserID: (...args) => guard(() => associate(instance, args)),
      sendFabricEvent: (...args) => guard(() => sendFabricEvent(instance, args)),
      reportUserIDChange: (...args) => guard(() => reportUserIDChange(instance, args)),
      sendUserFeedback: (...args) => guardCallback(args, () => sendUserFeedback(instance, args)),
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
    return {
      ...operations,
      version,
      fabricUsage,
      fabricEvent,
      webRTCFunctions,
      userIDType,
      endpointType,
      transmissionDirection,
      qosAPIReturnStatus,
      // Names that existing applications read (LIB-09).
      wrtcFuncNames: webRTCFunctions,
      callStatsAPIReturnStatus: qosAPIReturnStatus
    };
  }
  function guardCallback(args, operation) {
    const result = guard(operation);
    if (result.status === "failure") later(lastFunction(args.slice(2)), "failure", result.msg);
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
    const session2 = new Session(info, {
      report: (csError, msg) => {
        if (instance.session !== session2) return;
        later(instance.initCallback, csError, msg);
        if (csError !== "success") instance.emit("error", csError, msg);
      },
      stats: (stats) => {
        later(instance.statsCallback, stats);
        instance.emit("stats", stats);
      },
      wifi: () => instance.wifi
    });
    instance.session = session2;
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
      fabricTransmissionDirection: requireMember(
        "fabricTransmissionDirection",
        transmissionDirection,
        fabricTransmissionDirection ?? "sendrecv"
      )
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
    return sent(
      fabric.event("associateMstWithUserID", {
        ssrc,
        userID,
        usageLabel,
        associatedVideoTag: id && cutBytes(String(id), 256)
      }),
      notes
    );
  }
  function sent(taken, notes = []) {
    return taken ? success(notes) : failure(`the frame would be larger than ${maxEntryBytes} bytes`);
  }
  var withoutPc = /* @__PURE__ */ new Set([fabricEvent.dominantSpeaker, fabricEvent.activeDeviceList]);
  function sendFabricEvent(instance, args) {
    const [pc, name, conferenceID, eventData] = args;
    const event = requireMember("fabricEvent", fabricEvent, name);
    if (event === "fabricSetup" || event === "fabricSetupFailed")
      throw new Invalid(`${event} is made by the library itself and cannot be sent`);
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
      throw new Invalid(
        `eventName must be one of ${callbackEvents.join(", ")}, got ${typeof name === "string" ? "another name" : kindOf(name)}`
      );
    }
    if (typeof callback !== "function")
      throw new Invalid(`csEventCallback must be a function, got ${kindOf(callback)}`);
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
    if (!isObject(attributes))
      throw new Invalid(`callAttributes must be an object, got ${kindOf(attributes)}`);
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
  var qos = assemble(script?.src);
  if (typeof define === "function" && define.amd) define([], () => qos);
  else if (typeof module === "object" && module.exports) module.exports = qos;
  else Object.assign(globalThis, { qos });
})();
//# sourceMappingURL=qos.js.map
