// The records that a fabric makes of its readings: measurements, and events of its streams and pairs.

import type { Stamp } from '../clock.ts';
import { attempt } from '../result.ts';
import { sdpText, sourceInfo } from '../sdp.ts';
import { send } from '../session/send.ts';
import { type News, type Reading, selectedPair } from '../stats/monitor.ts';
import { type Pair, type Stream, str } from '../stats/normalise.ts';
import { protocolOf } from '../turn-url.ts';
import { texts } from '../wifi.ts';
import { deliver } from './deliver.ts';
import { emit } from './emit.ts';
import { updatePause } from './pauses.ts';
import { updatePlayout } from './playout.ts';
import { transceiverOf } from './senders.ts';
import type { Fabric } from './state.ts';
import { associate, givenTo } from './users.ts';

/** Records a reading at the end of an interval, and hands it to the application. */
export function record(f: Fabric, reading: Reading, stamp: Stamp): void {
  const { fabric } = f.info;
  recordNews(f, reading, stamp);
  for (const { intervalMs, rows, sets } of reading.groups) {
    if (!rows.length && reading.groups.length > 1) continue;
    send(f.owner, { type: 'stats', stamp, fabric, sets, members: { fabric, intervalMs, rows } });
  }
  for (const interval of reading.intervals) updatePlayout(f, interval);
  deliver(f, reading.intervals);
}

/** Records the streams and pairs that are new in a reading. */
export function recordNews(f: Fabric, { added, changedPairs }: News, stamp?: Stamp): void {
  for (const stream of added) recordStream(f, stream, stamp);
  for (const pair of changedPairs) emit(f, 'selectedCandidatePairChange', candidates(f, pair), stamp);
}

function recordStream(f: Fabric, stream: Stream, stamp?: Stamp): void {
  const { key, statsType, mediaType, ssrc, codec, rtp, source } = stream;
  const isSent = statsType === 'outbound-rtp';
  const description = attempt(
    () => sdpText((f.pc as Partial<RTCPeerConnection>)[isSent ? 'localDescription' : 'remoteDescription']),
    '',
  );
  const names = sourceInfo(description, ssrc);
  const transceiver = transceiverOf(f, stream);
  const rtpEnd = transceiver?.[isSent ? 'sender' : 'receiver'];
  const own = { ...names, ssrc, mediaType, isSent, rid: rtp.rid, transceiver, rtpEnd, playout: 'playing' };
  f.sources.set(key, own);
  const trackIdentifier = str(rtp.trackIdentifier) ?? str(source.trackIdentifier);
  const trackState = isSent ? str(rtpEnd?.track?.readyState) : null;
  emit(f, 'streamAdded', { ssrc, statsType, mediaType, codec, ...names, trackIdentifier, trackState }, stamp);
  const { owner } = givenTo(f, own);
  if (owner) associate(f, ssrc, owner);
  updatePause(f, own);
}

/** Records a set-up that waited for its candidates. */
export function recordSetup(f: Fabric): void {
  const setup = f.pendingSetup;
  f.pendingSetup = undefined;
  if (setup) emit(f, 'fabricSetup', { ...setup.durations, ...candidates(f) }, setup.stamp);
}

/**
 * A candidate pair on the time-line, with the addresses of local candidates where collectIP is
 * on: the collector cuts them, and drops mDNS names.
 */
function candidates(f: Fabric, { local, remote, locals }: Partial<Pair> = selectedPair(f.monitor) ?? {}): object {
  const { collectIP } = f.owner.info.config;
  return {
    localCandidateType: str(local?.candidateType),
    networkType: str(local?.networkType),
    remoteCandidateType: str(remote?.candidateType),
    // Safari has the server's URL alone.
    relayProtocol:
      str(local?.relayProtocol) ?? (local?.candidateType === 'relay' ? str(protocolOf(String(local.url))) : null),
    localAddress: str(collectIP && local?.address),
    localAddresses: texts([...new Set(collectIP ? locals?.flatMap((one) => [one.address, one.relatedAddress]) : [])]),
  };
}
