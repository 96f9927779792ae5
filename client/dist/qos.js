/*! qos 0.1.0 | Apache-2.0 */
(() => {
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
  function onRefusal(notify) {
    call.refused = notify;
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
  function inTime(limitMs3, make) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), limitMs3);
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
  function reading(name, read2) {
    try {
      return read2();
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
  function must(ok, name, wanted, given) {
    if (!ok) throw new Invalid(`${name} must be ${wanted}, got ${kindOf(given)}`);
  }
  function ignored(name, wanted, given) {
    note(`${name} must be ${wanted}, got ${kindOf(given)}: ignored`);
  }
  function atMost(name, limit, unit, given) {
    if (given > limit) throw new Invalid(`${name} must be at most ${limit} ${unit}, got ${given}`);
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
  function requireSource(value) {
    if (!isObject(value)) return requireInteger("ssrc", value, 0, 4294967295);
    const isOne = reading("ssrc", () => "kind" in value || "track" in value);
    must(isOne, "ssrc", "an SSRC, a track, a sender or a receiver", value);
    return value;
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
    for (const report2 of reports) byId.set(report2.id, report2);
    const byType = /* @__PURE__ */ new Map();
    const ofType = (type) => byType.get(type) ?? [];
    for (const report2 of byId.values()) {
      const type = report2.isRemote === true ? `remote-${report2.type}` : report2.type;
      const alike = byType.get(type) ?? [];
      alike.push(report2);
      byType.set(type, alike);
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
      // A report stays when no other follows: of a dead call it would show the past, for ever.
      remote: Number(rtp.timestamp) - Number(remote.timestamp) > stalestMs ? none : remote,
      source: byId.get(rtp.mediaSourceId) ?? none
    };
  }
  function selectedPairs(byId, ofType) {
    const selected = ofType("transport").flatMap(({ selectedCandidatePairId, bytesReceived }) => {
      const pair2 = byId.get(selectedCandidatePairId);
      if (!pair2) return [];
      const whole = { ...pair2, bytesReceived: pair2.bytesReceived || bytesReceived };
      byId.set(pair2.id, whole);
      return [whole];
    });
    if (selected.length) return selected;
    const pairs = [...ofType("candidate-pair")].sort((a, b) => Number(b.bytesReceived) - Number(a.bytesReceived));
    const pair = pairs.find((p) => p.selected === true) ?? pairs.find((p) => p.nominated === true && p.state === "succeeded");
    return pair ? [pair] : [];
  }

  // src/stats/measures.ts
  var longestBytes = 64;
  var table = `ssrc 1234
codec 1234
rid 4 $
contentType 24 $
bytes 1234 + bytesReceived bytesSent
packets 1234 *
packetsLost 12 *
packetsDiscarded 1 +
fecPackets 1 + fecPacketsReceived
jitterMs 12 = jitter
jitterBufferDelayMs 12 / jitterBufferDelay jitterBufferEmittedCount
externalDelayMs 12 - jitterBufferTargetDelay jitterBufferEmittedCount jitterBufferMinimumDelay
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
retransmittedPackets 1234 + retransmittedPacketsReceived retransmittedPacketsSent
retransmittedBytes 1234 + retransmittedBytesReceived retransmittedBytesSent
targetBitrateBps 34
remotePacketsLost 34 *
remoteLossFraction 34
remoteJitterMs 34
limitation 4 $ qualityLimitationReason
cpuLimitedMs 4 *
bandwidthLimitedMs 4 *
displayedPixels 24
bytesSent 5 +
bytesReceived 5 +
availableOutgoingBps 5 = availableOutgoingBitrate
outOfRange 12345`.split("\n").map((line) => {
    const [name = "", inSets = "", how = "", first = name, second = "", third = ""] = line.split(" ");
    const factor = /Ms$/.test(name) ? 1e3 : 1;
    return { column: name, inSets, how, first, second, third, factor, range: rangeOf(name) };
  });
  var alwaysCounted = "packetsReceived packetsSent roundTripTimeMeasurements responsesReceived packetsLost totalRoundTripTime bytesSent timestamp remoteTimestamp cpu bandwidth totalEncodedBytesTarget".split(
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
    const counted = columns.filter(({ how }) => /[+/-]/.test(how)).flatMap(({ first, second, third }) => [first, second, third]);
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
  var columnsOf = (set) => setNumbered(set).columns;
  var columnsLine = (set) => setNumbered(set).line;
  function row(set, measures) {
    return [set, ...setNumbered(set).names.map((name) => measures[name] ?? null)];
  }
  var untrue = Infinity;
  var known = (value) => num(value) ?? NaN;
  var countersOf = (set) => setNumbered(set).counters;
  var grown = (value) => value === untrue ? untrue : known(value);
  var startedAgain = (now, then) => 2 * now < then;
  var bytesOf = ({ bytesReceived, bytesSent }) => known(bytesReceived ?? bytesSent);
  function count(last, report2, blank) {
    const by = { ...blank };
    const anew = restarts.some((name) => startedAgain(known(report2[name]), known(last[name]))) && !(bytesOf(report2) >= bytesOf(last));
    for (const name in blank) {
      const now = num(report2[name]);
      if (anew) last[name] = null;
      if (now !== null) by[name] = stepOf(last, name, now);
    }
    return by;
  }
  function stepOf(last, name, now) {
    const isLoss = name === "packetsLost";
    if (now === 2 ** 24 - 1 || now === 2 ** 32 - 1 || now < 0 && !isLoss) return untrue;
    const then = last[name] ?? 0;
    const lower = `${name}-`;
    if (now >= then) {
      last[name] = now;
      if (lower in last) last[lower] = null;
      return now - then;
    }
    const from = last[lower] ?? (isLoss ? then : untrue);
    last[lower] = now;
    if (now < from) return isLoss ? now - from : untrue;
    last[name] = then + now - from;
    return now - from;
  }
  function measure(set, by, report2, own) {
    const { blank, columns } = setNumbered(set);
    const measures = { ...blank };
    const outOfRange = [];
    for (const { column: name, how, first, second, third, factor, range } of columns) {
      let value = own[name];
      if (how === "+") value = factor * grown(by[first] ?? by[second]);
      else if (how === "/") value = num(factor * known(by[first]) / known(by[second] ?? by[third]));
      else if (how === "-") value = num(factor * (known(by[first]) - known(by[third])) / known(by[second]));
      else if (how === "=") value = factor * known(report2[first]);
      else if (how === "$") value = str(report2[first]);
      if (value === untrue) outOfRange.push(name);
      measures[name] = bounded(range, value);
    }
    measures.outOfRange = bounded(rangeOf(""), outOfRange.join()) || null;
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

  // src/stats/merge.ts
  var longestMs = 21e3;
  var streamsOf = ({ rows }) => json(rows.map(([set, ssrc]) => [set, set !== pairSet && ssrc]));
  function merge(then, now) {
    const intervalMs = then.intervalMs + now.intervalMs;
    if (!(intervalMs <= longestMs && streamsOf(then) === streamsOf(now))) return void 0;
    const share = now.intervalMs / intervalMs;
    const rows = now.rows.map((row2, i) => [
      row2[0],
      ...columnsOf(row2[0]).map(({ how, range }, column) => {
        const value = row2[column + 1] ?? null;
        const before = then.rows[i]?.[column + 1] ?? null;
        if (/[+*]/.test(how)) return bounded(range, known(before) + known(value));
        const mean2 = range[0] > 1 && known(before) + (known(value) - known(before)) * share;
        return bounded(range, mean2) ?? value ?? before;
      })
    ]);
    return { ...now, intervalMs, rows };
  }

  // src/queue.ts
  var maxFrameBytes = 65536;
  var maxEntryBytes = maxFrameBytes - 12288;
  var headBytes = 90;
  var skipRank = 3;
  var createQueue = (clock, limits = {}) => ({
    clock,
    mostBytes: 1 << 20,
    ageMs: 2 * 36e5,
    windowBytes: 256 << 10,
    ...limits,
    pending: [],
    lastSeq: 0,
    ackedSeq: 0,
    cursor: 0,
    unread: false,
    suspectSeq: 0
  });
  function drop(queue, entry) {
    settle(entry, "failure", "dropped unsent");
    skip(queue, entry);
  }
  function skip({ pending, clock }, entry) {
    const at = pending.indexOf(entry);
    const skipAt = (index) => Number(pending[index]?.rank === skipRank && !pending[index]?.sent);
    const start2 = at - skipAt(at - 1);
    const end2 = at + 1 + skipAt(at + 1);
    pending.splice(start2, end2 - start2, skipOf(pending.slice(start2, end2), clock));
  }
  var droppable = ({ pending }) => pending.filter((entry) => !entry.sent && entry.rank < skipRank);
  function shrink(queue, bytes) {
    while (total(queue.pending.filter((entry) => !entry.sent)) > bytes) {
      const entries = droppable(queue).sort((a, b) => a.rank - b.rank);
      if (!entries[0]) return;
      if (!entries.some((entry) => join(queue, entry))) drop(queue, entries[0]);
    }
  }
  function join(queue, entry) {
    if (entry.rank || entry.closed) return false;
    const fabricOf2 = ({ lost: lost2 }) => lost2[0]?.fabric;
    const later2 = queue.pending.slice(queue.pending.indexOf(entry) + 1);
    const next = later2.find((other) => !other.rank && fabricOf2(other) === fabricOf2(entry));
    if (!next || next.closed) return false;
    const merged = merge(JSON.parse(`{${entry.tail}`), JSON.parse(`{${next.tail}`));
    const tail = merged ? json(merged).slice(1) : "";
    const bytes = byteLength(tail) + headBytes;
    entry.closed = !tail || bytes > maxEntryBytes;
    if (entry.closed) return false;
    next.tail = tail;
    next.byteCount = bytes;
    entry.lost = [];
    skip(queue, entry);
    return true;
  }
  function push(queue, frame) {
    const tail = json(frame.members).slice(1);
    const bytes = byteLength(tail) + headBytes;
    if (bytes > maxEntryBytes) return 0;
    const { pending, ageMs, mostBytes, clock } = queue;
    pending.push(entryOf(frame, ++queue.lastSeq, tail, bytes, clock));
    const oldestMs = frame.stamp.ms - ageMs;
    for (const entry of droppable(queue)) if (entry.stamp.ms < oldestMs) drop(queue, entry);
    shrink(queue, mostBytes - total(pending.filter((entry) => entry.sent)));
    return queue.lastSeq;
  }
  function upNext({ pending, cursor, windowBytes }, frameWindow) {
    const fits = cursor < frameWindow && (!cursor || total(pending.slice(0, cursor + 1)) <= windowBytes);
    return fits ? pending[cursor] : void 0;
  }
  function markSent(queue, entry) {
    entry.sent = true;
    queue.cursor = queue.pending.indexOf(entry) + 1;
  }
  function rewind(queue) {
    queue.cursor = 0;
    const [first] = queue.pending;
    if (!queue.unread || !first?.sent) return;
    queue.unread = false;
    if (first.seq === queue.suspectSeq) drop(queue, first);
    queue.suspectSeq = first.seq;
  }
  function acknowledge(queue, seq) {
    const { pending } = queue;
    let stored = false;
    for (let entry = pending[0]; entry?.sent && entry.seq <= seq; entry = pending[0]) {
      pending.shift();
      queue.ackedSeq = entry.seq;
      queue.cursor = Math.max(0, queue.cursor - 1);
      settle(entry, "success", "");
      stored ||= !entry.refused;
    }
    return stored;
  }
  function refuse(queue, seq, err, msg) {
    queue.unread ||= !seq;
    const entry = queue.pending.find((other) => other.seq === seq);
    if (!entry) return;
    entry.refused = true;
    settle(entry, err, msg);
  }
  function giveUp(queue, err, msg) {
    for (const entry of queue.pending) settle(entry, err, msg);
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
    const entry = {
      seq,
      firstSeq: seq,
      stamp,
      sets: sets2,
      lost: [{ fabric, stats: Number(measured), events: Number(!measured) }],
      rank: measured ? 0 : type === "sdp" ? 0.5 : keep ? 2 : 1,
      byteCount: bytes,
      sent: false,
      tail,
      done,
      line: once(() => {
        entry.closed = true;
        const inside = insideAt ? `"conferenceAt":${clock.time(insideAt)},` : "";
        return `{"type":"${type}","seq":${seq},"at":${clock.time(stamp)},${inside}${entry.tail}`;
      })
    };
    return entry;
  }
  function skipOf(run, clock) {
    const sums = /* @__PURE__ */ new Map();
    for (const { fabric, stats, events } of run.flatMap((entry) => entry.lost)) {
      const before = sums.get(fabric);
      sums.set(fabric, { fabric, stats: stats + (before?.stats ?? 0), events: events + (before?.events ?? 0) });
    }
    const lost2 = [...sums.values()];
    const { firstSeq } = run[0];
    const { seq, stamp } = run.at(-1);
    return {
      seq,
      firstSeq,
      stamp,
      sets: [],
      lost: lost2,
      rank: skipRank,
      byteCount: headBytes + 48 * lost2.length,
      sent: false,
      tail: "",
      line: once(() => json({ type: "skip", seq, from: firstSeq, at: clock.time(stamp), lost: lost2 }))
    };
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
    const lost2 = known(m.packetsLost);
    const expected = lost2 + (num(m.packets) ?? 0);
    return expected > 0 ? Math.min(1, Math.max(0, lost2 / expected)) : null;
  }
  function audioMos(m) {
    const loss = lossOf(m);
    if (loss === null || m.packets === 0 && num(m.remoteLossFraction) !== null) return null;
    const audible = ((num(m.concealedSamples) ?? 0) - (num(m.silentConcealedSamples) ?? 0)) / (num(m.samples) || 1);
    const lossPercent = 100 * Math.min(1, Math.max(loss, audible));
    const delayMs = (num(m.rttMs) ?? 0) / 2 + (num(m.jitterBufferDelayMs) ?? 0) - (num(m.externalDelayMs) ?? 0) + packetAndCodecMs;
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
    if (fps === 0) return known(m.packetsLost) > 0 ? 1 : null;
    const frozen = Math.min(1, (num(m.freezeMs) ?? 0) / ms);
    const freezes = Math.exp(-0.1 * (num(m.freezes60s) ?? 0) - 2 * frozen);
    const motion = fps === null ? 1 : Math.max(0, 1 - 0.3 * Math.max(0, Math.log(24 / fps)));
    const lost2 = Math.exp(-10 * (num(m.remoteLossFraction) ?? 0));
    return 1 + 3.4 * freezes * motion * lost2;
  }

  // src/timer.ts
  var longestMs2 = 864e5;
  function createTimer(task) {
    let id;
    return (ms) => {
      clearTimeout(id);
      if (ms !== void 0) id = setTimeout(task, Math.min(ms, longestMs2));
    };
  }

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
    constructor(csError, message, mayRetry = false, waitMs = 0, reasonCode = "") {
      super(message);
      this.csError = csError;
      this.mayRetry = mayRetry;
      this.waitMs = waitMs;
      this.reasonCode = reasonCode;
    }
  };
  var generatorLimitMs = 1e4;
  var answerLimitMs = 2e4;
  function login(env, who, renew2) {
    const { appSecret: secret } = who;
    const byToken = typeof secret === "function";
    const logIn = (forceNew) => byToken ? jwtLogin(env, who, secret, forceNew) : scramLogin(env, who, secret);
    return logIn(renew2).catch((error) => {
      if (renew2 || error.reasonCode !== (byToken ? "auth_failed" : "token_expired")) throw error;
      return logIn(true);
    });
  }
  async function scramLogin(env, { appID, userID = "getTurnCredentials" }, secret) {
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
  async function jwtLogin(env, who, generator, renew2) {
    const jwt = await generate(env, generator, renew2);
    return toToken(await exchange(env, { type: "jwt", appID: who.appID, userID: who.userID, jwt }));
  }
  function generate(env, generator, forceNew) {
    return new Promise((resolve, reject) => {
      const fail3 = (reason) => new Refusal("tokenGenerationError", reason);
      const timer = setTimeout(() => env.late(fail3("the token generator gave no answer within 10 s")), generatorLimitMs);
      const answer2 = (error, token) => {
        clearTimeout(timer);
        if (error) reject(fail3(text(error)));
        else if (typeof token !== "string" || !token) reject(fail3("the token generator gave no token"));
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
  function refused({ code, csError, message, retry: retry2, retryAfterMs }, status = 0) {
    return new Refusal(
      csError ?? (status ? "httpError" : "wsChannelFailure"),
      String(
        message ?? (status ? `HTTP status ${status}${status === 404 ? ": set configParams.backendUrl?" : ""}` : code)
      ),
      retry2 === true || code === "hello_expected" || // older collectors send it as permanent
      status === 429 || status >= 500 || // Without a code it is no answer of the collector.
      status > 0 && (!code || code === "token_expired"),
      Number(retryAfterMs) || 0,
      String(code ?? "")
    );
  }

  // src/instance.ts
  function emit({ subscribers }, name, ...args) {
    for (const callback of subscribers[name] ?? []) later(callback, ...args);
  }
  function answer(instance, name, ...args) {
    instance.answers[name] = args;
    emit(instance, name, ...args);
  }

  // src/session/results.ts
  function report(s, csError, msg) {
    const { instance } = s;
    if (instance.current !== s) return;
    for (const callback of /* @__PURE__ */ new Set([...instance.unanswered, instance.initCallback])) later(callback, csError, msg);
    instance.unanswered.clear();
    if (csError !== "success") emit(instance, "error", csError, msg);
  }
  function reportOnce(s, csError, msg) {
    if (s.reported.has(csError)) return;
    if (csError === "success") s.reported.clear();
    s.reported.delete("success");
    s.reported.add(csError);
    report(s, csError, msg);
  }
  var readingCallbacks = ({ instance }) => [instance.statsCallback, ...instance.subscribers.stats ?? []].filter(Boolean);
  function deliverStats(s, stats) {
    queueMicrotask(() => {
      for (const callback of readingCallbacks(s)) hand(callback, stats);
    });
  }

  // src/transport/retry.ts
  var maxBackoffMs = 6e4;
  var refusalsBeforePost = 3;
  var socketAgainMs = 3e5;
  var steadyMs = 1e4;
  var asRefusal = (error) => error instanceof Refusal ? error : new Refusal("httpError", text(error), true);
  function disconnect(s) {
    const ws = s.socket;
    s.socket = null;
    s.ready = s.sendingPaused = false;
    for (const timer of [s.watchdog, s.pause, s.nextTry]) timer();
    if (!ws) return;
    ws.onopen = ws.onmessage = ws.onclose = ws.onerror = null;
    attempt(() => ws.close(1e3));
  }
  function retry(s, minMs = 0) {
    s.notBeforeMs = s.clock.mono() + minMs;
    if (!s.stopped) s.nextTry(Math.max(minMs, Math.random() * Math.min(maxBackoffMs, 1e3 * 2 ** s.attempts++)));
  }
  function reconnect(s, minMs = 0) {
    disconnect(s);
    s.attempts = 0;
    retry(s, minMs);
  }
  function fail2(s, refusal, wasReady = s.ready) {
    const { csError, message, waitMs } = refusal;
    s.ready = false;
    const isAuth = csError === "authError";
    const stale = isAuth && s.sessionToken && !s.doubted;
    if (!stale) reportOnce(s, csError, message);
    if (isAuth) {
      s.sessionToken = null;
      s.doubted = true;
    }
    if (stale || refusal.mayRetry || wasReady || s.welcomedAtMs && csError === "tokenGenerationError") retry(s, waitMs);
    else halt(s, refusal);
  }
  function halt(s, refusal) {
    s.stopped = true;
    s.halted = refusal;
    s.renewal();
    giveUp(s.queue, refusal.csError, refusal.message);
  }
  function lost(s, refusal) {
    const wasReady = s.ready;
    if (wasReady && s.clock.mono() - s.welcomedAtMs > steadyMs) s.attempts = 0;
    disconnect(s);
    if (refusal) fail2(s, refusal, wasReady);
    else if (wasReady) retry(s);
    else socketFailed(s, "no WebSocket");
  }
  function socketFailed(s, msg) {
    if (!s.posting) reportOnce(s, "wsChannelFailure", msg);
    const already = s.posting;
    s.posting ||= ++s.socketRefusals >= refusalsBeforePost;
    if (s.posting) s.postUntilMs = s.clock.mono() + socketAgainMs;
    if (s.posting === already) retry(s);
    else s.nextTry(0);
  }
  function safely(s, task) {
    try {
      task();
    } catch (error) {
      lost(s, new Refusal("wsChannelFailure", text(error), true));
    }
  }

  // src/transport/login.ts
  var renewAgainMs = 6e4;
  async function renew(s, forceNew) {
    const { generation, clock, info } = s;
    const late = ({ csError, message }) => {
      if (generation === s.generation) reportOnce(s, csError, message);
    };
    const fresh2 = await login({ url: `${info.base}auth`, clock, late }, info, forceNew);
    if (generation !== s.generation) return;
    s.sessionToken = fresh2;
    if (!forceNew) reportOnce(s, "success", "authenticated");
    s.renewal(Math.max(fresh2.expiresInMs * (0.85 + Math.random() * 0.1), renewAgainMs));
  }
  var renewSilently = (s) => renew(s, true).catch((error) => {
    if (!s.stopped) s.renewal(Math.max(asRefusal(error).waitMs, renewAgainMs * (1 + Math.random())));
  });

  // src/wire.ts
  function linesOf({ lost: lost2, sets: sets2, line }, announcements, announced) {
    const missing = [...lost2.map(({ fabric }) => announcements.get(fabric)?.() ?? ""), ...sets2.map(columnsLine)].filter(
      (text2) => text2 && !announced.has(text2)
    );
    for (const text2 of missing) announced.add(text2);
    return [...missing, line()];
  }
  function postBody(hello2, entries, announcements, taken) {
    const announced = /* @__PURE__ */ new Set();
    let body = json(hello2);
    for (const entry of entries) {
      const longer = [body, ...linesOf(entry, announcements, announced)].join("\n");
      if (byteLength(longer) > maxFrameBytes) break;
      body = longer;
      taken(entry);
    }
    return body;
  }

  // src/transport/send.ts
  var bufferedLimitBytes = 128 << 10;
  var bufferedWaitMs = 250;
  function pump(s) {
    if (s.halted) giveUp(s.queue, s.halted.csError, s.halted.message);
    const ws = s.socket;
    while (ws && s.ready && !s.sendingPaused) {
      const entry = upNext(s.queue, s.frameWindow);
      if (!entry) return;
      if (!s.clock.synced())
        reconnect(s);
      else if (ws.bufferedAmount > bufferedLimitBytes) hold(s, bufferedWaitMs);
      else
        safely(s, () => {
          for (const line of linesOf(entry, s.announcements, s.announced)) ws.send(line);
          markSent(s.queue, entry);
        });
    }
  }
  function hold(s, ms, rewinds = false) {
    s.sendingPaused = true;
    s.rewinds = rewinds;
    s.pause(ms);
  }
  function resume(s) {
    s.sendingPaused = false;
    if (s.rewinds) rewind(s.queue);
    pump(s);
  }

  // src/session/schedule.ts
  var longMs = 5e3;
  var longestMs3 = 2e4;
  function measureEvery(s, ms) {
    if (!(ms >= 2e3 && ms <= 2e4) || ms === s.periodMs) return;
    s.periodMs = ms;
    startMeasuring(s);
  }
  function startMeasuring(s) {
    const latestMs2 = s.measuredAtMs + longestMs3 - s.clock.mono();
    measureIn(s, Math.min(s.periodMs * (0.5 + Math.random() / 2), latestMs2));
  }
  function measureIn(s, ms) {
    s.measureTimer(ms);
    if (ms >= longMs) s.statesTimer(ms / 2);
  }

  // src/version.ts
  var version = "0.1.0";

  // src/transport/hello.ts
  function hello(s) {
    const { sessionToken, clock } = s;
    s.helloSentMs = clock.mono();
    s.helloToken = sessionToken;
    s.id ||= sessionToken?.session ?? "";
    const { applicationVersion, siteID, additionalIDs: additionalIDs2 } = s.info.config;
    const userAgent = globalThis.navigator?.userAgent;
    return {
      type: "hello",
      versions: [1],
      token: sessionToken?.token,
      session: s.id,
      acked: s.queue.ackedSeq,
      at: clock.time(clock.stamp()),
      library: version,
      userAgent: userAgent ? cutBytes(userAgent, 512) : void 0,
      applicationVersion,
      siteID,
      additionalIDs: additionalIDs2
    };
  }
  function welcomed(s, welcome) {
    s.welcomedAtMs = s.clock.mono();
    s.clock.sample(s.helloSentMs, s.welcomedAtMs, Number(welcome.at));
    s.ready = true;
    s.doubted = false;
    if (s.socket) {
      s.posting = false;
      s.socketRefusals = 0;
    }
    s.announced = /* @__PURE__ */ new Set();
    s.frameWindow = Number(welcome.windowFrames) || s.frameWindow;
    rewind(s.queue);
    acknowledge(s.queue, Number(welcome.acked) || 0);
    takeSettings(s, welcome);
    reportOnce(s, "success", "connected");
    pump(s);
  }
  function takeSettings(s, { statsIntervalMs, conferenceURL: conferenceURL2, labels }) {
    measureEvery(s, Number(statsIntervalMs));
    if (typeof conferenceURL2 === "string") s.urlTemplate = conferenceURL2;
    s.urlByFabric = /* @__PURE__ */ new Map();
    const mos = labels?.mos;
    if (Array.isArray(mos) && mos.length === 4) s.bounds = mos.map(Number);
  }

  // src/transport/receive.ts
  function receive(s, message) {
    const seq = Number(message?.seq);
    switch (message?.type) {
      case "welcome":
        welcomed(s, message);
        break;
      case "ack":
        acked(s, seq);
        break;
      case "nack": {
        const { csError, message: msg } = refused(message);
        refuse(s.queue, seq, csError, msg);
        reportOnce(s, csError, msg);
        break;
      }
      case "slow-down":
        if (message.statsIntervalMs) measureEvery(s, Number(message.statsIntervalMs));
        hold(s, refused(message).waitMs, true);
        break;
      case "bye":
        dismissed(s, message);
    }
  }
  function acked(s, seq) {
    if (acknowledge(s.queue, seq)) {
      s.attempts = 0;
      reportOnce(s, "success", "connected");
    }
    pump(s);
  }
  function dismissed(s, bye) {
    const refusal = refused(bye);
    s.socketRefusals = 0;
    if (refusal.reasonCode === "token_expired" && s.sessionToken && s.sessionToken !== s.helloToken)
      reconnect(s, refusal.waitMs);
    else lost(s, refusal);
  }

  // src/transport/socket.ts
  var silenceMs = 12e3;
  var helloMs = 15e3;
  function open(s) {
    try {
      const ws = new WebSocket(`${s.info.base.replace(/^http/, "ws")}ws`, "qos");
      s.socket = ws;
      s.ready = false;
      watch(s, helloMs);
      ws.onopen = () => safely(s, () => ws.send(json(hello(s))));
      ws.onmessage = (event) => {
        watch(s, silenceMs);
        safely(s, () => receive(s, parseLine(event.data)));
      };
      ws.onclose = ws.onerror = () => lost(s);
    } catch (error) {
      socketFailed(s, text(error));
    }
  }
  function watch(s, ms, overdue = false) {
    s.overdue = overdue;
    s.watchdog(ms);
  }
  function checkSilence(s) {
    const waiting = s.queue.cursor > 0;
    if (!s.ready || waiting && s.overdue) lost(s);
    else watch(s, silenceMs, waiting);
  }

  // src/transport/post.ts
  var pauseMs = 5e3;
  var send = (s, entries, outlivesPage) => post(
    `${s.info.base}frames`,
    postBody(hello(s), entries, s.announcements, (entry) => markSent(s.queue, entry)),
    outlivesPage
  );
  async function postWaiting(s) {
    const { queue, clock, generation } = s;
    const synced = clock.synced();
    const entries = synced ? [...queue.pending] : [];
    if (s.ready && synced && !entries.length) {
      s.nextTry(pauseMs);
      return;
    }
    const { ackedSeq } = queue;
    const answers = await send(s, entries);
    if (generation !== s.generation) return;
    for (const answer2 of answers) receive(s, answer2);
    const goesOn = s.ready && (!entries.length || queue.ackedSeq > ackedSeq && upNext(queue, s.frameWindow));
    if (!s.stopped) s.nextTry(goesOn ? 0 : pauseMs);
  }
  function flush(s, last = true) {
    if (!s.sessionToken || !s.clock.synced()) return;
    if (last) shrink(s.queue, maxEntryBytes);
    const all = s.queue.pending;
    const entries = total(all) <= maxEntryBytes ? all : all.filter((entry) => !entry.sent);
    if (entries.length) send(s, entries, true).catch(() => void 0);
  }

  // src/transport/transport.ts
  var stopPollMs = 200;
  var fresh = {
    sessionToken: null,
    doubted: false,
    socket: null,
    connecting: false,
    ready: false,
    stopped: false,
    halted: void 0,
    suspended: false,
    helloSentMs: 0,
    helloToken: null,
    welcomedAtMs: 0,
    sendingPaused: false,
    rewinds: false,
    overdue: false,
    attempts: 0,
    notBeforeMs: 0,
    socketRefusals: 0,
    posting: false,
    postUntilMs: 0
  };
  var isOff = (s) => s.stopped || s.suspended;
  async function connect(s) {
    s.nextTry();
    if (isOff(s) || s.connecting || s.socket) return;
    s.connecting = true;
    const { generation } = s;
    try {
      if (!s.sessionToken) await renew(s, false);
      if (generation === s.generation && !isOff(s)) await (s.clock.mono() < s.postUntilMs ? postWaiting(s) : open(s));
    } catch (error) {
      if (generation === s.generation) fail2(s, asRefusal(error));
    }
    if (generation === s.generation) s.connecting = false;
  }
  function restart(s) {
    s.generation++;
    s.renewal();
    disconnect(s);
    Object.assign(s, fresh);
    connect(s);
  }
  function wake(s) {
    s.suspended = false;
    const waitMs = s.notBeforeMs - s.clock.mono();
    if (s.socket) pump(s);
    else if (waitMs > 0) s.nextTry(waitMs);
    else connect(s);
  }
  function suspend(s) {
    s.suspended = true;
    s.connecting = false;
    s.generation++;
    disconnect(s);
  }
  var sendNow = (s) => s.socket && s.ready ? pump(s) : flush(s, false);
  function stop(s, untilMs) {
    if (!s.stopped && s.clock.mono() < untilMs && s.queue.pending.length) {
      setTimeout(() => stop(s, untilMs), stopPollMs);
      return;
    }
    s.stopped = true;
    s.generation++;
    flush(s);
    s.renewal();
    attempt(() => s.socket?.send('{"type":"bye"}'));
    disconnect(s);
    giveUp(s.queue, "failure", "replaced");
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

  // src/session/conferences.ts
  var keptEnded = 256;
  var liveFabrics = (s, conferenceID) => s.fabrics.filter((f) => !f.ending && (conferenceID === void 0 || f.info.conferenceID === conferenceID));
  var lastFabricOf = (s, conferenceID) => [...s.ended, ...s.fabrics.map((f) => f.info)].filter((info) => info.conferenceID === conferenceID).at(-1);
  var ownFabric = (s, pc, conferenceID) => liveFabrics(s, conferenceID).find((f) => f.pc === pc);
  var hasEnded = (s, pc, conferenceID) => Boolean(s.instance.known.get(pc)?.has(conferenceID)) && !ownFabric(s, pc, conferenceID);
  var localUser = (s, conferenceID) => s.renamed.get(conferenceID) ?? s.info.userID;
  function renameLocal(s, conferenceID, userID) {
    s.renamed.set(conferenceID, userID);
  }
  function conferenceURL(s, { fabric, conferenceID, addedAt }) {
    const known2 = s.urlByFabric.get(fabric);
    if (known2 !== void 0) return known2;
    const values = { appID: s.info.appID, conferenceID, at: s.clock.time(addedAt) };
    const url = s.urlTemplate.replace(/\{(\w+)\}/g, (all, name) => encodeURIComponent(String(values[name] ?? all))) || null;
    s.urlByFabric.set(fabric, url);
    return url;
  }
  function forget(s, fabric) {
    const { info } = fabric;
    s.fabrics = s.fabrics.filter((other) => other !== fabric);
    s.ended.push(info);
    s.urlByFabric.delete(info.fabric);
    const oldest = s.ended.length > keptEnded && s.ended.shift();
    if (oldest && !lastFabricOf(s, oldest.conferenceID)) s.renamed.delete(oldest.conferenceID);
    if (s.announcements.size > 2 * keptEnded) forgetAnnouncements(s);
  }
  function forgetAnnouncements(s) {
    const lost2 = s.queue.pending.flatMap((entry) => entry.lost);
    const needed = new Set([...s.fabrics.map((f) => f.info), ...lost2].map(({ fabric }) => fabric));
    for (const number of s.announcements.keys()) if (!needed.has(number)) s.announcements.delete(number);
  }

  // src/session/send.ts
  function send2(s, frame) {
    const seq = push(s.queue, frame);
    if (frame.type !== "stats") pump(s);
    return seq;
  }
  function sendSoon(s) {
    if (!s.sendsSoon)
      queueMicrotask(() => {
        s.sendsSoon = false;
        sendNow(s);
      });
    s.sendsSoon = true;
  }
  function recorder(s, fabric, conferenceID) {
    const number = fabric?.info.fabric;
    const last = lastFabricOf(s, conferenceID);
    const declaredBy = number ?? last?.fabric ?? 0;
    return (type, members, done) => {
      const stamp = s.clock.stamp();
      const seq = send2(s, {
        type,
        stamp,
        done,
        fabric: s.announcements.has(declaredBy) ? declaredBy : 0,
        insideAt: fabric ? void 0 : last?.addedAt ?? stamp,
        members: fabric ? { fabric: number, ...members } : { conferenceID, ...members }
      });
      if (!seq) throw new Invalid(`the frame is over ${maxEntryBytes} bytes`);
      return seq;
    };
  }

  // src/fabric/emit.ts
  function emit2(f, name, data = {}, stamp = f.clock.stamp(), done) {
    const { fabric } = f.info;
    send2(f.owner, { type: "event", stamp, fabric, keep: true, members: { fabric, event: name, data }, done });
  }

  // src/lifecycle.ts
  var names = ["signalingState", "connectionState", "iceConnectionState", "iceGatheringState"];
  var statesOf = (pc) => names.map((name) => pc[name]);
  var isUp = (ice) => ice === "connected" || ice === "completed";
  var iceOf = (pc) => pc.iceConnectionState ?? pc.connectionState ?? "";
  var hasFailed = (pc) => [iceOf(pc), pc.connectionState].includes("failed");
  function isConnected(pc) {
    return attempt(() => {
      const { connectionState, iceConnectionState = "" } = pc;
      return connectionState === void 0 ? isUp(iceConnectionState) : connectionState === "connected";
    }, false);
  }
  function isClosed(pc) {
    return attempt(() => statesOf(pc).includes("closed"), false);
  }
  function listen({ pc, listener }, method) {
    for (const name of names) attempt(() => pc[method]?.(`${name}change`.toLowerCase(), listener));
  }
  var since = ({ clock }, start2, end2 = clock.mono()) => num(Math.round(end2 - known(start2)));
  function setupTimes(life) {
    const { startedMs, gatheringAtMs, checkingAtMs } = life;
    const [started, gathering, checking] = life.wasConnected ? [] : [startedMs, gatheringAtMs, checkingAtMs];
    return {
      setupMs: since(life, started),
      // Gathering that continued when it was connected did not delay it.
      gatheringMs: since(life, gathering, life.gatheredAtMs),
      connectivityMs: since(life, checking)
    };
  }
  function stageOf({ pc, checkingAtMs }) {
    if (!pc.remoteDescription) return "noRemoteDescription";
    if (isUp(iceOf(pc))) return "dtls";
    return iceOf(pc) === "new" && checkingAtMs === void 0 ? "gathering" : "connectivity";
  }
  var openStage = (life) => life.established || life.failed ? null : attempt(() => stageOf(life), "connectivity");
  function phaseOf({ established, disruptedAtMs }) {
    if (!established) return "initialising";
    return disruptedAtMs === void 0 ? "established" : "disrupted";
  }

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

  // src/stats/interval.ts
  function round(value, decimals) {
    const factor = 10 ** decimals;
    return num(Math.round(known(value) * factor) / factor);
  }
  var longestRttMs = 6e4;
  var leastPace = { audio: 0.1, video: 0.5 };
  function measureStream(counts, stream2, ms, pairRttMs) {
    const { rtp, remote, source, ssrc, codec, statsType, mediaType } = stream2;
    const set = streamSet(statsType, mediaType);
    counts.own ??= { ...countersOf(set) };
    counts.far ??= { ...countersOf(0) };
    const by = count(counts.own, rtp, countersOf(set));
    const limited = count(counts.own, rtp.qualityLimitationDurations ?? {}, countersOf(0));
    const reportedMs = known(remote.timestamp) - known(counts.far.timestamp);
    const sentMs = num(remote.remoteTimestamp) === null ? ms : known(remote.remoteTimestamp) - known(counts.far.remoteTimestamp);
    const other = count(counts.far, remote, countersOf(0));
    const packets = checkedPackets(by, ms);
    const sent = known(packets);
    const ownLost = by.packetsLost ?? null;
    const lost2 = checkedLoss(
      counts,
      ownLost ?? other.packetsLost ?? null,
      num(sent),
      ms,
      Math.max(ms, num(reportedMs) ?? 0),
      // The sender knows how many there were.
      ownLost === null ? 0 : leastPace[mediaType]
    );
    const measures = measure(set, by, rtp, {
      ssrc,
      codec,
      // For the first time: browsers count retransmissions among the packets (Chromium those of
      // the RTX stream), which would make a loss look smaller the harder it is fought.
      packets: grown(packets) - (by.retransmittedPacketsReceived ?? by.retransmittedPacketsSent ?? 0),
      packetsLost: lost2,
      audioLevel: num(rtp.audioLevel) ?? source.audioLevel,
      fps: known(by.framesSent ?? by.framesDecoded ?? by.framesEncoded) * 1e3 / ms,
      rttMs: rttOf(other, remote.roundTripTime) ?? pairRttMs,
      remotePacketsLost: lost2,
      remoteJitterMs: 1e3 * known(remote.jitter),
      // The receiver reports every few seconds: what it lost between two of its reports is held
      // against what was sent in that time.
      remoteLossFraction: lost2 === untrue ? null : num(reportedMs > 0 ? known(lost2) * ms / (sent * reportedMs) : null) ?? num(remote.fractionLost),
      cpuLimitedMs: 1e3 * known(limited.cpu),
      bandwidthLimitedMs: 1e3 * known(limited.bandwidth),
      // Chromium still reports the target of an encoding that was switched off. Firefox has a target for each frame.
      targetBitrateBps: rtp.active === false ? 0 : num(rtp.targetBitrate) ?? (8e3 * known(by.totalEncodedBytesTarget) / ms || null)
    });
    const reported = (bytes) => sentMs > 0 ? num(bytes) : null;
    const farEnd = {
      bytes: reported(other.bytesSent),
      packets: reported(other.packetsSent),
      ms: num(sentMs) ?? 0
    };
    return { measures, farEnd };
  }
  function checkedPackets(by, ms) {
    const packets = by.packetsReceived ?? by.packetsSent ?? null;
    return known(packets) > known(by.bytesReceived ?? by.bytesSent) + ms ? untrue : packets;
  }
  function checkedLoss(counts, lost2, packets, ms, lossMs, least) {
    const silentMs = counts.silentMs ?? 0;
    const pace = Math.max((packets ?? 0) / ms, (counts.pace ?? 0) * 0.9);
    counts.pace = pace;
    counts.silentMs = packets && lost2 !== null ? 0 : silentMs + ms;
    return Math.abs(known(lost2)) > 2 * Math.max(pace, least) * (silentMs + lossMs) ? untrue : lost2;
  }
  function perSecond(count2, ms) {
    return round(known(count2) * 1e3 / ms, 2);
  }
  function rttOf(by, last) {
    const measurements = by.roundTripTimeMeasurements ?? by.responsesReceived;
    const ms = num(1e3 * (num(known(by.totalRoundTripTime) / known(measurements)) ?? known(last)));
    return known(ms) > longestRttMs ? untrue : ms;
  }
  function measurePair(before, { pair }) {
    const names2 = countersOf(pairSet);
    const by = count(count({ ...names2 }, before ?? {}, names2), pair, names2);
    return measure(pairSet, by, pair, { rttMs: rttOf(by, pair.currentRoundTripTime) });
  }

  // src/stats/view.ts
  function view(intervals, identityOf3, bounds) {
    const made = { mediaStreamTracks: [], streams: {} };
    for (const interval of intervals) {
      const reports = reportsOf(interval, identityOf3(interval), bounds);
      made.mediaStreamTracks.push(...reports);
      const [{ ssrc, rtt, fractionLoss, bitrate, quality }] = reports;
      const { statsType: reportType } = interval.stream;
      made.streams[ssrc] = reportType === "outbound-rtp" ? { reportType, rtt, bitrate, quality } : { reportType, fractionLoss, bitrate, quality };
    }
    return made;
  }
  function reportsOf({ stream: stream2, ms, measures, farEnd, meanJitterMs, meanRttMs }, identity, bounds) {
    const { ssrc, mediaType } = stream2;
    const inbound = stream2.statsType === "inbound-rtp";
    const rtt = num(measures.rttMs);
    const averageRTT = round(meanRttMs, 1);
    const quality = label(mediaType, measures, ms, bounds);
    const level = num(measures.audioLevel);
    const report2 = (statsType, loss2, overMs, bytes2, packets2, jitterMs2, meanMs, own2 = false) => (
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
    const own = report2(stream2.statsType, loss, ms, bytes, packets, jitterMs, inbound ? meanJitterMs : null, true);
    if (stream2.remote.type === void 0) return [own];
    return [
      own,
      inbound ? report2("remote-outbound-rtp", null, farEnd.ms, farEnd.bytes, farEnd.packets, null, null) : report2("remote-inbound-rtp", num(remoteLossFraction), ms, null, null, remoteJitterMs, meanJitterMs)
    ];
  }

  // src/fabric/deliver.ts
  function deliver(f, intervals) {
    const { owner, info } = f;
    if (!readingCallbacks(owner).length) return;
    deliverStats(owner, {
      connectionState: owner.ready ? "online" : "offline",
      fabricState: f.done ? "terminated" : phaseOf(f),
      conferenceURL: conferenceURL(owner, info),
      conferenceID: info.conferenceID,
      ...view(intervals, (interval) => identityOf(f, interval), owner.bounds)
    });
  }
  function identityOf(f, { stream: stream2 }) {
    const own = f.associations.get(stream2.ssrc);
    const inbound = stream2.statsType === "inbound-rtp";
    const { cname, msid } = f.sources.get(stream2.key) ?? noSource;
    return {
      remoteUserID: inbound && own?.userID || f.remoteUser,
      userID: own?.userID ?? (inbound ? f.remoteUser : localUser(f.owner, f.info.conferenceID)),
      cname,
      msid,
      usageLabel: own?.usageLabel ?? null,
      associatedVideoTag: own?.associatedVideoTag ?? null
    };
  }

  // src/stats/monitor.ts
  var freezeWindowMs = 6e4;
  var maxRows = 200;
  var sameIntervalMs = 100;
  var tooShortMs = 500;
  var latestMs = 5e3;
  var forgottenMs = 3e4;
  var createMonitor = (startMs) => ({
    knownStreams: /* @__PURE__ */ new Map(),
    pairs: /* @__PURE__ */ new Map(),
    base: /* @__PURE__ */ new Map(),
    startMs,
    aheadMs: Infinity,
    last: { atMs: startMs, takenMs: Number.NEGATIVE_INFINITY }
  });
  var selectedPair = (monitor) => monitor.pairs.values().next().value;
  var hasStream = (monitor, ssrc) => [...monitor.knownStreams.values()].some((known2) => known2.ssrc === ssrc);
  function adopt(monitor, reports, atMs) {
    const { pairs } = monitor;
    const snapshot = normalise(reports);
    const changedPairs = changed(pairs, snapshot);
    for (const [transport, pair] of snapshot.pairs) {
      if (pairs.get(transport)?.id === pair.id) continue;
      if (!pairs.has(transport)) monitor.base = new Map([...snapshot.byId, ...monitor.base]);
      pairs.set(transport, pair);
    }
    return { added: addNew(monitor.knownStreams, snapshot, takenAt(monitor, snapshot, atMs)), changedPairs };
  }
  function endInterval(monitor, reports, atMs, page2) {
    const { knownStreams, pairs, base } = monitor;
    const snapshot = normalise(reports);
    const takenMs = takenAt(monitor, snapshot, atMs);
    const frameMs = span(monitor.startMs, atMs);
    const groups = [{ intervalMs: frameMs, sets: [], rows: [] }];
    const intervals = [];
    let pairRttMs = null;
    for (const pair of snapshot.pairs.values()) {
      const measures = measurePair(base.get(pair.id), pair);
      pairRttMs ??= num(measures.rttMs);
      addRow(groups, frameMs, pairSet, measures);
    }
    for (const [key, known2] of knownStreams) {
      const stream2 = snapshot.byKey.get(key);
      const ms = takenMs - known2.atMs;
      if (!stream2 && ms > forgottenMs) knownStreams.delete(key);
      if (!stream2 || ms < tooShortMs) continue;
      const interval = advance(known2, stream2, takenMs, pairRttMs, page2);
      if (isIdle(known2)) continue;
      intervals.push(interval);
      addRow(groups, interval.ms, streamSet(stream2.statsType, stream2.mediaType), interval.measures);
    }
    monitor.startMs = atMs;
    if (snapshot.pairs.size) {
      monitor.pairs = snapshot.pairs;
      monitor.base = snapshot.byId;
    }
    return { intervals, groups, added: addNew(knownStreams, snapshot, takenMs), changedPairs: changed(pairs, snapshot) };
  }
  function takenAt(monitor, { takenMs }, atMs) {
    if (takenMs === null) return atMs;
    const aheadMs = atMs - takenMs;
    monitor.aheadMs = Math.min(monitor.aheadMs, aheadMs);
    const { last } = monitor;
    const sinceMs = atMs - last.atMs;
    if (aheadMs - monitor.aheadMs > latestMs || sinceMs > tooShortMs && 100 * (takenMs - last.takenMs) <= sinceMs)
      monitor.aheadMs = aheadMs;
    monitor.last = { atMs, takenMs };
    return takenMs + monitor.aheadMs;
  }
  function addNew(knownStreams, snapshot, atMs) {
    const added = [...snapshot.byKey.values()].filter(({ key }) => !knownStreams.has(key));
    for (const stream2 of added) {
      const counts = {};
      measureStream(counts, stream2, 1, null);
      counts.pace = 0;
      knownStreams.set(stream2.key, { ssrc: stream2.ssrc, counts, atMs, frozen: [], jitters: mean(), rtts: mean() });
    }
    return added;
  }
  var changed = (pairs, snapshot) => [...snapshot.pairs.values()].filter(({ id, transport }) => (pairs.get(transport)?.id ?? id) !== id);
  function advance(known2, stream2, atMs, pairRttMs, page2) {
    const ms = span(known2.atMs, atMs);
    const { measures, farEnd } = measureStream(known2.counts, stream2, ms, pairRttMs);
    if (stream2.mediaType === "video") {
      measures.displayedPixels = bounded(rangeOf("displayedPixels"), page2.areaOf(stream2.ssrc));
      if (page2.isScreen(stream2)) measures.contentType = "screenshare";
      measures.freezes60s = recentFreezes(known2, num(measures.freezes), atMs);
    }
    known2.atMs = atMs;
    return {
      stream: stream2,
      ms,
      measures,
      farEnd,
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

  // src/fabric/users.ts
  function associate(f, ssrc, association) {
    f.associations.set(ssrc, association);
    const { userID, usageLabel, tagID: associatedVideoTag } = association;
    emit2(f, "associateMstWithUserID", { ssrc, userID, usageLabel, associatedVideoTag });
  }
  function associateAll(f, source, association) {
    const given = givenOf(f, source);
    const textOf = (one) => json([one?.userID, one?.usageLabel, one?.tagID]);
    const isKnown = given.owner?.associatedVideoTag === association.associatedVideoTag;
    if (isKnown && textOf(given.owner) === textOf(association)) return;
    given.owner = association;
    for (const { ssrc } of sourcesOf(f, source)) associate(f, ssrc, association);
  }
  function givenTo({ given }, { rtpEnd }) {
    const of = (one) => (one && given.get(one)) ?? {};
    const [own, track] = [of(rtpEnd), of(rtpEnd?.track)];
    return { owner: own.owner ?? track.owner, pause: own.pause ?? track.pause };
  }
  var sourcesOf = ({ sources }, source) => [...sources.values()].filter(({ rtpEnd }) => rtpEnd && [rtpEnd, rtpEnd.track].includes(source));
  function givenOf({ given }, source) {
    const own = given.get(source) ?? {};
    given.set(source, own);
    return own;
  }
  function rename(f, userIDType, newUserID) {
    if (userIDType === "remote") f.remoteUser = newUserID;
    emit2(f, "userIDChange", { userIDType, newUserID });
  }
  function passOn({ associations, given }, next) {
    next.given = given;
    for (const [ssrc, association] of associations) associate(next, ssrc, association);
  }

  // src/fabric/pauses.ts
  var endings = /* @__PURE__ */ new WeakMap();
  function watch2(track) {
    if (endings.has(track) || track.readyState === "ended") return;
    endings.set(track, false);
    track.addEventListener("ended", () => endings.set(track, true));
  }
  function choiceOfSender(track, encoding) {
    if (!track) return "noTrack";
    watch2(track);
    if (track.readyState === "ended") return endings.get(track) === false ? "stopped" : void 0;
    if (track.enabled === false) return "disabled";
    if (track.muted) return "system";
    return encoding?.active === false ? "inactive" : void 0;
  }
  var fewFrames = 12;
  function encodingOf({ transceiver, rid, rtpEnd }) {
    const encodings = transceiver?.sender.getParameters().encodings ?? [];
    const encoding = encodings.find((one) => one.rid === rid) ?? encodings[0];
    const frameRate = rtpEnd?.track?.getSettings?.().frameRate;
    return frameRate && frameRate <= fewFrames ? { ...encoding, maxFramerate: frameRate } : encoding;
  }
  function choiceOf({ transceiver, isSent }, encoding) {
    if (!transceiver) return;
    const { direction, currentDirection, sender } = transceiver;
    const way = isSent ? "send" : "recv";
    if (!direction.includes(way) || currentDirection?.includes(way) === false) return "direction";
    return isSent ? choiceOfSender(sender.track, encoding) : void 0;
  }
  function updatePause(f, source) {
    const { ssrc, mediaType, isSent, pauseData } = source;
    const encoding = attempt(() => encodingOf(source));
    const isMuted = isSent && (f.muted.has(mediaType) || f.muted.has("fabric"));
    const reason = isMuted ? void 0 : attempt(() => choiceOf(source, encoding));
    const now = givenTo(f, source).pause ?? (reason ? { reason } : void 0);
    if (!now !== !pauseData) {
      const [begins, ends] = mediaType === "audio" ? ["audioMute", "audioUnmute"] : ["videoPause", "videoResume"];
      emit2(f, now ? begins : ends, { ...now ?? pauseData, ssrc });
      source.pauseData = now;
    }
    return encoding;
  }
  function updateLimits(f, source, encoding) {
    const { ssrc, mediaType, isSent } = source;
    const { maxFramerate, maxBitrate } = isSent && mediaType === "video" && encoding || {};
    const limits = `${[maxFramerate, maxBitrate]}`;
    if (limits !== (source.limits ?? ",")) emit2(f, "limitsChange", { ssrc, maxFramerate, maxBitrate });
    source.limits = limits;
  }
  function pause(f, source, data) {
    givenOf(f, source).pause = data;
    for (const one of sourcesOf(f, source)) updatePause(f, one);
  }
  function updateSources(f) {
    for (const [key, source] of f.sources)
      if (source.pauseData || f.monitor.knownStreams.has(key)) updateLimits(f, source, updatePause(f, source));
      else f.sources.delete(key);
  }

  // src/turn-url.ts
  function protocolOf(url) {
    const [, secure, query = ""] = /^turn(s?):[^?]+(.*)$/i.exec(url) ?? [];
    if (secure === void 0) return void 0;
    if (secure) return "tls";
    return /transport=tcp/i.test(query) ? "tcp" : "udp";
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

  // src/fabric/playout.ts
  function isRefused({ rtpEnd }) {
    const elements = [...document.querySelectorAll("audio,video")].filter(
      ({ srcObject }) => srcObject?.getTracks?.().includes(rtpEnd?.track)
    );
    return elements.length > 0 && elements.every(({ paused, muted }) => paused && !muted);
  }
  function updatePlayout(f, { stream: stream2, measures: { packets, samples } }) {
    const source = f.sources.get(stream2.key);
    if (!source || !packets || samples === void 0 || globalThis.document?.visibilityState !== "visible") return;
    let { playout } = source;
    if (isRefused(source)) playout = "refused";
    else if (samples !== null) playout = samples ? "playing" : "none";
    if (source.playout !== playout) emit2(f, "playoutChange", { ssrc: source.ssrc, playout });
    source.playout = playout;
  }

  // src/fabric/senders.ts
  var transceivers = (f) => f.pc.getTransceivers();
  var transceiverOf = (f, { rtp }) => attempt(() => transceivers(f).find((one) => one.mid === rtp.mid));
  function screensOf(f) {
    let screens;
    const among = () => {
      screens ??= attempt(() => screensAmong(f), []);
      return screens;
    };
    return ({ rtp, ssrc, statsType }) => /screen/i.test(f.associations.get(ssrc)?.usageLabel ?? "") || statsType === "outbound-rtp" && among().some(({ mid }) => mid === rtp.mid);
  }
  function screensAmong(f) {
    const videos = transceivers(f).filter(({ sender }) => sender.track?.kind === "video");
    const displays = videos.filter(({ sender }) => isDisplay(sender.track));
    return displays[0] || !f.sharing ? displays : videos.slice(-1);
  }
  function isDisplay(track) {
    const { displaySurface, mediaSource } = track.getSettings();
    return /detail|text|screen|window|browser|monitor/.test(track.contentHint || `${[displaySurface, mediaSource]}`);
  }

  // src/fabric/record.ts
  function record(f, reading2, stamp) {
    const { fabric } = f.info;
    recordNews(f, reading2, stamp);
    for (const { intervalMs, rows, sets: sets2 } of reading2.groups) {
      if (!rows.length && reading2.groups.length > 1) continue;
      send2(f.owner, { type: "stats", stamp, fabric, sets: sets2, members: { fabric, intervalMs, rows } });
    }
    for (const interval of reading2.intervals) updatePlayout(f, interval);
    deliver(f, reading2.intervals);
  }
  function recordNews(f, { added, changedPairs }, stamp) {
    for (const stream2 of added) recordStream(f, stream2, stamp);
    for (const pair of changedPairs) emit2(f, "selectedCandidatePairChange", candidates(f, pair), stamp);
  }
  function recordStream(f, stream2, stamp) {
    const { key, statsType, mediaType, ssrc, codec, rtp, source } = stream2;
    const isSent = statsType === "outbound-rtp";
    const description = attempt(
      () => sdpText(f.pc[isSent ? "localDescription" : "remoteDescription"]),
      ""
    );
    const names2 = sourceInfo(description, ssrc);
    const transceiver = transceiverOf(f, stream2);
    const rtpEnd = transceiver?.[isSent ? "sender" : "receiver"];
    const own = { ...names2, ssrc, mediaType, isSent, rid: rtp.rid, transceiver, rtpEnd, playout: "playing" };
    f.sources.set(key, own);
    const trackIdentifier = str(rtp.trackIdentifier) ?? str(source.trackIdentifier);
    const trackState = isSent ? str(rtpEnd?.track?.readyState) : null;
    emit2(f, "streamAdded", { ssrc, statsType, mediaType, codec, ...names2, trackIdentifier, trackState }, stamp);
    const { owner } = givenTo(f, own);
    if (owner) associate(f, ssrc, owner);
    updatePause(f, own);
  }
  function recordSetup(f) {
    const setup = f.pendingSetup;
    f.pendingSetup = void 0;
    if (setup) emit2(f, "fabricSetup", { ...setup.durations, ...candidates(f) }, setup.stamp);
  }
  function candidates(f, { local, remote, locals } = selectedPair(f.monitor) ?? {}) {
    const { collectIP } = f.owner.info.config;
    return {
      localCandidateType: str(local?.candidateType),
      networkType: str(local?.networkType),
      remoteCandidateType: str(remote?.candidateType),
      // Safari has the server's URL alone.
      relayProtocol: str(local?.relayProtocol) ?? (local?.candidateType === "relay" ? str(protocolOf(String(local.url))) : null),
      localAddress: str(collectIP && local?.address),
      localAddresses: texts([...new Set(collectIP ? locals?.flatMap((one) => [one.address, one.relatedAddress]) : [])])
    };
  }

  // src/fabric/measure.ts
  var settleMs = 1e3;
  var read = (f, whole = false) => f.reader(f.owner.info.config.collectLegacyStats, whole);
  async function measure2(f) {
    if (f.ending) return;
    if (f.awaiting) take(f, null);
    f.awaiting = true;
    const reports = await read(f);
    f.awaiting = false;
    if (!f.ending) take(f, reports);
  }
  function take(f, reports) {
    const { clock } = f;
    const reading2 = readingOf(f, reports ?? [], clock.mono()) ?? readingOf(f, [], clock.mono());
    if (reading2) record(f, reading2, clock.stamp());
    updateSources(f);
    recordSetup(f);
  }
  var readingOf = (f, reports, atMs) => attempt(() => endInterval(f.monitor, reports, atMs, { areaOf: (ssrc) => areaOf(f, ssrc), isScreen: screensOf(f) }));
  async function probe(f) {
    if (f.ending) return;
    const reports = await read(f, true);
    if (!reports || f.done) return;
    const news = attempt(() => adopt(f.monitor, reports, f.clock.mono()));
    if (news) recordNews(f, news);
  }
  function probeSoon(f) {
    setTimeout(() => probe(f), settleMs);
  }
  function areaOf(f, ssrc) {
    const tag = f.associations.get(ssrc)?.associatedVideoTag;
    const element = typeof tag === "string" ? globalThis.document?.getElementById(tag) : tag;
    const { clientWidth, clientHeight } = element ?? {};
    const area = known(clientWidth) * known(clientHeight);
    return num(Math.round(area * (globalThis.devicePixelRatio || 1) ** 2));
  }

  // src/fabric/setup.ts
  async function connected(f, durations) {
    const { owner, clock } = f;
    const stamp = clock.stamp();
    f.monitor.startMs = clock.mono();
    if (owner.fabrics.length < 2) startMeasuring(owner);
    probeSoon(f);
    f.pendingSetup = { durations, stamp };
    await probe(f);
    recordSetup(f);
  }
  function recordFailure(f, stage, reason, stamp) {
    const sdp = attempt(() => sdpText(f.pc.localDescription), "");
    const localCandidates = sdp ? sdp.split("\na=candidate").length - 1 : null;
    emit2(f, "fabricSetupFailed", { stage, failureMs: since(f, f.startedMs), reason, localCandidates }, stamp);
  }

  // src/fabric/end.ts
  var lastReadingMs = 1e3;
  function end(f, reason, now = reason === "closed") {
    if (!f.ending) {
      f.ending = f.clock.stamp();
      recordEnd(f, reason, now, f.ending);
      listen(f, "removeEventListener");
      if (!now) readLast(f);
    }
    if (now) finish(f);
  }
  function recordEnd(f, reason, now, stamp) {
    const stage = openStage(f);
    recordSetup(f);
    if (stage) recordFailure(f, stage, reason === "closed" || reason === "pagehide" ? reason : "terminated", stamp);
    emit2(f, "fabricTerminated", { reason, measurementFollows: !(now || stage) || void 0 }, stamp);
    if (reason !== "pagehide") sendSoon(f.owner);
  }
  function readLast(f) {
    setTimeout(() => finish(f), lastReadingMs);
    const atMs = f.clock.mono();
    read(f).then((reports) => {
      if (!reports || f.done) return;
      const last = readingOf(f, reports, atMs);
      finish(f, last?.intervals.length ? last : void 0);
    });
  }
  function finish(f, last) {
    if (f.done || !f.ending) return;
    f.done = true;
    if (last) record(f, last, f.ending);
    else deliver(f, []);
    forget(f.owner, f);
    if (last) sendSoon(f.owner);
  }

  // src/stats/legacy.ts
  function fromLegacy(response) {
    const reports = response.result();
    return reports.flatMap((report2) => {
      const { id, type } = report2;
      const values = Object.fromEntries(report2.names().map((name) => [name, report2.stat(name)]));
      if (type === "ssrc") return stream(id, values, numbers(values));
      if (type !== "googCandidatePair" || values.googActiveConnection !== "true") return [];
      const pair = numbers(values);
      return [{ ...pair, id, type: "candidate-pair", selected: true, currentRoundTripTime: inSeconds(pair.googRtt) }];
    });
  }
  var numbers = (values) => Object.fromEntries(Object.entries(values).map(([name, text2]) => [name, text2 ? Number(text2) : void 0]));
  var inSeconds = (ms) => known(ms) / 1e3;
  var fullLevel = 32767;
  function stream(id, values, v) {
    const inbound = values.packetsReceived !== void 0;
    const kind = values.mediaType ?? (values.audioInputLevel ?? values.audioOutputLevel ? "audio" : "video");
    const codecId = `${id} codec`;
    const rtp = {
      ...v,
      id,
      kind,
      codecId,
      type: inbound ? "inbound-rtp" : "outbound-rtp",
      trackIdentifier: values.googTrackId,
      jitter: inSeconds(v.googJitterReceived),
      audioLevel: known(inbound ? v.audioOutputLevel : v.audioInputLevel) / fullLevel,
      frameWidth: v.googFrameWidthReceived ?? v.googFrameWidthSent,
      frameHeight: v.googFrameHeightReceived ?? v.googFrameHeightSent
    };
    const remote = { ...rtp, id: `${id} remote`, type: "remote-inbound-rtp", roundTripTime: inSeconds(v.googRtt) };
    const own = [{ id: codecId, type: "codec", mimeType: `${kind}/${values.googCodecName}` }, rtp];
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
      const pairs = reports.map((report2) => report2.selectedCandidatePairId).filter(Boolean);
      const changes = ({ id, type, kind }) => /bound-rtp|^transport|^media-source audio/.test(`${type} ${kind}`) || (pairs.length ? pairs.includes(id) : type === "candidate-pair");
      kept = new Map(reports.map((report2) => [report2.id, report2]));
      changing = reports.filter(changes).map(({ id }) => id);
      size = answer2.size ?? NaN;
      return reports;
    }
    function changed2(answer2) {
      if (answer2.size !== size) return void 0;
      for (const id of changing) {
        const report2 = answer2.get?.(id);
        if (typeof report2 !== "object" || !report2) return void 0;
        if (report2.type === "transport" && !changing.includes(report2.selectedCandidatePairId)) return void 0;
        kept.set(id, report2);
      }
      return [...kept.values()];
    }
    const read2 = (answer2, all) => (all || ++readings % wholeEvery === 0 ? void 0 : attempt(() => changed2(answer2))) ?? whole(answer2);
    return (legacy, all = false) => ask(pc, legacy, (answer2) => read2(answer2, all)).catch(() => null);
  }
  async function ask(pc, legacy, read2) {
    const promise = attempt(() => pc.getStats());
    if (typeof promise?.then === "function") return read2(await promise);
    if (!legacy) return null;
    const response = await new Promise((resolve, reject) => {
      Promise.resolve(pc.getStats(resolve)).catch(reject);
    });
    return fromLegacy(response);
  }
  function list(reports) {
    const all = [];
    const each = reports.forEach;
    if (typeof each === "function") each.call(reports, (report2) => all.push(report2));
    else if (isObject(reports)) all.push(...Object.values(reports));
    return all.filter(isObject);
  }

  // src/fabric/states.ts
  function readStates(f) {
    attempt(() => {
      if (isClosed(f.pc)) end(f, "closed");
      else {
        readNegotiation(f);
        readConnection(f);
      }
    });
  }
  function readChanged(f) {
    const states = attempt(() => statesOf(f.pc).join(), "");
    if (f.established && states === f.lastStates) return;
    f.lastStates = states;
    readStates(f);
  }
  function readNegotiation(f) {
    const { pc } = f;
    if (!f.remoteSet && pc.remoteDescription) {
      f.remoteSet = true;
      emit2(f, "remoteDescriptionSet");
    }
    const sdp = pc.signalingState === "stable" ? sdpText(pc.localDescription) : "";
    if (!sdp || sdp === f.settledSdp) return;
    f.settledSdp = sdp;
    const ufrag = iceUfrag(sdp);
    if (f.ufrag && ufrag && ufrag !== f.ufrag) emit2(f, "iceRestart");
    f.ufrag = ufrag ?? f.ufrag;
    probeSoon(f);
  }
  function readConnection(f) {
    readGathering(f);
    if (f.established) readDisruption(f);
    else if (isConnected(f.pc)) {
      f.established = true;
      connected(f, setupTimes(f));
    } else if (hasFailed(f.pc) && !f.failed) {
      const stage = stageOf(f);
      f.failed = true;
      recordFailure(f, stage, "failed");
      reportOutage(f, "failed");
    }
    f.wasConnected = false;
  }
  function readGathering(f) {
    const now = f.clock.mono();
    const state = f.pc.iceGatheringState ?? "new";
    if (state !== "new") f.gatheringAtMs ??= now;
    if (state === "complete") f.gatheredAtMs ??= now;
    if (iceOf(f.pc) === "checking") f.checkingAtMs ??= now;
  }
  function readDisruption(f) {
    const { pc, disruptedAtMs } = f;
    const broken = hasFailed(pc) ? "failed" : iceOf(pc) === "disconnected" && "disconnected";
    if (broken && disruptedAtMs === void 0) {
      f.disruptedAtMs = f.clock.mono();
      emit2(f, "iceDisruptionStart", { iceConnectionState: broken });
      reportOutage(f, `is ${broken}`);
    } else if (disruptedAtMs !== void 0 && !broken && isConnected(pc)) {
      emit2(f, "iceDisruptionEnd", { durationMs: since(f, disruptedAtMs) });
      f.disruptedAtMs = void 0;
    }
  }
  function reportOutage({ owner, info }, state) {
    report(owner, "appConnectivityError", `a PeerConnection of ${info.conferenceID} ${state}`);
  }

  // src/fabric/fabric.ts
  function createFabric(owner, pc, info, pcCallback) {
    const { clock } = owner;
    const startedMs = clock.mono();
    const f = {
      owner,
      clock,
      pc,
      info,
      listener: () => readStates(f),
      startedMs,
      wasConnected: isConnected(pc),
      remoteSet: false,
      established: false,
      failed: false,
      settledSdp: "",
      lastStates: "",
      monitor: createMonitor(startedMs),
      reader: createReader(pc),
      awaiting: false,
      associations: /* @__PURE__ */ new Map(),
      sources: /* @__PURE__ */ new Map(),
      given: /* @__PURE__ */ new WeakMap(),
      muted: /* @__PURE__ */ new Set(),
      remoteUser: info.remoteUserID,
      done: false
    };
    const reported = pcCallback && later.bind(null, pcCallback);
    emit2(f, "fabricAdded", { alreadyConnected: f.wasConnected }, info.addedAt, reported);
    listen(f, "addEventListener");
    readStates(f);
    probe(f);
    return f;
  }

  // src/session/fabrics.ts
  var over = "the fabric has ended already";
  function addFabric(s, pc, description, pcCallback) {
    const { conferenceID } = description;
    const newUserID = !liveFabrics(s, conferenceID).length && s.renamed.get(conferenceID);
    const info = { ...description, fabric: ++s.lastFabric, addedAt: s.clock.stamp() };
    s.announcements.set(
      info.fabric,
      once(() => json({ type: "fabric", ...info, addedAt: s.clock.time(info.addedAt) }))
    );
    s.instance.known.get(pc)?.add(conferenceID);
    const first = !s.fabrics.length;
    if (first) s.measuredAtMs = s.clock.mono();
    const fabric = createFabric(s, pc, info, pcCallback);
    s.fabrics.push(fabric);
    if (newUserID) rename(fabric, "local", newUserID);
    if (first) startMeasuring(s);
    return fabric;
  }
  var isMonitored = (s, pc, conferenceID) => Boolean(ownFabric(s, pc, conferenceID) || s.instance.known.get(pc)?.size && isClosed(pc));
  function findFabric(s, pc, conferenceID, ssrc) {
    const own = ownFabric(s, pc, conferenceID);
    if (own) return own;
    if (hasEnded(s, pc, conferenceID)) throw new Invalid(over);
    const live = liveFabrics(s, conferenceID);
    const withStream = live.filter((f) => hasStream(f.monitor, ssrc));
    const isItself = s.instance.known.has(pc) || isGenuine(pc);
    const fits = isItself ? [] : withStream.length ? withStream : live;
    if (fits.length === 1) return fits[0];
    throw new Invalid(`pc is no fabric of this conferenceID, ${fits.length} fit`);
  }
  var recorderFor = (s, pc, conferenceID) => recorder(s, isGiven(pc) ? attempt(() => findFabric(s, pc, conferenceID)) : void 0, conferenceID);
  function measureAll(s) {
    s.measuredAtMs = s.clock.mono();
    if (!s.fabrics.length) return;
    measureIn(s, s.periodMs);
    let awaited = s.fabrics.length;
    for (const fabric of s.fabrics) {
      readChanged(fabric);
      measure2(fabric).then(() => --awaited || pump(s));
    }
    pump(s);
    recordWifi(s);
  }
  function endAll(s, reason) {
    for (const fabric of s.fabrics) end(fabric, reason, true);
  }
  function readAllStates(s) {
    for (const fabric of s.fabrics) readChanged(fabric);
  }
  async function recordWifi(s) {
    const handler = s.instance.wifi;
    const sample = handler && await readWifi(handler, s.info.config.collectIP);
    if (!sample) return;
    for (const fabric of new Map(s.fabrics.map((f) => [f.info.conferenceID, f])).values())
      emit2(fabric, "wifiStats", sample);
  }

  // src/session/page.ts
  function watchPage(s) {
    s.listening = new AbortController();
    const { signal } = s.listening;
    const listen2 = (target, type, handle) => target?.addEventListener?.(type, (event) => attempt(() => handle(s, event)), { signal });
    if (!s.info.config.disableBeforeUnloadHandler) listen2(globalThis, "pagehide", pageLeft);
    listen2(globalThis, "pageshow", pageChanged);
    listen2(globalThis, "online", pageChanged);
    listen2(globalThis.document, "visibilitychange", pageChanged);
  }
  function pageLeft(s, { persisted }) {
    readAllStates(s);
    s.cached = persisted ? liveFabrics(s) : [];
    endAll(s, "pagehide");
    flush(s);
    if (persisted) suspend(s);
  }
  function pageChanged(s, { type, persisted }) {
    const wasCached = type === "pageshow" && persisted;
    if (wasCached || globalThis.document?.visibilityState !== "hidden") pageShown(s, wasCached);
    else {
      readAllStates(s);
      sendNow(s);
    }
  }
  function pageShown(s, wasCached) {
    const before = wasCached ? s.cached.splice(0) : [];
    for (const fabric of before) {
      const { pc, info, remoteUser: remoteUserID } = fabric;
      if (!isClosed(pc)) passOn(fabric, addFabric(s, pc, { ...info, remoteUserID }));
    }
    wake(s);
  }

  // src/session/session.ts
  var graceMs = 1e4;
  function createSession(info, instance) {
    const clock = createClock(pageClocks);
    const s = {
      ...fresh,
      instance,
      info,
      clock,
      queue: createQueue(clock),
      id: "",
      reported: /* @__PURE__ */ new Set(),
      generation: 0,
      announced: /* @__PURE__ */ new Set(),
      frameWindow: 256,
      fabrics: [],
      ended: [],
      cached: [],
      lastFabric: 0,
      announcements: /* @__PURE__ */ new Map(),
      renamed: /* @__PURE__ */ new Map(),
      urlTemplate: "",
      urlByFabric: /* @__PURE__ */ new Map(),
      bounds: defaultBounds,
      periodMs: 1e4,
      measuredAtMs: clock.mono(),
      sendsSoon: false,
      nextTry: createTimer(() => connect(s)),
      renewal: createTimer(() => renewSilently(s)),
      pause: createTimer(() => resume(s)),
      watchdog: createTimer(() => checkSilence(s)),
      measureTimer: createTimer(() => measureAll(s)),
      statesTimer: createTimer(() => readAllStates(s))
    };
    start(s);
    return s;
  }
  function start(s) {
    s.listening?.abort();
    watchPage(s);
    restart(s);
  }
  var continues = (s, next) => identityOf2(next) === identityOf2(s.info);
  var identityOf2 = ({ appID, base, userID }) => json([appID, base, userID]);
  function continueSession(s, next) {
    s.info = next;
    s.reported.clear();
    start(s);
  }
  function retire(s) {
    endAll(s, "replaced");
    s.tester?.then(
      (tester) => tester.end(),
      () => void 0
    );
    s.listening?.abort();
    s.measureTimer();
    s.statesTimer();
    stop(s, s.clock.mono() + graceMs);
  }

  // src/configuration.ts
  var limitMs2 = 1e4;
  var request = async (base, { token }, more) => {
    const [message] = await post(`${base}configuration`, json({ type: "configuration", token, ...more }));
    return message;
  };
  async function configure(s, more) {
    const message = await inTime(limitMs2, async () => {
      while (!s.sessionToken && !s.stopped) await new Promise((next) => s.instance.unanswered.add(next));
      return request(s.info.base, s.sessionToken, { siteID: s.info.config.siteID, ...more });
    }) ?? {};
    for (const name of ["defaultConfig", "recommendedConfig"])
      if (!s.instance.answers[name] || name > "e" && message[name])
        emitFor(s, name, { peerConnection: {}, media: { audio: true, video: true }, ...message[name] });
    return message;
  }
  function emitFor(s, name, ...args) {
    if (s.instance.current === s) answer(s.instance, name, ...args);
  }

  // src/precall/host.ts
  var moduleKey = /* @__PURE__ */ Symbol.for("qos.precall");
  var page = globalThis;

  // src/tests.ts
  function noTest(instance, ranks, reason, s = instance.current) {
    if (instance.current !== s) return;
    const results = { mediaConnectivity: false, rtt: null, fractionalLoss: null, throughput: null };
    answer(instance, "preCallTestResults", "failure", results, reason);
    if (ranks) answer(instance, "connectionRecommendation", { aggregatedStats: [], providerRanking: [] });
  }
  async function test(s, request2, ranks = false) {
    try {
      s.tester ??= load(s);
      request2(await s.tester);
    } catch (error) {
      s.tester = void 0;
      noTest(s.instance, ranks, text(error), s);
    }
  }
  async function load(s) {
    if (!page[moduleKey]) {
      const folder = ownFolder(s.instance.scriptUrl) ?? s.info.base;
      await import(
        /* webpackIgnore: true */
        /* @vite-ignore */
        `${folder}qos-precall.mjs`
      );
    }
    return page[moduleKey].create(hostOf(s));
  }
  var hostOf = (s) => ({
    configure: (more) => configure(s, more),
    record: (members) => send2(s, { type: "precall", stamp: s.clock.stamp(), fabric: 0, members }),
    emit: (...args) => emitFor(s, ...args),
    inCall: () => liveFabrics(s).length > 0
  });
  var interrupt = () => page[moduleKey]?.interrupt();
  async function prepare(s) {
    const { instance, info } = s;
    const configuration = await configure(s);
    const disabled = info.config.disablePrecalltest && "disablePrecalltest is set";
    if (configuration.preCall && !disabled) test(s, (tester) => tester.automatic(configuration));
    else noTest(instance, false, disabled || "the collector offers no pre-call tests", s);
  }

  // src/begin.ts
  function sessionOf({ current: session }) {
    if (!session) throw new Invalid("initialize() must be called first");
    const { halted } = session;
    if (halted) fail(`initialize() again: ${halted.message}`);
    return session;
  }
  function begin(instance, info) {
    const before = instance.current;
    if (before && continues(before, info)) {
      continueSession(before, info);
      return;
    }
    if (before) retire(before);
    instance.answers = {};
    instance.current = createSession(info, instance);
    prepare(instance.current);
  }

  // src/config.ts
  var aSwitch = (name, value) => typeof value === "boolean" ? value : ignored(name, "a boolean", value);
  var aText = (limit, unit) => (name, value) => typeof value === "string" ? cut(name, value, limit, unit) : ignored(name, "a string", value);
  var anObject = (prefix, options) => (name, value) => {
    if (!isObject(value)) return ignored(name, "an object", value);
    const kept = {};
    for (const [key, member] of Object.entries(value)) {
      const read2 = Object.hasOwn(options, key) && options[key];
      if (!read2) note(`${prefix + key} is unknown and ignored`);
      else if (member !== void 0 && member !== null) {
        const own = read2(prefix + key, member);
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

  // src/credentials.ts
  async function turnCredentials({ current, scriptUrl }, appID, appSecret) {
    const base = current?.info.base ?? findBackend(void 0, scriptUrl);
    const env = { url: `${base}auth`, clock: createClock(pageClocks), late() {
    } };
    const token = await login(env, { appID, appSecret, userID: current?.info.userID }, false);
    return (await request(base, token)).iceServers ?? [];
  }

  // src/enums.ts
  function enumeration(list2) {
    return Object.fromEntries(list2.split(" ").map((name) => [name, name]));
  }
  var enums = {
    /** The media of a PeerConnection. */
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
    /** The kind of the other end of a fabric. */
    endpointType: enumeration("peer server"),
    /** The direction of media on a fabric. */
    transmissionDirection: enumeration("sendonly receiveonly sendrecv inactive"),
    /** The outcome of an operation. */
    qosAPIReturnStatus: enumeration("success failure"),
    /** The results that callbacks get; those after success are of the former library and never used. */
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
    /** The role of the user at this end of a contact centre's call. */
    roles: enumeration("agent participant manager")
  };
  var callbackEvents = enumeration(
    "preCallTestResults defaultConfig recommendedConfig connectionRecommendation error stats"
  );

  // src/report.ts
  var maxLogBytes = 20480;
  var maxJsonBytes = 5e4;
  function reportError(instance, pc, conferenceID, functionName, error, localSDP, remoteSDP) {
    const conference = requireConferenceID(conferenceID);
    const name = requireMember("wrtcFuncName", enums.webRTCFunctions, functionName);
    const session = sessionOf(instance);
    const record2 = recorderFor(session, pc, conference);
    if (name.startsWith("application")) {
      record2("log", { text: logText(error) });
      return;
    }
    const sdp = (field, given, withAddresses) => {
      const whole = sdpText(given);
      if (!whole && (given ?? "") !== "") ignored(field, "an SDP", given);
      return [field, cut(field, withAddresses ? whole : withoutAddresses(whole), 131072)];
    };
    const members = { function: name, ...describe(error) };
    const sdps = [sdp("localSDP", localSDP, session.info.config.collectIP), sdp("remoteSDP", remoteSDP, true)];
    const inParts = byteLength(json([members, sdps])) > maxJsonBytes;
    for (const [field, whole] of sdps)
      members[inParts ? `${field}Bytes` : field] = (inParts ? byteLength(whole) : whole) || void 0;
    const number = record2("error", members);
    if (!inParts) return;
    for (const [field, whole] of sdps) {
      let offset = 0;
      for (const text2 of whole.match(/.{1,8000}/gsu) ?? []) {
        record2("sdp", { error: number, field, offset, text: text2 });
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
  var refuse2 = (msg) => () => {
    throw new Invalid(msg);
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
    startPrecallTests,
    stopPrecallTests(instance) {
      test(sessionOf(instance), (tester) => tester.stop());
    },
    makePrecallTest(instance, callback) {
      onRefusal((msg) => noTest(instance, false, msg));
      const given = callbackOf("callback", callback);
      test(sessionOf(instance), (tester) => tester.make(given));
    },
    setIdentifiers: refuse2("reportUserIDChange() names a remote user"),
    resetWifiStatsHandler(instance) {
      instance.wifi = void 0;
    },
    setProxyConfig: refuse2("the browser has its own proxy"),
    getSctResults: refuse2("preCallTestResults has the results")
  };
  function createInterface(scriptUrl) {
    const instance = { scriptUrl, subscribers: {}, answers: {}, unanswered: /* @__PURE__ */ new Set(), known: /* @__PURE__ */ new WeakMap() };
    const guarded = Object.entries(operations).map(([name, operation]) => [
      name,
      (...args) => guard(() => operation(instance, ...args))
    ]);
    return {
      ...Object.fromEntries(guarded),
      getTurnCredentials: ((...args) => turnCredentials(instance, ...args)),
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
    if (!isMonitored(session, pc, description.conferenceID)) {
      interrupt();
      addFabric(session, pc, description, callback);
      return;
    }
    const already = "the fabric is monitored already";
    note(already);
    const { halted } = session;
    later(callback, halted?.csError ?? "success", halted?.message ?? already);
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
  function fabricOf(instance, pc, conferenceID, source) {
    const session = sessionOf(instance);
    must(isGiven(pc), "pc", "a PeerConnection", pc);
    return findFabric(session, pc, conferenceID, source);
  }
  function associateMstWithUserID(instance, pc, user, conferenceID, stream2, label2, tag) {
    const userID = requireUserID("userID", user);
    const conference = requireConferenceID(conferenceID);
    const source = requireSource(stream2);
    must(typeof label2 === "string", "usageLabel", "a string", label2);
    const usageLabel = cut("usageLabel", label2, 20);
    const fabric = fabricOf(instance, pc, conference, source);
    const id = attempt(() => typeof tag === "string" ? tag : tag.id);
    const tagID = id ? cut("associatedVideoTag", text(id), 256) : null;
    const association = { userID, usageLabel, associatedVideoTag: tag ?? null, tagID };
    if (typeof source === "number") associate(fabric, source, association);
    else associateAll(fabric, source, association);
  }
  function sendFabricEvent(instance, pc, name, conferenceID, eventData) {
    const event = requireMember("fabricEvent", enums.fabricEvent, name);
    if (event.startsWith("fabricSetup")) throw new Invalid(`${event} is made by the library itself`);
    const conference = requireConferenceID(conferenceID);
    const session = sessionOf(instance);
    const source = /^(au|vi)/.test(event) && sourceIn(eventData);
    const data = dataOf(event, source ? { ...eventData, ssrc: 0 } : eventData ?? {});
    const ofConference = event === "dominantSpeaker" || event === "activeDeviceList";
    const ended = hasEnded(session, pc, conference);
    const terminated = event === "fabricTerminated";
    if (ended && terminated) {
      note(over);
      return;
    }
    const fabric = ofConference && (ended || !isGiven(pc)) ? void 0 : findFabric(session, pc, conference);
    const isPause = /(Mute|Pause|Hold)$/.test(event);
    if (fabric && !source) keepState(fabric, event, isPause);
    if (fabric && source) pause(fabric, source, isPause ? data : void 0);
    else if (!terminated) recorder(session, fabric, conference)("event", { event, data });
    else if (fabric) end(fabric, "application");
  }
  function keepState(f, event, isPause) {
    if (/^screen/.test(event)) f.sharing = /Start/.test(event);
    const whole = /^(audio|video|fabric)(Mute|Unmute|Pause|Resume|Hold)$/.exec(event)?.[1];
    if (whole) f.muted[isPause ? "add" : "delete"](whole);
  }
  var dataOf = (event, given) => event === "activeDeviceList" ? { deviceList: deviceList(given) } : requireData("eventData", given);
  function sourceIn(eventData) {
    const ssrc = attempt(() => eventData.ssrc);
    return isObject(ssrc) ? requireSource(ssrc) : void 0;
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
    const userIDType = requireMember("userIDType", enums.userIDType, type);
    const fabric = fabricOf(instance, pc, conference);
    if (userIDType === "local") renameLocal(fabric.owner, conference, newUserID);
    rename(fabric, userIDType, newUserID);
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
    recorderFor(sessionOf(instance), null, conference)("feedback", members, done);
  }
  function on({ subscribers, answers }, eventName, callback) {
    const name = requireMember("eventName", callbackEvents, eventName);
    const subscriber = requireFunction("csEventCallback", callback);
    subscribers[name] ??= /* @__PURE__ */ new Set();
    if (subscribers[name].has(subscriber)) return;
    subscribers[name].add(subscriber);
    if (answers[name]) later(subscriber, ...answers[name]);
  }
  function startPrecallTests(instance, iceServers, interval) {
    onRefusal((msg) => noTest(instance, true, msg));
    const servers = reading("iceServers", () => JSON.parse(json(Object.values(iceServers ?? {}).slice(0, 32))));
    const given = attempt(() => Number(interval ?? 60), 60);
    const seconds = given >= 30 ? given : given < 30 ? 30 : 60;
    if (seconds !== interval) note(`interval is ${seconds} s`);
    test(sessionOf(instance), (tester) => tester.start(servers, seconds), true);
  }
  function attachWifiStatsHandler(instance, handler) {
    instance.wifi = requireFunction("getWifiStats", handler);
  }
  function sendCallDetails(instance, pc, conferenceID, attributes) {
    const conference = requireConferenceID(conferenceID);
    const data = requireData("callAttributes", attributes);
    requireMember("callAttributes.callType", enums.callType, data.callType);
    requireMember("callAttributes.role", enums.roles, data.role);
    recorderFor(sessionOf(instance), pc, conference)("event", { event: "callDetails", data });
  }
  function sendCustom(event) {
    const isEvent = event === "customEvent";
    const name = isEvent ? "events" : "stats";
    return (instance, pc, conferenceID, given) => {
      const conference = requireConferenceID(conferenceID);
      const items = requireList(name, given).map((item, i) => customItem(isEvent, `${name}[${i}]`, item));
      const record2 = recorderFor(sessionOf(instance), pc, conference);
      for (const data of items) record2("event", { event, data });
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
      return createInterface.call(this, scriptUrl);
    }
    return Object.assign(qos2, createInterface(scriptUrl));
  }

  // src/umd.ts
  var script = globalThis.document?.currentScript;
  var qos = assemble(script?.src);
  var ownTag = "requirejs" in globalThis && ownFolder(script?.src) && !script?.dataset.requiremodule;
  if (typeof define === "function" && define.amd && !ownTag) define([], () => qos);
  else if (typeof module === "object" && module.exports) module.exports = qos;
  else globalThis.qos = qos;
})();
//# sourceMappingURL=qos.js.map
