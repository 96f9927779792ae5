/*! qos 0.1.0 | Apache-2.0 */
export = qos;
export as namespace qos;
declare const qos: qos.QosConstructor;
declare namespace qos {
/** The outcome of an operation; `message` is the same text as `msg`. */
export interface Result {
  status: 'success' | 'failure';
  msg: string;
  message: string;
}

/** A user: a string, or a real name with an alias that engineers see instead. */
export type UserID = string | { userName?: string; aliasName: string };

/** What went wrong, or "success". */
export type CsError =
  | 'success'
  | 'httpError'
  | 'authError'
  | 'wsChannelFailure'
  | 'csProtoError'
  | 'appConnectivityError'
  | 'tokenGenerationError';

/** Receives the result of initialize() and of sending. */
export type InitCallback = (csError: CsError, csErrMsg: string) => void;

/** Receives the outcome for one PeerConnection or one feedback. */
export type PcCallback = (err: CsError | 'failure', msg: string) => void;

/** Receives the measurements of one PeerConnection. */
export type StatsCallback = (stats: FabricStats) => void;

/** Makes a JWT: callback(error, token). With forcenew it must not come from a cache. */
export type TokenGenerator = (forcenew: boolean, callback: (error: unknown, token?: string) => void) => unknown;

/** Options of initialize(). */
export interface ConfigParams {
  disableBeforeUnloadHandler?: boolean;
  applicationVersion?: string;
  disablePrecalltest?: boolean;
  siteID?: string;
  collectLegacyStats?: boolean;
  collectIP?: boolean;
  additionalIDs?: { [key: string]: string };
  /** Where the collector is, when the library was not loaded from it. */
  backendUrl?: string;
}

/** Options of addNewFabric(). */
export interface FabricAttributes {
  remoteEndpointType?: 'peer' | 'server';
  fabricTransmissionDirection?: 'sendonly' | 'receiveonly' | 'sendrecv' | 'inactive';
}

/** What a PeerConnection must offer: the real one, a wrapper or a look-alike. */
export interface PeerConnectionLike {
  getStats: unknown;
}

/** Ratings are integers from 1 to 5, or such an integer as a string. */
export interface Feedback {
  userID: UserID;
  overall: number | string;
  audio?: number | string | null;
  video?: number | string | null;
  screen?: number | string | null;
  comment?: string | null;
}

/** One RTP report. Rates are kbps and 1/s, times ms, levels and fractions 0 to 1. */
export interface MediaStreamTrackStats {
  remoteUserID: UserID | null;
  userID: UserID | null;
  statsType: 'inbound-rtp' | 'outbound-rtp' | 'remote-inbound-rtp' | 'remote-outbound-rtp';
  ssrc: number;
  cname: string | null;
  msid: string | null;
  mediaType: 'audio' | 'video';
  usageLabel: string | null;
  associatedVideoTag: unknown;
  bitrate: number | null;
  packetRate: number | null;
  fractionLoss: number | null;
  packetLossPercentage: number | null;
  jitter: number | null;
  averageJitter: number | null;
  rtt: number | null;
  averageRTT: number | null;
  quality: 'excellent' | 'fair' | 'bad' | null;
  audioInputLevel: number | null;
  audioOutputLevel: number | null;
}

/** The short form of a stream's measurements, keyed by SSRC. */
export interface StreamStats {
  reportType: 'inbound-rtp' | 'outbound-rtp';
  rtt?: number | null;
  fractionLoss?: number | null;
  bitrate: number | null;
  quality: 'excellent' | 'fair' | 'bad' | null;
}

/** The measurements of one PeerConnection. */
export interface FabricStats {
  connectionState: 'online' | 'offline';
  fabricState: 'initialising' | 'established' | 'disrupted' | 'terminated';
  conferenceURL: string | null;
  conferenceID: string;
  mediaStreamTracks: MediaStreamTrackStats[];
  streams: { [ssrc: string]: StreamStats };
}

/** The operations of an instance. None of them throws. */
export interface Operations {
  initialize(
    appID: string,
    secret: string | TokenGenerator,
    localUserID: UserID,
    csInitCallback?: InitCallback | null,
    csStatsCallback?: StatsCallback | null,
    configParams?: ConfigParams | null,
  ): Result;
  addNewFabric(
    pc: PeerConnectionLike,
    remoteUserID: UserID,
    fabricUsage: string,
    conferenceID: string,
    fabricAttributes?: FabricAttributes | PcCallback | null,
    pcCallback?: PcCallback | null,
  ): Result;
  reportError(
    pc: PeerConnectionLike | null | undefined,
    conferenceID: string,
    wrtcFuncName: string,
    domError?: unknown,
    localSDP?: unknown,
    remoteSDP?: unknown,
  ): Result;
  associateMstWithUserID(
    pc: PeerConnectionLike,
    userID: UserID,
    conferenceID: string,
    ssrc: number | string,
    usageLabel: string,
    associatedVideoTag?: unknown,
  ): Result;
  sendFabricEvent(
    pc: PeerConnectionLike | null | undefined,
    fabricEvent: string,
    conferenceID: string,
    eventData?: unknown,
  ): Result;
  reportUserIDChange(pc: PeerConnectionLike, conferenceID: string, newUserID: UserID, userIDType: string): Result;
  sendUserFeedback(conferenceID: string, feedback: Feedback, pcCallback?: PcCallback | null): Result;
  on(eventName: string, csEventCallback: (...args: never[]) => void): Result;
  attachWifiStatsHandler(getWifiStats: () => Promise<string>): Result;
  sendCallDetails(pc: PeerConnectionLike | null | undefined, conferenceID: string, callAttributes: object): Result;
  sendCustomEvent(pc: PeerConnectionLike | null | undefined, conferenceID: string, events: unknown): Result;
  sendCustomStats(pc: PeerConnectionLike | null | undefined, conferenceID: string, stats: unknown): Result;
  startPrecallTests(iceServers?: unknown, interval?: number): Result;
  stopPrecallTests(): Result;
  makePrecallTest(): Result;
  getTurnCredentials(appID: string, secret: string | TokenGenerator): Promise<RTCIceServer[]>;
}

type Names<K extends string> = { readonly [Name in K]: Name };

/** An instance: the operations, the enumerations and their aliases. */
export interface Qos extends Operations {
  readonly version: string;
  readonly fabricUsage: Names<'multiplex' | 'audio' | 'video' | 'screen' | 'data' | 'unbundled'>;
  readonly fabricEvent: Names<
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
    | 'fabricSetup'
    | 'fabricSetupFailed'
  >;
  readonly webRTCFunctions: Names<
    | 'getUserMedia'
    | 'createOffer'
    | 'createAnswer'
    | 'setLocalDescription'
    | 'setRemoteDescription'
    | 'addIceCandidate'
    | 'iceConnectionFailure'
    | 'signalingError'
    | 'applicationLog'
    | 'applicationError'
  >;
  readonly userIDType: Names<'local' | 'remote'>;
  readonly endpointType: Names<'peer' | 'server'>;
  readonly transmissionDirection: Names<'sendonly' | 'receiveonly' | 'sendrecv' | 'inactive'>;
  readonly qosAPIReturnStatus: Names<'success' | 'failure'>;
  readonly wrtcFuncNames: Qos['webRTCFunctions'];
  readonly callStatsAPIReturnStatus: Qos['qosAPIReturnStatus'];
}

/** The export: makes instances, with or without new, and is one itself. */
export interface QosConstructor extends Qos {
  new (...ignored: unknown[]): Qos;
  (...ignored: unknown[]): Qos;
}

}
