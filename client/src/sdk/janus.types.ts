// The types of @qosrtc/client/janus: dist/qos-janus.d.mts has this file and attachment.ts.

import type { ID } from '../types.ts';
import type { Attachment, AttachOptions, ConferenceID, Monitor } from './attachment.ts';

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
