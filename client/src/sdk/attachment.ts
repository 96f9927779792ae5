// What attachLiveKit() and attachJanus() take and return. dist/qos-livekit.d.mts and dist/qos-janus.d.mts
// begin with this file: it imports types of the library only.

import type { ID, Operations, PcCallback, Result } from '../types.ts';

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
