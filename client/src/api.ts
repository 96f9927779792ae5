// The operations of an instance (interface document 4). Each is a closure, so that it works
// detached from its object, and none calls another through the object (LIB-08).

import { findBackend } from './backend.ts';
import { readConfig } from './config.ts';
import * as enums from './enums.ts';
import { findScope, type Instance } from './instance.ts';
import { maxEntryBytes } from './queue.ts';
import { reportError } from './report.ts';
import { failure, guard, Invalid, later, success } from './result.ts';
import { Session } from './session.ts';
import type { Feedback, Operations, PcCallback, Result, UserID } from './types.ts';
import * as check from './validate.ts';
import { version } from './version.ts';
import type { WifiHandler } from './wifi.ts';

const noPrecall = 'this collector offers no pre-call tests';
const noTurn = 'this collector offers no TURN credentials';

/** Everything that hangs off an instance. */
export function createOperations(instance: Instance, scriptUrl: string | undefined) {
  const operations: Operations = {
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
    sendCustomEvent: (...args) => guard(() => sendCustom(instance, 'customEvent', args)),
    sendCustomStats: (...args) => guard(() => sendCustom(instance, 'customStats', args)),
    startPrecallTests: () => failure(noPrecall),
    stopPrecallTests: () => failure(noPrecall),
    makePrecallTest: () => failure(noPrecall),
    getTurnCredentials: () => Promise.reject(new Error(noTurn)),
  };
  return {
    ...operations,
    version,
    fabricUsage: enums.fabricUsage,
    fabricEvent: enums.fabricEvent,
    webRTCFunctions: enums.webRTCFunctions,
    userIDType: enums.userIDType,
    endpointType: enums.endpointType,
    transmissionDirection: enums.transmissionDirection,
    qosAPIReturnStatus: enums.qosAPIReturnStatus,
    // Names that existing applications read (LIB-09).
    wrtcFuncNames: enums.webRTCFunctions,
    callStatsAPIReturnStatus: enums.qosAPIReturnStatus,
  };
}

/** guard() for operations with a pcCallback: refused arguments reach it too (FAB-12). */
function guardCallback(args: readonly unknown[], operation: () => Result): Result {
  const result = guard(operation);
  // A PeerConnection may be a function too, so the first arguments are left out.
  if (result.status === 'failure') later(lastFunction(args.slice(2)), 'failure', result.msg);
  return result;
}

function lastFunction(args: readonly unknown[]): PcCallback | null {
  return (args.filter((arg) => typeof arg === 'function').pop() as PcCallback | undefined) ?? null;
}

function session(instance: Instance): Session {
  if (!instance.session) throw new Invalid('initialize() must be called first');
  return instance.session;
}

function initialize(instance: Instance, scriptUrl: string | undefined, args: readonly unknown[]): Result {
  const [appID, secret, localUserID, initCallback, statsCallback, configParams] = args;
  const callback = typeof initCallback === 'function' ? (initCallback as Instance['initCallback']) : null;
  const notes: string[] = [];
  try {
    check.requireText('AppID', appID, 256);
    if (typeof secret !== 'function') check.requireText('AppSecret', secret, 1024);
    const userID = check.requireUserID('localUserID', localUserID, notes);
    const config = readConfig(configParams, notes);
    const base = findBackend(config.backendUrl, scriptUrl);
    instance.initCallback = callback;
    instance.statsCallback = typeof statsCallback === 'function' ? (statsCallback as Instance['statsCallback']) : null;
    begin(instance, { base, appID: appID as string, secret: secret as string, userID, config });
  } catch (error) {
    if (error instanceof Invalid) later(callback, 'authError', error.message);
    throw error;
  }
  return success(notes);
}

function begin(instance: Instance, info: ConstructorParameters<typeof Session>[0]): void {
  if (instance.session?.continues(info)) {
    instance.session.again(info);
    return;
  }
  instance.session?.close();
  const session: Session = new Session(info, {
    report: (csError, msg) => {
      if (instance.session !== session) return; // it was replaced and sends its last frames
      later(instance.initCallback, csError, msg);
      if (csError !== 'success') instance.emit('error', csError, msg);
    },
    stats: (stats) => {
      later(instance.statsCallback, stats);
      instance.emit('stats', stats);
    },
    wifi: () => instance.wifi,
  });
  instance.session = session;
}

function addNewFabric(instance: Instance, args: readonly unknown[]): Result {
  const [pc, remoteUserID, usage, conferenceID, fifth, sixth] = args;
  const notes: string[] = [];
  if (!isPeerConnection(pc)) throw new Invalid(`pc must be a PeerConnection with getStats, got ${check.kindOf(pc)}`);
  const user = check.requireUserID('remoteUserID', remoteUserID, notes);
  const fabricUsage = check.requireMember('fabricUsage', enums.fabricUsage, usage);
  const conference = check.requireConferenceID(conferenceID);
  const attributes = readAttributes(typeof fifth === 'function' ? undefined : fifth, notes);
  const callback = lastFunction([fifth, sixth]);
  const own = session(instance);
  if (own.fabricOf(pc, conference)) {
    later(callback, 'success', 'monitored already');
    return success(['this PeerConnection is monitored already']);
  }
  own.addFabric({ pc, remoteUserID: user, fabricUsage, conferenceID: conference, ...attributes }, callback);
  return success(notes);
}

function isPeerConnection(pc: unknown): pc is object {
  return (
    (typeof pc === 'object' || typeof pc === 'function') &&
    pc !== null &&
    typeof (pc as { getStats?: unknown }).getStats === 'function'
  );
}

function readAttributes(value: unknown, notes: string[]) {
  const given = check.requireData('fabricAttributes', value);
  const { remoteEndpointType, fabricTransmissionDirection, ...rest } = given;
  for (const key of Object.keys(rest)) notes.push(`fabricAttributes.${key} is unknown and ignored`);
  return {
    remoteEndpointType: check.requireMember('remoteEndpointType', enums.endpointType, remoteEndpointType ?? 'peer'),
    fabricTransmissionDirection: check.requireMember(
      'fabricTransmissionDirection',
      enums.transmissionDirection,
      fabricTransmissionDirection ?? 'sendrecv',
    ),
  };
}

function associate(instance: Instance, args: readonly unknown[]): Result {
  const [pc, user, conferenceID, source, label, tag] = args;
  const notes: string[] = [];
  const userID = check.requireUserID('userID', user, notes);
  const conference = check.requireConferenceID(conferenceID);
  const ssrc = check.requireSSRC(source);
  const usageLabel = label === '' ? '' : check.requireText('usageLabel', label, 20);
  const fabric = session(instance).match(pc, conference, ssrc);
  if (!fabric) throw new Invalid('no fabric of this conferenceID is monitored');
  const associatedVideoTag = tag ?? null;
  fabric.associate(ssrc, { userID, usageLabel, associatedVideoTag });
  const id = typeof tag === 'string' ? tag : ((tag as Partial<Element> | null | undefined)?.id ?? null);
  return sent(
    fabric.event('associateMstWithUserID', {
      ssrc,
      userID,
      usageLabel,
      associatedVideoTag: id && check.cutBytes(String(id), 256),
    }),
    notes,
  );
}

/** A frame's way into the queue, as a result. */
function sent(taken: boolean, notes: readonly string[] = []): Result {
  return taken ? success(notes) : failure(`the frame would be larger than ${maxEntryBytes} bytes`);
}

const withoutPc = new Set<string>([enums.fabricEvent.dominantSpeaker, enums.fabricEvent.activeDeviceList]);

function sendFabricEvent(instance: Instance, args: readonly unknown[]): Result {
  const [pc, name, conferenceID, eventData] = args;
  const event = check.requireMember('fabricEvent', enums.fabricEvent, name);
  if (event === 'fabricSetup' || event === 'fabricSetupFailed')
    throw new Invalid(`${event} is made by the library itself and cannot be sent`);
  const conference = check.requireConferenceID(conferenceID);
  const own = session(instance);
  const data =
    event === 'activeDeviceList' ? { deviceList: deviceList(eventData) } : check.requireData('eventData', eventData);
  const scope = findScope(own, pc, conference, withoutPc.has(event));
  if (event === 'fabricTerminated') {
    if (!('fabric' in scope)) return success(['the fabric had ended already']);
    scope.fabric.end('application');
    return success();
  }
  if (!('fabric' in scope) && pc && !withoutPc.has(event)) throw new Invalid('the fabric has ended');
  return sent(own.record('event', scope, { event, data }));
}

/** The devices as an array of the four known members; a map by kind is flattened (API-04). */
function deviceList(value: unknown): object[] {
  const list = check.isObject(value) ? (value.deviceList ?? value) : value;
  const devices = Array.isArray(list) ? list : check.isObject(list) ? Object.values(list).flat() : [];
  const kept = devices
    .filter(check.isObject)
    .map(({ deviceId, kind, label, groupId }) => ({ deviceId, kind, label, groupId }));
  while (kept.length && check.byteLength(JSON.stringify(kept)) > 4000) kept.pop();
  return kept;
}

function reportUserIDChange(instance: Instance, args: readonly unknown[]): Result {
  const [pc, conferenceID, user, type] = args;
  const notes: string[] = [];
  const conference = check.requireConferenceID(conferenceID);
  const newUserID = check.requireUserID('newUserID', user, notes);
  const kind = check.requireMember('userIDType', enums.userIDType, type);
  const own = session(instance);
  const fabric = own.match(pc, conference);
  if (!fabric) throw new Invalid('no fabric of this conferenceID is monitored');
  if (kind === 'local') own.setLocalUser(newUserID);
  else fabric.renameRemote(newUserID);
  return sent(fabric.event('userIDChange', { userIDType: kind, newUserID }), notes);
}

function sendUserFeedback(instance: Instance, args: readonly unknown[]): Result {
  const [conferenceID, feedback, callback] = args;
  const notes: string[] = [];
  const conference = check.requireConferenceID(conferenceID);
  if (!check.isObject(feedback)) throw new Invalid(`feedback must be an object, got ${check.kindOf(feedback)}`);
  const given = feedback as Partial<Feedback> & { userId?: UserID };
  const members = {
    userID: check.requireUserID('feedback.userID', given.userID ?? given.userId, notes),
    overall: check.requireScore('feedback.overall', given.overall, false),
    audio: check.requireScore('feedback.audio', given.audio, true),
    video: check.requireScore('feedback.video', given.video, true),
    screen: check.requireScore('feedback.screen', given.screen, true),
    ...comment(given.comment, notes),
  };
  const done = (err: Parameters<PcCallback>[0], msg: string) => later(callback as PcCallback | undefined, err, msg);
  return sent(session(instance).record('feedback', { conferenceID: conference }, members, done), notes);
}

function comment(value: unknown, notes: string[]): { comment?: string } {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'string') throw new Invalid(`feedback.comment must be a string, got ${check.kindOf(value)}`);
  const kept = check.cutBytes(value, 4096);
  if (kept !== value) notes.push('feedback.comment was cut to 4096 bytes');
  return { comment: kept };
}

function on(instance: Instance, name: unknown, callback: unknown): Result {
  if (!enums.callbackEvents.includes(name as never)) {
    throw new Invalid(
      `eventName must be one of ${enums.callbackEvents.join(', ')}, got ${typeof name === 'string' ? 'another name' : check.kindOf(name)}`,
    );
  }
  if (typeof callback !== 'function')
    throw new Invalid(`csEventCallback must be a function, got ${check.kindOf(callback)}`);
  instance.subscribe(name as string, callback as () => void);
  return success();
}

function attachWifi(instance: Instance, handler: unknown): Result {
  if (typeof handler !== 'function') throw new Invalid(`getWifiStats must be a function, got ${check.kindOf(handler)}`);
  instance.wifi = handler as WifiHandler;
  return success();
}

const callTypes = { inbound: 1, outbound: 1, monitoring: 1 };
const roles = { agent: 1, participant: 1, manager: 1 };

function sendCallDetails(instance: Instance, args: readonly unknown[]): Result {
  const [pc, conferenceID, attributes] = args;
  const conference = check.requireConferenceID(conferenceID);
  if (!check.isObject(attributes))
    throw new Invalid(`callAttributes must be an object, got ${check.kindOf(attributes)}`);
  const data = check.requireData('callAttributes', attributes);
  check.requireMember('callAttributes.callType', callTypes, data.callType);
  check.requireMember('callAttributes.role', roles, data.role);
  const own = session(instance);
  return sent(own.record('event', findScope(own, pc, conference, true), { event: 'callDetails', data }));
}

function sendCustom(instance: Instance, event: 'customEvent' | 'customStats', args: readonly unknown[]): Result {
  const [pc, conferenceID, given] = args;
  const conference = check.requireConferenceID(conferenceID);
  const list: unknown[] = Array.isArray(given) ? given : [given];
  const items = list.map((item) => customItem(event, item));
  const own = session(instance);
  const scope = findScope(own, pc, conference, true);
  return sent(items.map((data) => own.record('event', scope, { event, data })).every(Boolean));
}

function customItem(event: string, item: unknown): Record<string, unknown> {
  if (event === 'customEvent' && typeof item === 'string') return check.requireData('event', { name: item });
  if (!check.isObject(item)) throw new Invalid(`${event} takes an array of objects, got ${check.kindOf(item)} in it`);
  const data = check.requireData(event, item);
  if (event === 'customStats') {
    check.requireText('name', data.name, 64);
    if (typeof data.value !== 'number') throw new Invalid(`value must be a number, got ${check.kindOf(data.value)}`);
  }
  return data;
}
