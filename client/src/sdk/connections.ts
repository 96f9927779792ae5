// The connections of an SDK: each is handed over once, and ended when the SDK no longer has it.

import type { TransmissionDirection } from '../types.ts';
import type { AttachOptions, ConferenceID, Monitor } from './attachment.ts';

/** A PeerConnection and the direction of its media. */
export type Connection = [pc: RTCPeerConnection, direction: TransmissionDirection];

/** What was reported about one stream, by its SSRC; about the microphone and the camera, by the label. */
export interface Reported {
  /** The entry that has the SSRC now. */
  entry?: object;
  /** The owner and the label as text. */
  owner?: string;
  /** The element that shows it. */
  element?: unknown;
  /** The reason of its pause; undefined while it is not paused. */
  paused?: string | undefined;
}

/** By connection that has no end yet: what was reported about its streams. */
export type Live = Map<RTCPeerConnection, Map<number | string, Reported>>;

/**
 * Returns a function that hands over new connections and ends missing ones; it returns the first refusal of the
 * monitor. negotiated receives the event of each step of a negotiation.
 */
export function createConnections(
  monitor: Monitor,
  sdk: string,
  conferenceID: ConferenceID,
  { callback }: AttachOptions,
  live: Live,
  negotiated: () => void,
) {
  const ended = new WeakSet<RTCPeerConnection>();
  let refusal = '';
  return (current: Connection[]): string => {
    for (const pc of live.keys())
      if (!current.some(([other]) => other === pc)) {
        live.delete(pc);
        ended.add(pc);
        pc.removeEventListener(negotiation, negotiated);
        monitor.sendFabricEvent(pc, 'fabricTerminated', conferenceID);
      }
    for (const [pc, fabricTransmissionDirection] of current)
      if (!live.has(pc) && !ended.has(pc)) {
        live.set(pc, new Map());
        pc.addEventListener(negotiation, negotiated);
        const attributes = { remoteEndpointType: 'server', fabricTransmissionDirection } as const;
        const { status, msg } = monitor.addNewFabric(pc, sdk, 'multiplex', conferenceID, attributes, callback);
        if (status === 'failure') refusal ||= msg;
      }
    return refusal;
  };
}

/** The event of a PeerConnection whose negotiation continues. */
export const negotiation = 'signalingstatechange';
