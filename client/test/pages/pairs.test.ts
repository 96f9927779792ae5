// The candidate pairs of a connection over time, on the conference page (spec: DASH-02).

import { expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { pairsOf } = await pageModule('pairs.js');

const wifi = {
  localCandidateType: 'srflx',
  remoteCandidateType: 'host',
  networkType: 'wifi',
  localAddress: '192.0.2.0',
  relayProtocol: null,
};
const relay = {
  localCandidateType: 'relay',
  remoteCandidateType: 'host',
  networkType: 'cellular',
  relayProtocol: 'tls',
};
const event = (at: number, name: string, data: unknown, fabric = 1) => ({
  at,
  session: 's',
  fabric,
  kind: 'event',
  name,
  data,
});
const stream = {
  statsType: 'candidate-pair',
  t: [5, 10, 20, 30, 40],
  rttMs: [99, 10, 20, null, 60],
  sentKbps: [0, 1, 2, 3, 4],
};
const fabric = { session: 's', fabric: 1, streams: [{ statsType: 'inbound-rtp', t: [], rttMs: [] }, stream] };

it('follows the events of the connection, with the means of each time', () => {
  const timeline = [
    event(5, 'fabricSetup', wifi),
    event(6, 'selectedCandidatePairChange', { ...wifi }),
    event(15, 'selectedCandidatePairChange', relay, 2),
    event(20, 'selectedCandidatePairChange', relay),
    event(25, 'selectedCandidatePairChange', {}),
    event(26, 'iceRestart', relay),
    event(27, 'selectedCandidatePairChange', 'not an object'),
  ];
  expect(pairsOf(fabric, timeline, 40)).toEqual([
    { ...wifi, relayProtocol: '', from: 5, to: 20, rttMs: 15, sentKbps: 1.5, receivedKbps: null },
    { ...relay, localAddress: '', from: 20, to: 40, rttMs: 60, sentKbps: 3.5, receivedKbps: null },
  ]);
});

it('needs neither measurements nor texts', () => {
  const odd = { localCandidateType: 'host', remoteCandidateType: { a: 1 }, networkType: 7 };
  expect(pairsOf({ ...fabric, streams: [] }, [event(50, 'fabricSetup', odd)], 40)).toEqual([
    {
      localCandidateType: 'host',
      remoteCandidateType: '',
      relayProtocol: '',
      networkType: '',
      localAddress: '',
      from: 50,
      to: 50,
      rttMs: null,
      sentKbps: null,
      receivedKbps: null,
    },
  ]);
  expect(pairsOf(fabric, [], 40)).toEqual([]);
});
