// Compiled, never run: misuses that editors ought to underline while they are typed.

import type { Qos } from '@qosrtc/client';

declare const pc: RTCPeerConnection;

export function misuses(monitor: Qos): void {
  // @ts-expect-error an unknown usage
  monitor.addNewFabric(pc, 'bob', 'smell', 'c');
  // @ts-expect-error an unknown function
  monitor.reportError(pc, 'c', 'replaceTrack');
  // @ts-expect-error an unknown event
  monitor.sendFabricEvent(pc, 'mute', 'c');
  // @ts-expect-error what the library makes itself
  monitor.sendFabricEvent(pc, 'fabricSetup', 'c');
  // @ts-expect-error an unknown kind
  monitor.reportUserIDChange(pc, 'c', 'bob2', 'both');
  // @ts-expect-error an unknown event
  monitor.on('statistics', () => undefined);
  // @ts-expect-error the callback of another event
  monitor.on('error', (stats: { streams: object }) => void stats);
  // @ts-expect-error an unknown type of call
  monitor.sendCallDetails(pc, 'c', { callType: 'sideways', role: 'agent' });
  // @ts-expect-error an unknown identifier
  monitor.initialize('app', 'secret', 'alice', null, null, { additionalIDs: { shoe: '42' } });
  // @ts-expect-error a value that is text
  monitor.sendCustomStats(pc, 'c', [{ name: 'cpu', value: 'high' }]);
}
