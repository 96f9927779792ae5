// The connections of an SDK: each is handed over once, and ended when the SDK no longer has it.

import type { TransmissionDirection } from '../types.ts';
import type { AttachOptions, ConferenceID, Monitor } from './attachment.ts';

/** A PeerConnection and the direction of its media. */
export type Connection = [pc: RTCPeerConnection, direction: TransmissionDirection];

/** By connection that has no end yet: what was reported of its microphone, camera and screen, by label. */
export type Live = Map<RTCPeerConnection, Map<string, string>>;

/** Returns a function that hands over new connections and ends missing ones; it returns the first refusal of the monitor. */
export function createConnections(
  monitor: Monitor,
  sdk: string,
  conferenceID: ConferenceID,
  { callback }: AttachOptions,
  live: Live,
) {
  let refusal = '';
  return (current: Connection[]): string => {
    for (const pc of live.keys())
      if (!current.some(([other]) => other === pc)) {
        live.delete(pc);
        monitor.sendFabricEvent(pc, 'fabricTerminated', conferenceID);
      }
    for (const [pc, fabricTransmissionDirection] of current)
      if (!live.has(pc)) {
        live.set(pc, new Map());
        const attributes = { remoteEndpointType: 'server', fabricTransmissionDirection } as const;
        const { status, msg } = monitor.addNewFabric(pc, sdk, 'multiplex', conferenceID, attributes, callback);
        if (status === 'failure') refusal ||= msg;
      }
    return refusal;
  };
}
