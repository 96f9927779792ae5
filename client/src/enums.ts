// The enumerations of the interface (requirement LIB-06): each value equals its name, but for
// some of the last release of the former library, whose values applications compare with.

/** The names of a list, apart by spaces. */
type Names<List extends string> = List extends `${infer First} ${infer Rest}` ? First | Names<Rest> : List;

function enumeration<List extends string>(list: List) {
  return Object.fromEntries(list.split(' ').map((name) => [name, name])) as { readonly [K in Names<List>]: K };
}

/** The enumerations of an instance. */
export const enums = {
  /** The media of a PeerConnection. */
  fabricUsage: enumeration('multiplex audio video screen data unbundled'),

  /** The events of sendFabricEvent. The library itself makes fabricSetup and fabricSetupFailed. */
  fabricEvent: enumeration(
    'fabricHold fabricResume audioMute audioUnmute videoPause videoResume fabricTerminated screenShareStart screenShareStop dominantSpeaker activeDeviceList fabricUsageEvent applicationErrorLog callDetails callUnAnswered fabricSetup fabricSetupFailed',
  ),

  /** The functions that reportError knows. applicationError is an alias of applicationLog. */
  webRTCFunctions: enumeration(
    'getUserMedia createOffer createAnswer setLocalDescription setRemoteDescription addIceCandidate iceConnectionFailure signalingError applicationLog applicationError',
  ),

  /** Which user ID changed. */
  userIDType: enumeration('local remote'),

  /** The kind of the other end of a fabric. */
  endpointType: enumeration('peer server'),

  /** The direction of media on a fabric. */
  transmissionDirection: enumeration('sendonly receiveonly sendrecv inactive'),

  /** The outcome of an operation. */
  qosAPIReturnStatus: enumeration('success failure'),

  /** The results that callbacks get; those after success are of the former library and never used. */
  csError: {
    ...enumeration(
      'httpError authError wsChannelFailure csProtoError appConnectivityError tokenGenerationError success authOngoing',
    ),
    ok: 'OK',
    invalidWebRTCFunctionName: 'Invalid WebRTC function name',
    invalidEndPointType: 'Invalid EndPoint Type',
    invalidTransmissionDirection: 'Invalid fabric transmission direction',
  } as const,

  /** The scores of a feedback. */
  qualityRating: { excellent: 5, good: 4, fair: 3, poor: 2, bad: 1 } as const,

  /** The direction of a contact centre's call. */
  callType: enumeration('inbound outbound monitoring unknown'),

  /** The role of the user at this end of a contact centre's call. */
  roles: enumeration('agent participant manager'),
};

/** The names that on() accepts. */
export const callbackEvents = enumeration(
  'preCallTestResults defaultConfig recommendedConfig connectionRecommendation error stats',
);
