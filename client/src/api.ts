// The operations of an instance (interface document 4). Each is a closure, so that it works
// detached from its object, and none calls another through the object (LIB-08).

import { findBackend } from './backend.ts';
import { begin, sessionOf } from './begin.ts';
import { readConfig } from './config.ts';
import { turnCredentials } from './credentials.ts';
import { callbackEvents, enums } from './enums.ts';
import { end } from './fabric/end.ts';
import { pause } from './fabric/pauses.ts';
import type { Fabric } from './fabric/state.ts';
import { associate, associateAll, rename } from './fabric/users.ts';
import type { Instance } from './instance.ts';
import { reportError } from './report.ts';
import { attempt, guard, Invalid, json, later, note, onRefusal, text } from './result.ts';
import { hasEnded, renameLocal } from './session/conferences.ts';
import { addFabric, findFabric, isMonitored, over, recorderFor } from './session/fabrics.ts';
import { recorder } from './session/send.ts';
import { interrupt, noTest, test } from './tests.ts';
import type { Operations, PcCallback, TokenGenerator } from './types.ts';
import * as check from './validate.ts';
import { version } from './version.ts';

/** An operation returns where it succeeds and throws Invalid where it is refused. */
type Operation = (instance: Instance, ...args: unknown[]) => void;

const refuse =
  (msg: string): Operation =>
  () => {
    throw new Invalid(msg);
  };

const operations: Record<string, Operation> = {
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
  sendCustomEvent: sendCustom('customEvent'),
  sendCustomStats: sendCustom('customStats'),
  startPrecallTests,
  stopPrecallTests(instance) {
    test(sessionOf(instance), (tester) => tester.stop());
  },
  makePrecallTest(instance, callback) {
    onRefusal((msg) => noTest(instance, false, msg));
    const given = callbackOf<(...args: unknown[]) => unknown>('callback', callback);
    test(sessionOf(instance), (tester) => tester.make(given));
  },
  setIdentifiers: refuse('reportUserIDChange() names a remote user'),
  resetWifiStatsHandler(instance) {
    instance.wifi = undefined;
  },
  setProxyConfig: refuse('the browser has its own proxy'),
  getSctResults: refuse('preCallTestResults has the results'),
};

/** Everything that hangs off an instance. */
export function createInterface(scriptUrl: string | undefined) {
  const instance: Instance = { scriptUrl, subscribers: {}, answers: {}, unanswered: new Set(), known: new WeakMap() };
  const guarded = Object.entries(operations).map(([name, operation]) => [
    name,
    (...args: unknown[]) => guard(() => operation(instance, ...args)),
  ]);
  return {
    ...(Object.fromEntries(guarded) as Operations),
    getTurnCredentials: ((...args) => turnCredentials(instance, ...args)) as Operations['getTurnCredentials'],
    version,
    ...enums,
    // Names that existing applications read (LIB-09).
    wrtcFuncNames: enums.webRTCFunctions,
    callStatsAPIReturnStatus: enums.qosAPIReturnStatus,
  };
}

/** An optional callback; another value is ignored, and named. */
function callbackOf<C>(name: string, value: unknown): C | undefined {
  if (typeof value === 'function') return value as C;
  if (check.isGiven(value)) check.ignored(name, 'a function', value);
  return undefined;
}

/** A pcCallback, which gets refusals of arguments too (FAB-12). */
function pcCallbackOf(value: unknown): PcCallback | undefined {
  const callback = callbackOf<PcCallback>('pcCallback', value);
  onRefusal((msg) => later(callback, 'failure', msg));
  return callback;
}

function initialize(
  instance: Instance,
  appID: unknown,
  secret: unknown,
  localUserID: unknown,
  csInitCallback: unknown,
  csStatsCallback: unknown,
  configParams: unknown,
): void {
  const initCallback = callbackOf<Instance['initCallback']>('csInitCallback', csInitCallback);
  onRefusal((msg) => later(initCallback, 'authError', msg));
  // The former service's AppIDs were digits, and many pages have theirs as a number.
  const id = check.requireText('AppID', Number.isSafeInteger(appID) ? String(appID) : appID, 256);
  const key = typeof secret === 'function' ? (secret as TokenGenerator) : check.requireText('AppSecret', secret, 1024);
  const userID = check.requireUserID('localUserID', localUserID);
  const config = check.reading('configParams', () => readConfig(configParams));
  const base = findBackend(config.backendUrl, instance.scriptUrl);
  instance.initCallback = initCallback;
  if (initCallback) instance.unanswered.add(initCallback);
  instance.statsCallback = callbackOf('csStatsCallback', csStatsCallback);
  begin(instance, { base, appID: id, appSecret: key, userID, config });
}

function addNewFabric(
  instance: Instance,
  pc: unknown,
  remoteUserID: unknown,
  usage: unknown,
  conferenceID: unknown,
  fifth: unknown,
  sixth: unknown,
): void {
  // The older form has no fabricAttributes; some have them behind the callback.
  const older = typeof fifth === 'function';
  const callback = pcCallbackOf(older ? fifth : sixth);
  const attributes = older ? (check.isObject(sixth) ? sixth : undefined) : fifth;
  check.must(
    check.reading('pc', () => {
      const given = pc as Partial<RTCPeerConnection & { [Symbol.toStringTag]: string }> | null | undefined;
      // The browser refuses a bare Proxy of its object: that throws here.
      const readable = !given?.[Symbol.toStringTag] || given.signalingState !== null;
      return readable && typeof given?.getStats === 'function';
    }),
    'pc',
    'a PeerConnection with getStats',
    pc,
  );
  // From now on no other fabric stands in for it, also where the other arguments are refused.
  instance.known.set(pc as object, instance.known.get(pc as object) ?? new Set());
  const description = {
    remoteUserID: check.requireUserID('remoteUserID', remoteUserID),
    fabricUsage: check.requireMember('fabricUsage', enums.fabricUsage, usage),
    conferenceID: check.requireConferenceID(conferenceID),
    ...readAttributes(attributes),
  };
  const session = sessionOf(instance);
  if (!isMonitored(session, pc as object, description.conferenceID)) {
    interrupt();
    addFabric(session, pc as object, description, callback);
    return;
  }
  const already = 'the fabric is monitored already';
  note(already);
  const { halted } = session;
  later(callback, halted?.csError ?? 'success', halted?.message ?? already);
}

function readAttributes(value: unknown) {
  const given = value ?? {};
  check.must(check.isObject(given), 'fabricAttributes', 'an object', value);
  return check.reading('fabricAttributes', () => {
    const member = (key: string, members: object, otherwise: string) =>
      check.requireMember(`fabricAttributes.${key}`, members, given[key] ?? otherwise, otherwise);
    const known = {
      remoteEndpointType: member('remoteEndpointType', enums.endpointType, 'peer'),
      fabricTransmissionDirection: member('fabricTransmissionDirection', enums.transmissionDirection, 'sendrecv'),
    };
    for (const key of Object.keys(given)) if (!(key in known)) note(`fabricAttributes.${key} is unknown and ignored`);
    return known;
  });
}

/** The live fabric that an operation is about; pc must be given. */
function fabricOf(instance: Instance, pc: unknown, conferenceID: string, source?: unknown) {
  const session = sessionOf(instance);
  check.must(check.isGiven(pc), 'pc', 'a PeerConnection', pc);
  return findFabric(session, pc, conferenceID, source);
}

function associateMstWithUserID(
  instance: Instance,
  pc: unknown,
  user: unknown,
  conferenceID: unknown,
  stream: unknown,
  label: unknown,
  tag: unknown,
): void {
  const userID = check.requireUserID('userID', user);
  const conference = check.requireConferenceID(conferenceID);
  const source = check.requireSource(stream);
  check.must(typeof label === 'string', 'usageLabel', 'a string', label);
  const usageLabel = check.cut('usageLabel', label, 20);
  const fabric = fabricOf(instance, pc, conference, source);
  const id = attempt(() => (typeof tag === 'string' ? tag : (tag as Element).id));
  const tagID = id ? check.cut('associatedVideoTag', text(id), 256) : null;
  const association = { userID, usageLabel, associatedVideoTag: tag ?? null, tagID };
  if (typeof source === 'number') associate(fabric, source, association);
  else associateAll(fabric, source, association);
}

function sendFabricEvent(
  instance: Instance,
  pc: unknown,
  name: unknown,
  conferenceID: unknown,
  eventData: unknown,
): void {
  const event = check.requireMember('fabricEvent', enums.fabricEvent, name);
  if (event.startsWith('fabricSetup')) throw new Invalid(`${event} is made by the library itself`);
  const conference = check.requireConferenceID(conferenceID);
  const session = sessionOf(instance);
  const source = /^(au|vi)/.test(event) && sourceIn(eventData);
  const data = dataOf(event, source ? { ...(eventData as object), ssrc: 0 } : (eventData ?? {}));
  const ofConference = event === 'dominantSpeaker' || event === 'activeDeviceList';
  const ended = hasEnded(session, pc, conference);
  const terminated = event === 'fabricTerminated';
  if (ended && terminated) {
    note(over);
    return;
  }
  const fabric = ofConference && (ended || !check.isGiven(pc)) ? undefined : findFabric(session, pc, conference);
  const isPause = /(Mute|Pause|Hold)$/.test(event);
  if (fabric && !source) keepState(fabric, event, isPause);
  if (fabric && source) pause(fabric, source, isPause ? data : undefined);
  else if (!terminated) recorder(session, fabric, conference)('event', { event, data });
  else if (fabric) end(fabric, 'application');
}

/** Keeps what an event says of a whole fabric: what the page's objects show of it is not reported again. */
function keepState(f: Fabric, event: string, isPause: boolean): void {
  if (/^screen/.test(event)) f.sharing = /Start/.test(event);
  const whole = /^(audio|video|fabric)(Mute|Unmute|Pause|Resume|Hold)$/.exec(event)?.[1];
  if (whole) f.muted[isPause ? 'add' : 'delete'](whole);
}

const dataOf = (event: string, given: unknown): Record<string, unknown> =>
  event === 'activeDeviceList' ? { deviceList: deviceList(given) } : check.requireData('eventData', given);

/** The track, sender or receiver in eventData; undefined where that has an SSRC or nothing. */
function sourceIn(eventData: unknown): object | undefined {
  const ssrc = attempt(() => (eventData as { ssrc?: unknown }).ssrc);
  return check.isObject(ssrc) ? (check.requireSource(ssrc) as object) : undefined;
}

const ofDevice = ['deviceId', 'kind', 'label', 'groupId'];

/** A device, a list of them, or lists by kind: with the kinds that the latter give. */
function byKind(given: unknown): [kind: string, device: unknown][] {
  const isMap = check.isObject(given) && !ofDevice.some((name) => name in given);
  return Object.entries(isMap ? given : { '': given }).flatMap(([kind, list]) =>
    // Object.values: a list may be of four billion holes.
    Object.values(Array.isArray(list) ? list : [list])
      .flat()
      .map((device): [string, unknown] => [kind, device]),
  );
}

/** The devices as an array of the four known members (API-04). Text is a device's label. */
function deviceList(value: unknown): object[] {
  return check.reading('eventData', () => {
    check.must(typeof value === 'object', 'eventData', 'an object', value);
    const given = (value as { deviceList?: unknown }).deviceList ?? value;
    const all = byKind(given).filter(([, device]) => (device ?? '') !== '');
    const known: ReturnType<typeof byKind> = JSON.parse(JSON.stringify(all.slice(0, 100), ofDevice));
    const kept = known.flatMap(([kind, given]) => {
      const device = typeof given === 'string' ? { label: given } : given;
      return check.isObject(device) ? { ...device, kind: device.kind ?? (kind || undefined) } : [];
    });
    while (check.byteLength(json(kept)) > 4000) kept.pop();
    if (kept.length < all.length) note(`eventData.deviceList was cut to ${kept.length} devices`);
    return kept;
  });
}

function reportUserIDChange(
  instance: Instance,
  pc: unknown,
  conferenceID: unknown,
  user: unknown,
  type: unknown,
): void {
  const conference = check.requireConferenceID(conferenceID);
  const newUserID = check.requireUserID('newUserID', user);
  const userIDType = check.requireMember('userIDType', enums.userIDType, type);
  const fabric = fabricOf(instance, pc, conference);
  if (userIDType === 'local') renameLocal(fabric.owner, conference, newUserID);
  rename(fabric, userIDType, newUserID);
}

function sendUserFeedback(instance: Instance, conferenceID: unknown, feedback: unknown, pcCallback: unknown): void {
  const callback = pcCallbackOf(pcCallback);
  const conference = check.requireConferenceID(conferenceID);
  check.must(check.isObject(feedback), 'feedback', 'an object', feedback);
  const members = check.reading('feedback', () => {
    const { userID = null, userId, comment } = feedback;
    const score = (name: string, least: number) =>
      check.requireInteger(`feedback.${name}`, feedback[name], least, 5) || null;
    const optional = (name: string) => [name, check.isGiven(feedback[name]) ? score(name, 0) : null];
    check.must(typeof (comment ?? '') === 'string', 'feedback.comment', 'a string', comment);
    return {
      userID: check.requireUserID('feedback.userID', userID ?? userId),
      overall: score('overall', 1),
      ...Object.fromEntries(['audio', 'video', 'screen'].map(optional)),
      comment: check.cut('feedback.comment', (comment ?? '') as string, 4096) || undefined,
    };
  });
  const done: PcCallback = (err, msg) => later(callback, err, msg);
  recorderFor(sessionOf(instance), null, conference)('feedback', members, done);
}

function on({ subscribers, answers }: Instance, eventName: unknown, callback: unknown): void {
  const name = check.requireMember('eventName', callbackEvents, eventName);
  const subscriber = check.requireFunction('csEventCallback', callback);
  subscribers[name] ??= new Set();
  if (subscribers[name].has(subscriber)) return;
  subscribers[name].add(subscriber);
  if (answers[name]) later(subscriber, ...answers[name]);
}

/** A test that cannot run calls the callbacks too (interface document 7.2). */
function startPrecallTests(instance: Instance, iceServers: unknown, interval: unknown): void {
  onRefusal((msg) => noTest(instance, true, msg));
  // As it is now: the application may change it. Object.values: a list may be of four billion holes.
  const servers = check.reading('iceServers', () => JSON.parse(json(Object.values(iceServers ?? {}).slice(0, 32))));
  const given = attempt(() => Number(interval ?? 60), 60);
  const seconds = given >= 30 ? given : given < 30 ? 30 : 60;
  if (seconds !== interval) note(`interval is ${seconds} s`);
  test(sessionOf(instance), (tester) => tester.start(servers, seconds), true);
}

function attachWifiStatsHandler(instance: Instance, handler: unknown): void {
  instance.wifi = check.requireFunction('getWifiStats', handler);
}

function sendCallDetails(instance: Instance, pc: unknown, conferenceID: unknown, attributes: unknown): void {
  const conference = check.requireConferenceID(conferenceID);
  const data = check.requireData('callAttributes', attributes);
  check.requireMember('callAttributes.callType', enums.callType, data.callType);
  check.requireMember('callAttributes.role', enums.roles, data.role);
  recorderFor(sessionOf(instance), pc, conference)('event', { event: 'callDetails', data });
}

function sendCustom(event: 'customEvent' | 'customStats'): Operation {
  const isEvent = event === 'customEvent';
  const name = isEvent ? 'events' : 'stats';
  return (instance, pc, conferenceID, given) => {
    const conference = check.requireConferenceID(conferenceID);
    const items = check.requireList(name, given).map((item, i) => customItem(isEvent, `${name}[${i}]`, item));
    const record = recorderFor(sessionOf(instance), pc, conference);
    for (const data of items) record('event', { event, data });
  };
}

function customItem(isEvent: boolean, name: string, item: unknown): Record<string, unknown> {
  const data = check.requireData(name, isEvent && typeof item === 'string' ? { name: item } : item);
  if (!isEvent) {
    check.requireText(`${name}.name`, data.name, 64);
    check.must(typeof data.value === 'number', `${name}.value`, 'a number', data.value);
  }
  return data;
}
