/*! qos 0.1.0 | Apache-2.0 */
import type { ID, Operations, PcCallback, Result } from './qos.mjs';
/** The operations of an instance of the library that an attachment calls. */
export type Monitor = Pick<Operations, 'addNewFabric' | 'associateMstWithUserID' | 'sendFabricEvent' | 'reportError'>;

/** The outcome of an attachment. `failure`: nothing is attached, and `msg` names the fault. */
export interface Attachment extends Result {
  /** Removes all listeners and timers. The fabrics continue; a second call changes nothing. */
  detach(): void;
}

/** Options of each attachment. */
export interface AttachOptions {
  /**
   * Receives the outcome of each connection, as the pcCallback of addNewFabric() does, and `failure` each time the
   * SDK has connected and no connection was found.
   */
  callback?: PcCallback | null;
}

/** A conference: the same value for everybody in the call; at most 256 bytes. */
export type ConferenceID = ID;

/**
 * Why nothing is expected from a received stream:
 * - `muted`: its sender muted it
 * - `hidden`: it is not shown on this page
 * - `unsubscribed`: this page does not subscribe to it
 * - `server`: the server does not forward it
 * - `ended`: it was unpublished, or its sender left
 */
export type PauseReason = 'muted' | 'hidden' | 'unsubscribed' | 'server' | 'ended';

/** An event emitter of livekit-client. */
export interface LiveKitEmitter {
  /** Adds a listener. */
  on(event: never, listener: never): unknown;
  /** Removes a listener. */
  off(event: never, listener: never): unknown;
}

/** The members of a Track that attachLiveKit() reads. */
export interface LiveKitTrack {
  /** The elements that show it. */
  attachedElements: unknown[];
  /** Whether the server forwards it: active, paused or unknown. */
  streamState: string;
  /** The receiver of a remote track. */
  receiver?: RTCRtpReceiver | undefined;
  /** The sender of a local track. */
  sender?: RTCRtpSender | undefined;
}

/** The members of a TrackPublication that attachLiveKit() reads. */
export interface LiveKitPublication extends LiveKitEmitter {
  /** Sound or picture. */
  kind: string;
  /** camera, microphone, screen_share, screen_share_audio or unknown. */
  source: string;
  /** True while its sender mutes it. */
  isMuted: boolean;
  /** True while this page wants its media: it is shown and enabled. */
  isEnabled: boolean;
  /** True while this page subscribes to it. */
  isSubscribed: boolean;
  /** Undefined while this page does not subscribe to it. */
  track?: object | undefined;
}

/** The members of a Participant that attachLiveKit() reads. */
export interface LiveKitParticipant {
  /** The identity in the participant's token. */
  identity: string;
  /** The name in the participant's token. */
  name?: string | undefined;
  /** The metadata of the participant, text of the application. */
  metadata?: string | undefined;
  /** True for the participant of this page. */
  isLocal: boolean;
  /** By the ID of each track. */
  trackPublications: ReadonlyMap<string, LiveKitPublication>;
}

/** The members of a Room of livekit-client 2 that attachLiveKit() reads. */
export interface LiveKitRoom extends LiveKitEmitter {
  /** The state of the connection. */
  state: string;
  /** The participant of this page. */
  localParticipant: LiveKitParticipant;
  /** All others, by identity. */
  remoteParticipants: ReadonlyMap<string, LiveKitParticipant>;
  /** Returns the ID of the device in use. */
  getActiveDevice(kind: MediaDeviceKind): string | undefined;
}

/** Options of attachLiveKit(). */
export interface LiveKitOptions extends AttachOptions {
  /**
   * Returns the user of a participant, as given to initialize() on the participant's page. Default: the
   * identity, also where it throws.
   */
  owner?: (participant: LiveKitParticipant) => ID;
}

/**
 * Reports the calls of a room: connections, owners and kinds of streams, mutes, pauses, screens, the speaker,
 * devices, errors and the end. Call initialize() of the monitor first. The room may be connected already, and
 * may connect again. The same room again changes nothing.
 *
 * @param monitor the instance of the library
 * @param room a Room of livekit-client 2
 * @param conferenceID the same for everybody in the call; at most 256 bytes
 * @param options options
 * @returns `failure` if nothing is attached, also where livekit-client has no connections at the known place
 */
export type AttachLiveKit = (
  monitor: Monitor,
  room: LiveKitRoom,
  conferenceID: ConferenceID,
  options?: LiveKitOptions | null,
) => Attachment;

/**
 * Reports the calls of a room: connections, owners and kinds of streams, mutes, pauses, screens, the speaker,
 * devices, errors and the end. Call initialize() of the monitor first. The room may be connected already, and
 * may connect again. The same room again changes nothing.
 *
 * @param monitor the instance of the library
 * @param room a Room of livekit-client 2
 * @param conferenceID the same for everybody in the call; at most 256 bytes
 * @param options options
 * @returns `failure` if nothing is attached, also where livekit-client has no connections at the known place
 */
export declare const attachLiveKit: AttachLiveKit;
