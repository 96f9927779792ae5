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

/** The members of a handle of janus.js that attachJanus() reads. */
export interface JanusHandle {
  /** The state of its connection. */
  webrtcStuff: {
    /** Null before the first negotiation and after a hangup. */
    pc: RTCPeerConnection | null;
  };
  /** True after detach(). */
  detached?: boolean;
}

/** A stream of a publisher of the VideoRoom plugin. */
export interface JanusFeed {
  /** The ID of the publisher. */
  id: ID;
  /** The display name of the publisher; undefined if it has none. */
  display: string | undefined;
  /** The mid of the stream on the connection of this page. */
  mid: string;
  /** Sound or picture. */
  type: string;
}

/** Options of attachJanus(). */
export interface JanusOptions extends AttachOptions {
  /**
   * Returns the user of a publisher, as given to initialize() on the publisher's page. Default: the display
   * name, otherwise the ID; also where it throws.
   */
  owner?: (feed: JanusFeed) => ID;
}

/**
 * Reports the calls of a handle of the VideoRoom plugin: connections, owners and kinds of received streams,
 * pauses, the speaker and the end. Call initialize() of the monitor first, and attachJanus() in the success
 * callback of Janus.attach(), for each handle that publishes or subscribes. The same handle again changes nothing.
 *
 * @param monitor the instance of the library
 * @param handle a handle of janus.js, attached to janus.plugin.videoroom
 * @param conferenceID the same for everybody in the call; at most 256 bytes
 * @param options options
 * @returns `failure` if nothing is attached, also where the handle has no connection at the known place
 */
export type AttachJanus = (
  monitor: Monitor,
  handle: JanusHandle,
  conferenceID: ConferenceID,
  options?: JanusOptions | null,
) => Attachment;

/**
 * Reports the calls of a handle of the VideoRoom plugin: connections, owners and kinds of received streams,
 * pauses, the speaker and the end. Call initialize() of the monitor first, and attachJanus() in the success
 * callback of Janus.attach(), for each handle that publishes or subscribes. The same handle again changes nothing.
 *
 * @param monitor the instance of the library
 * @param handle a handle of janus.js, attached to janus.plugin.videoroom
 * @param conferenceID the same for everybody in the call; at most 256 bytes
 * @param options options
 * @returns `failure` if nothing is attached, also where the handle has no connection at the known place
 */
export declare const attachJanus: AttachJanus;
