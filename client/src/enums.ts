// The enumerations of the interface (requirement LIB-06): each value equals its name.

type Enumeration<K extends string> = Readonly<{ [Name in K]: Name }>;

function enumeration<K extends string>(...names: K[]): Enumeration<K> {
  return Object.fromEntries(names.map((name) => [name, name])) as Enumeration<K>;
}

/** What media a PeerConnection carries. */
export const fabricUsage = enumeration('multiplex', 'audio', 'video', 'screen', 'data', 'unbundled');

/** Which user ID changed. */
export const userIDType = enumeration('local', 'remote');

/** What stands at the other end of a fabric. */
export const endpointType = enumeration('peer', 'server');

/** The direction of media on a fabric. */
export const transmissionDirection = enumeration('sendonly', 'receiveonly', 'sendrecv', 'inactive');

/** The outcome of an operation. */
export const qosAPIReturnStatus = enumeration('success', 'failure');

/** The functions that reportError knows. applicationError is an alias of applicationLog. */
export const webRTCFunctions = enumeration(
  'getUserMedia',
  'createOffer',
  'createAnswer',
  'setLocalDescription',
  'setRemoteDescription',
  'addIceCandidate',
  'iceConnectionFailure',
  'signalingError',
  'applicationLog',
  'applicationError',
);

/** The events of sendFabricEvent. The library itself makes fabricSetup and fabricSetupFailed. */
export const fabricEvent = enumeration(
  'fabricHold',
  'fabricResume',
  'audioMute',
  'audioUnmute',
  'videoPause',
  'videoResume',
  'fabricTerminated',
  'screenShareStart',
  'screenShareStop',
  'dominantSpeaker',
  'activeDeviceList',
  'fabricSetup',
  'fabricSetupFailed',
);

/** The names that on() accepts. */
export const callbackEvents = [
  'preCallTestResults',
  'defaultConfig',
  'recommendedConfig',
  'connectionRecommendation',
  'error',
  'stats',
] as const;

/** Whether value is a member of an enumeration. */
export function isMember(members: object, value: unknown): value is string {
  return typeof value === 'string' && Object.hasOwn(members, value);
}
