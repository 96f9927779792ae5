/*! qos 0.1.0 | Apache-2.0 */
/** The outcome of an operation, at once. */
export interface Result {
  /** `failure`: nothing was done. */
  status: 'success' | 'failure';
  /** The fault, or the values that were cut or ignored; empty if there are none. */
  msg: string;
  /** The same text as `msg`. */
  message: string;
}

/** An ID of the application: text, or a whole number, which is read as its decimal digits. */
export type ID = string | number | bigint;

/**
 * A user: text of at most 256 bytes, or a real name with an alias that engineers see instead,
 * at most 128 characters each.
 */
export type UserID = string | { userName?: string; aliasName: string };

/** A user as operations take it: numbers in place of text are their decimal digits. */
export type GivenUserID = ID | { userName?: ID | null; aliasName: ID };

/** The media that a PeerConnection carries. */
export type FabricUsage = 'multiplex' | 'audio' | 'video' | 'screen' | 'data' | 'unbundled';

/** An event of a call that the application reports. */
export type FabricEvent =
  | 'fabricHold'
  | 'fabricResume'
  | 'audioMute'
  | 'audioUnmute'
  | 'videoPause'
  | 'videoResume'
  | 'fabricTerminated'
  | 'screenShareStart'
  | 'screenShareStop'
  | 'dominantSpeaker'
  | 'activeDeviceList'
  | 'fabricUsageEvent'
  | 'applicationErrorLog'
  | 'callDetails'
  | 'callUnAnswered';

/** A step of the negotiation, or a log of the application. */
export type WebRTCFunction =
  | 'getUserMedia'
  | 'createOffer'
  | 'createAnswer'
  | 'setLocalDescription'
  | 'setRemoteDescription'
  | 'addIceCandidate'
  | 'iceConnectionFailure'
  | 'signalingError'
  | 'applicationLog'
  | 'applicationError';

/** Says which streams are meant: an SSRC, or what a page has of them. */
export type StreamSource = number | MediaStreamTrack | RTCRtpSender | RTCRtpReceiver;

/** The user whose ID changed. */
export type UserIDType = 'local' | 'remote';

/** The kind of the remote end. */
export type EndpointType = 'peer' | 'server';

/** The direction of media. */
export type TransmissionDirection = 'sendonly' | 'receiveonly' | 'sendrecv' | 'inactive';

/**
 * The kind of a failure, or `success`: logged in, or sending works again.
 * - `authError`: AppID, secret, token or origin was refused; the library does not retry
 * - `tokenGenerationError`: the token generator failed or is late
 * - `httpError`: the login could not reach the collector; the library retries
 * - `wsChannelFailure`: the channel broke; the library retries
 * - `csProtoError`: the collector refused a message permanently
 * - `appConnectivityError`: a PeerConnection lost its network path, or never had one
 */
export type CsError =
  | 'success'
  | 'httpError'
  | 'authError'
  | 'wsChannelFailure'
  | 'csProtoError'
  | 'appConnectivityError'
  | 'tokenGenerationError';

/** Receives the result of initialize(), then each outage once, and `success` when it is over. */
export type InitCallback = (csError: CsError, csErrMsg: string) => void;

/** Receives the outcome for one PeerConnection or one feedback, once. `failure`: it was refused or dropped. */
export type PcCallback = (err: CsError | 'failure', msg: string) => void;

/** Receives the measurements of one PeerConnection, at each interval. */
export type StatsCallback = (stats: FabricStats) => void;

/** The results of a pre-call test; null where there is none. */
export interface PreCallTestResults {
  /** True if media were received. */
  mediaConnectivity: boolean;
  /** The round trip, ms. */
  rtt: number | null;
  /** Share of the packets that were lost, 0 to 1. */
  fractionalLoss: number | null;
  /** kbit/s. */
  throughput: number | null;
}

/** Receives the results of a pre-call test, and the reason why there are none or only a part. */
export type PreCallTestResultsCallback = (
  /** `failure`: it could not run. */
  status: Result['status'],
  /** The measured values. */
  results: PreCallTestResults,
  /** Why it could not run or was interrupted; without media connectivity the PreCallReason of the best server. */
  reason?: string,
) => void;

/** Arguments for RTCPeerConnection and getUserMedia(); empty where nothing is configured. */
export interface CallConfig {
  /** For the constructor of RTCPeerConnection. */
  peerConnection: RTCConfiguration;
  /** For getUserMedia(). */
  media: MediaStreamConstraints;
  /** Of recommendedConfig: why a member has its value. */
  reasons?: { member: string; code: string; text: string }[];
}

/** A TURN server of startPrecallTests(). */
export interface TurnServer {
  /** `turn:` and `turns:` URLs; each transport is tested by its own. */
  urls: string | readonly string[];
  /** The name of the user at the server. */
  username?: string;
  /** The password of the user at the server. */
  credential?: string;
  /** The name of the provider; otherwise it is the host of the first URL. */
  label?: string;
}

/** Receives a configuration. */
export type ConfigCallback = (callConfig: CallConfig) => void;

/**
 * Why a TURN server is not acceptable. It has no connection: badUrl to notTested; or a result beyond its limit:
 * roundTrip to throughput.
 */
export type PreCallReason =
  | 'badUrl'
  | 'nameNotResolved'
  | 'unreachable'
  | 'credentials'
  | 'noRelay'
  | 'relayBlocked'
  | 'tooSlow'
  | 'notTested'
  | 'roundTrip'
  | 'loss'
  | 'jitter'
  | 'throughput'
  | 'other';

/** Results of TURN servers in startPrecallTests(); empty where none was tested. */
export interface ConnectionRecommendation {
  /**
   * One element for each server; null where there is no result. Times in ms, loss 0 to 1, throughput in kbit/s. The reason is null for a server
   * that is acceptable.
   */
  aggregatedStats: {
    provider: string;
    roundTripTime: number | null;
    jitter: number | null;
    fractionLost: number | null;
    throughput: number | null;
    reason: PreCallReason | null;
  }[];
  /** The best first. */
  providerRanking: { provider: string; acceptable: boolean }[];
}

/** Receives the ranking of TURN servers. */
export type ConnectionRecommendationCallback = (recommendation: ConnectionRecommendation) => void;

/** Makes a JWT: callback(error, token). With forcenew it must not come from a cache. */
export type TokenGenerator = (forcenew: boolean, callback: (error: unknown, token?: string) => void) => unknown;

/** Identifiers of the application's own world, at most 256 bytes each; longer ones are cut. */
export interface AdditionalIDs {
  /** The customer. */
  customerID?: string;
  /** The tenant. */
  tenantID?: string;
  /** The product. */
  productName?: string;
  /** The meeting. */
  meetingsName?: string;
  /** The server or middle-box. */
  serverName?: string;
  /** The telephone exchange. */
  pbxID?: string;
  /** The extension of the telephone exchange. */
  pbxExtensionID?: string;
  /** The fully qualified extension. */
  fqExtensionID?: string;
  /** The session. */
  sessionID?: string;
}

/** Options of initialize(). A value of the wrong type is ignored, and named in `msg`. */
export interface ConfigParams {
  /** True: the library does not listen to the page's end; calls end by silence. Default false. */
  disableBeforeUnloadHandler?: boolean;
  /** Of the application; at most 30 characters, longer ones are cut. */
  applicationVersion?: string;
  /** True: no test before a call. Default false. */
  disablePrecalltest?: boolean;
  /** The user's site; at most 256 bytes, longer ones are cut. */
  siteID?: string;
  /** False: the callback form of getStats is never called. Default true. */
  collectLegacyStats?: boolean;
  /** False: no local address leaves the browser. Default true. */
  collectIP?: boolean;
  /** Identifiers of the application's own world. */
  additionalIDs?: AdditionalIDs;
  /** The collector's URL, if the library was not loaded from there: bundles need it. */
  backendUrl?: string;
}

/** Options of addNewFabric(). A value that is none of the enumeration is ignored, and named in `msg`. */
export interface FabricAttributes {
  /** The kind of the remote end. Default `peer`. */
  remoteEndpointType?: EndpointType;
  /** The direction of media. Default `sendrecv`. */
  fabricTransmissionDirection?: TransmissionDirection;
}

/** The members of a PeerConnection that the library requires: the real one, a wrapper or a substitute. */
export interface PeerConnectionLike {
  /** Promises a map of reports; an array, an object or the callback form do as well. */
  getStats: unknown;
}

/**
 * A user's opinion of a call. Ratings are integers from 1 to 5, or such an integer as text; 0
 * means that an optional one is not given.
 */
export interface Feedback {
  /** The user whose opinion it is. */
  userID: GivenUserID;
  /** The call as a whole. */
  overall: number | string;
  /** Its sound. */
  audio?: number | string | null;
  /** Its picture. */
  video?: number | string | null;
  /** Its shared screen. */
  screen?: number | string | null;
  /** As text; at most 4096 bytes, longer ones are cut. */
  comment?: string | null;
}

/** A call of a contact centre. Further members are kept, 4096 bytes of JSON in all. */
export interface CallAttributes {
  /** The kind of the call. */
  callType: 'inbound' | 'outbound' | 'monitoring' | 'unknown';
  /** The role of the local user. */
  role: 'agent' | 'participant' | 'manager';
  [further: string]: unknown;
}

/** A number of the application's own. */
export interface CustomStat {
  /** At most 64 bytes. */
  name: string;
  /** Any finite number. */
  value: number;
  /** Milliseconds since 1970; now where it is missing. */
  timestamp?: number;
}

/** One RTP report of one stream. A value that is unknown is null, never missing. */
export interface MediaStreamTrackStats {
  /** The remote user: the one given to addNewFabric(), or the owner of an inbound stream. */
  remoteUserID: UserID | null;
  /** The owner of the stream: the one given to associateMstWithUserID(), else the local or the remote user. */
  userID: UserID | null;
  /** The kind of the report: of this browser, or of the remote end as this browser received it (`remote-…`). */
  statsType: 'inbound-rtp' | 'outbound-rtp' | 'remote-inbound-rtp' | 'remote-outbound-rtp';
  /** The stream. */
  ssrc: number;
  /** The CNAME of the stream in the SDP. */
  cname: string | null;
  /** The media stream ID of the stream in the SDP. */
  msid: string | null;
  /** Sound or picture. */
  mediaType: 'audio' | 'video';
  /** The label of associateMstWithUserID(). */
  usageLabel: string | null;
  /** The element, or its id, of associateMstWithUserID(). */
  associatedVideoTag: unknown;
  /** Of the interval, kbit/s. */
  bitrate: number | null;
  /** Of the interval, packets a second. */
  packetRate: number | null;
  /** Share of the interval's packets that were lost, 0 to 1. */
  fractionLoss: number | null;
  /** The same, 0 to 100. */
  packetLossPercentage: number | null;
  /** ms. */
  jitter: number | null;
  /** Of the whole call, ms. */
  averageJitter: number | null;
  /** The round trip, ms. */
  rtt: number | null;
  /** Of the whole call, ms. */
  averageRTT: number | null;
  /** A hint for the user, coarser than the collector's score; null when there is nothing to score. */
  quality: 'excellent' | 'fair' | 'bad' | null;
  /** Of what is sent, 0 to 1. */
  audioInputLevel: number | null;
  /** Of what is received, 0 to 1. */
  audioOutputLevel: number | null;
}

/** The short form of a stream's measurements, keyed by SSRC. */
export interface StreamStats {
  /** The direction. */
  reportType: 'inbound-rtp' | 'outbound-rtp';
  /** The round trip, ms; of outbound streams. */
  rtt?: number | null;
  /** Share of the interval's packets that were lost, 0 to 1; of inbound streams. */
  fractionLoss?: number | null;
  /** Of the interval, kbit/s. */
  bitrate: number | null;
  /** A hint for the user. */
  quality: 'excellent' | 'fair' | 'bad' | null;
}

/** The measurements of one PeerConnection. */
export interface FabricStats {
  /** `online` while the page is connected to the collector. */
  connectionState: 'online' | 'offline';
  /** `established` ↔ `disrupted` once it is set up; `terminated` in exactly one last call. */
  fabricState: 'initialising' | 'established' | 'disrupted' | 'terminated';
  /** The page of the conference on the dashboard; null before the collector has sent it. */
  conferenceURL: string | null;
  /** As given to addNewFabric(). */
  conferenceID: string;
  /** One element for each report; empty while no media are sent or received. */
  mediaStreamTracks: MediaStreamTrackStats[];
  /** The short form, by SSRC. */
  streams: { [ssrc: string]: StreamStats };
}

/** The operations of an instance. None of them throws; each returns at once. */
export interface Operations {
  /**
   * Logs the user in. Again with the same AppID and user it logs in anew and keeps the calls;
   * with another one it ends them.
   *
   * @param appID as registered at the collector; at most 256 bytes. A whole number is its digits
   * @param secret the AppSecret (it needs https or localhost), or a function that makes JWTs
   * @param localUserID the user of this page
   * @param csInitCallback receives the result, and later outages
   * @param csStatsCallback receives the measurements of each PeerConnection
   * @param configParams options
   * @example
   * monitor.initialize('app', 'secret', 'alice', (csError, csErrMsg) => console.log(csError, csErrMsg));
   */
  initialize(
    appID: string | number,
    secret: string | TokenGenerator,
    localUserID: GivenUserID,
    csInitCallback?: InitCallback | null,
    csStatsCallback?: StatsCallback | null,
    configParams?: ConfigParams | null,
  ): Result;
  /**
   * Begins to monitor a PeerConnection. Call it right after you create that: set-up delays count
   * from here. Again for the same conference it changes nothing.
   *
   * @param pc the PeerConnection, or a substitute that has getStats
   * @param remoteUserID the user at the remote end
   * @param fabricUsage the media that it carries
   * @param conferenceID the same for everybody in the call; at most 256 bytes
   * @param fabricAttributes options, or the callback
   * @param pcCallback receives whether the collector has it
   * @example
   * monitor.addNewFabric(pc, 'bob', monitor.fabricUsage.multiplex, 'standup');
   */
  addNewFabric(
    pc: PeerConnectionLike,
    remoteUserID: GivenUserID,
    fabricUsage: FabricUsage,
    conferenceID: ID,
    fabricAttributes?: FabricAttributes | PcCallback | null,
    pcCallback?: PcCallback | null,
  ): Result;
  /**
   * Reports the step of the negotiation that failed, or a log of the application.
   *
   * @param pc the PeerConnection; one that is no fabric of the conference, or null, means the conference
   * @param conferenceID at most 256 bytes; it need not have a fabric
   * @param wrtcFuncName the step; `applicationLog` is a log, not a failure
   * @param domError an error, an object or text, whose name, message, code, constraint, stack and plain members
   *   are kept; of a log at most 20,480 bytes, longer ones are cut
   * @param localSDP text or a description, at most 128 KiB; longer ones are cut
   * @param remoteSDP text or a description, at most 128 KiB; longer ones are cut
   * @example
   * pc.createOffer().catch((error) =>
   *   monitor.reportError(pc, 'standup', monitor.webRTCFunctions.createOffer, error));
   */
  reportError(
    pc: PeerConnectionLike | null | undefined,
    conferenceID: ID,
    wrtcFuncName: WebRTCFunction,
    domError?: unknown,
    localSDP?: unknown,
    remoteSDP?: unknown,
  ): Result;
  /**
   * Names the owner of a stream, and the element that shows it. Without it, a sent stream belongs to
   * the local user, a received one to the remote user.
   *
   * @param pc the PeerConnection
   * @param userID the owner of the stream
   * @param conferenceID of a conference with a fabric
   * @param ssrc a number or its decimal text; or a track, a sender or a receiver, whose streams all are meant, also
   *   those to come. It may be given before the first packet
   * @param usageLabel at most 20 bytes, longer ones are cut; may be empty
   * @param associatedVideoTag the video element or its id
   */
  associateMstWithUserID(
    pc: PeerConnectionLike,
    userID: GivenUserID,
    conferenceID: ID,
    ssrc: StreamSource | string,
    usageLabel: string,
    associatedVideoTag?: unknown,
  ): Result;
  /**
   * Puts an event of the user on the time-line. `fabricTerminated` ends the monitoring: send it
   * before close().
   *
   * @param pc the PeerConnection; null means the only fabric of the conference, and the conference
   *   for `dominantSpeaker` and `activeDeviceList`
   * @param fabricEvent the event
   * @param conferenceID of a conference with a fabric
   * @param eventData an object, at most 4096 bytes of JSON; the devices of `activeDeviceList`. With `ssrc`, as
   *   in associateMstWithUserID(), a mute or pause is about those streams alone
   * @example
   * monitor.sendFabricEvent(pc, monitor.fabricEvent.audioMute, 'standup');
   */
  sendFabricEvent(
    pc: PeerConnectionLike | null | undefined,
    fabricEvent: FabricEvent,
    conferenceID: ID,
    eventData?: unknown,
  ): Result;
  /**
   * Gives a user another ID. It stays one participant, found by either. A remote change is of
   * the fabric, a local one of the participant in that conference.
   *
   * @param pc the PeerConnection
   * @param conferenceID of a conference with a fabric
   * @param newUserID the ID from now on
   * @param userIDType the user whose ID changes
   */
  reportUserIDChange(pc: PeerConnectionLike, conferenceID: ID, newUserID: GivenUserID, userIDType: UserIDType): Result;
  /**
   * Sends the user's opinion of the call, which may have ended.
   *
   * @param conferenceID at most 256 bytes
   * @param feedback ratings and a comment
   * @param pcCallback receives whether the collector has it
   * @example
   * monitor.sendUserFeedback('standup', { userID: 'alice', overall: 4, comment: 'some echo' });
   */
  sendUserFeedback(conferenceID: ID, feedback: Feedback, pcCallback?: PcCallback | null): Result;
  /**
   * Registers one more callback for the measurements of each PeerConnection. The same function
   * again changes nothing, here and for the other events.
   *
   * @param eventName `stats`
   * @param csEventCallback receives them
   */
  on(eventName: 'stats', csEventCallback: StatsCallback): Result;
  /**
   * Registers one more callback for failures.
   *
   * @param eventName `error`
   * @param csEventCallback receives all that initialize()'s callback receives, except `success`
   */
  on(eventName: 'error', csEventCallback: InitCallback): Result;
  /**
   * Registers one more callback for results of pre-call tests: one for each test. A callback
   * that is registered later receives the last results once, here and for the events below.
   *
   * @param eventName `preCallTestResults`
   * @param csEventCallback receives them
   */
  on(eventName: 'preCallTestResults', csEventCallback: PreCallTestResultsCallback): Result;
  /**
   * Registers one more callback for a configuration: once a session.
   *
   * @param eventName the configuration
   * @param csEventCallback receives it
   */
  on(eventName: 'defaultConfig' | 'recommendedConfig', csEventCallback: ConfigCallback): Result;
  /**
   * Registers one more callback for the ranking of TURN servers: after each round of startPrecallTests().
   *
   * @param eventName `connectionRecommendation`
   * @param csEventCallback receives it
   */
  on(eventName: 'connectionRecommendation', csEventCallback: ConnectionRecommendationCallback): Result;
  /**
   * Registers a function that the library calls for Wi-Fi statistics at each interval of a call.
   *
   * @param getWifiStats promises JSON text with the numbers signal, rssi and timestamp, and perhaps
   *   interface, noise and addresses; without an answer within 5 s the sample is missing
   */
  attachWifiStatsHandler(getWifiStats: () => Promise<string>): Result;
  /**
   * Describes a call of a contact centre.
   *
   * @param pc the PeerConnection; null means the conference
   * @param conferenceID at most 256 bytes
   * @param callAttributes type and role
   */
  sendCallDetails(pc: PeerConnectionLike | null | undefined, conferenceID: ID, callAttributes: CallAttributes): Result;
  /**
   * Puts events of the application's own on the time-line.
   *
   * @param pc the PeerConnection; null means the conference
   * @param conferenceID at most 256 bytes
   * @param events objects of at most 4096 bytes of JSON, or names; a list of at most 1000, or one
   */
  sendCustomEvent(
    pc: PeerConnectionLike | null | undefined,
    conferenceID: ID,
    events: object | string | readonly (object | string)[],
  ): Result;
  /**
   * Adds numbers of the application's own.
   *
   * @param pc the PeerConnection; null means the conference
   * @param conferenceID at most 256 bytes
   * @param stats a list of at most 1000, or one
   */
  sendCustomStats(
    pc: PeerConnectionLike | null | undefined,
    conferenceID: ID,
    stats: CustomStat | readonly CustomStat[],
  ): Result;
  /**
   * Tests the network path to TURN servers repeatedly: the results are those of the events
   * preCallTestResults and connectionRecommendation.
   *
   * @param iceServers the servers; at most 32 are tested
   * @param interval seconds between two rounds; 60 if it is missing, at least 30
   */
  startPrecallTests(iceServers: readonly TurnServer[], interval?: number): Result;
  /** Ends what startPrecallTests() began; a success also where nothing runs. */
  stopPrecallTests(): Result;
  /**
   * Tests once, against the servers of the collector. The results are those of the event preCallTestResults.
   *
   * @param callback receives the results of this test, once
   */
  makePrecallTest(callback?: PreCallTestResultsCallback | null): Result;
  /** Of the former library. A failure: reportUserIDChange() names a remote user. */
  setIdentifiers(identifiers?: unknown, pc?: unknown): Result;
  /** Of the former library. A failure: the proxy is that of the browser. */
  setProxyConfig(proxy?: unknown): Result;
  /** Of the former library: ends what attachWifiStatsHandler() began. */
  resetWifiStatsHandler(): Result;
  /** Of the former library. A failure: the event preCallTestResults has the results. */
  getSctResults(): Result;
  /**
   * Promises ICE servers with credentials for calls; an empty list where the collector has none. Rejected
   * if the login is refused or the collector does not answer. It works without initialize().
   *
   * @param appID as registered at the collector
   * @param secret the AppSecret, or a function that makes JWTs
   */
  getTurnCredentials(appID: string, secret: string | TokenGenerator): Promise<RTCIceServer[]>;
}


type Names<K extends string> = { readonly [Name in K]: Name };

/** An instance: the operations, the enumerations and their aliases. */
export interface Qos extends Operations {
  /** The semantic version of the library. */
  readonly version: string;
  /** The media that a PeerConnection carries; `multiplex` for sound and picture. */
  readonly fabricUsage: Names<FabricUsage>;
  /** The events of a call. fabricSetup and fabricSetupFailed are emitted by the library only. */
  readonly fabricEvent: Names<FabricEvent | 'fabricSetup' | 'fabricSetupFailed'>;
  /** The values that reportError() accepts. applicationLog and applicationError are logs. */
  readonly webRTCFunctions: Names<WebRTCFunction>;
  /** The user whose ID changed. */
  readonly userIDType: Names<UserIDType>;
  /** The kind of the remote end. */
  readonly endpointType: Names<EndpointType>;
  /** The direction of media. */
  readonly transmissionDirection: Names<TransmissionDirection>;
  /** The outcome of an operation. */
  readonly qosAPIReturnStatus: Names<'success' | 'failure'>;
  /** The values that csInitCallback receives; the last five are the former library's, and never reported. */
  readonly csError: Names<CsError | 'authOngoing'> & {
    readonly ok: 'OK';
    readonly invalidWebRTCFunctionName: 'Invalid WebRTC function name';
    readonly invalidEndPointType: 'Invalid EndPoint Type';
    readonly invalidTransmissionDirection: 'Invalid fabric transmission direction';
  };
  /** The scores of a feedback: numbers. */
  readonly qualityRating: { readonly excellent: 5; readonly good: 4; readonly fair: 3; readonly poor: 2; readonly bad: 1 };
  /** The direction of a contact centre's call. */
  readonly callType: Names<CallAttributes['callType']>;
  /** The role of the local user in it. */
  readonly roles: Names<CallAttributes['role']>;
  /** The older name of webRTCFunctions. */
  readonly wrtcFuncNames: Names<WebRTCFunction>;
  /** The older name of qosAPIReturnStatus. */
  readonly callStatsAPIReturnStatus: Names<'success' | 'failure'>;
}

/** The export: makes instances, with or without new, and is one itself. */
export interface QosConstructor extends Qos {
  new (...ignored: unknown[]): Qos;
  (...ignored: unknown[]): Qos;
}

declare const qos: QosConstructor;
export default qos;

export declare const initialize: Qos['initialize'];
export declare const addNewFabric: Qos['addNewFabric'];
export declare const reportError: Qos['reportError'];
export declare const associateMstWithUserID: Qos['associateMstWithUserID'];
export declare const sendFabricEvent: Qos['sendFabricEvent'];
export declare const reportUserIDChange: Qos['reportUserIDChange'];
export declare const sendUserFeedback: Qos['sendUserFeedback'];
export declare const on: Qos['on'];
export declare const attachWifiStatsHandler: Qos['attachWifiStatsHandler'];
export declare const sendCallDetails: Qos['sendCallDetails'];
export declare const sendCustomEvent: Qos['sendCustomEvent'];
export declare const sendCustomStats: Qos['sendCustomStats'];
export declare const startPrecallTests: Qos['startPrecallTests'];
export declare const stopPrecallTests: Qos['stopPrecallTests'];
export declare const makePrecallTest: Qos['makePrecallTest'];
export declare const getTurnCredentials: Qos['getTurnCredentials'];
export declare const setIdentifiers: Qos['setIdentifiers'];
export declare const setProxyConfig: Qos['setProxyConfig'];
export declare const resetWifiStatsHandler: Qos['resetWifiStatsHandler'];
export declare const getSctResults: Qos['getSctResults'];
export declare const version: Qos['version'];
export declare const fabricUsage: Qos['fabricUsage'];
export declare const fabricEvent: Qos['fabricEvent'];
export declare const webRTCFunctions: Qos['webRTCFunctions'];
export declare const userIDType: Qos['userIDType'];
export declare const endpointType: Qos['endpointType'];
export declare const transmissionDirection: Qos['transmissionDirection'];
export declare const qosAPIReturnStatus: Qos['qosAPIReturnStatus'];
export declare const csError: Qos['csError'];
export declare const qualityRating: Qos['qualityRating'];
export declare const callType: Qos['callType'];
export declare const roles: Qos['roles'];
export declare const wrtcFuncNames: Qos['wrtcFuncNames'];
export declare const callStatsAPIReturnStatus: Qos['callStatsAPIReturnStatus'];
