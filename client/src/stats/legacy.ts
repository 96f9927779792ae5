// The goog* reports of a callback-style getStats (collectLegacyStats, requirement
// STAT-05), brought into the standard's shape. No current browser has them; wrappers do.

import type { Report } from './normalise.ts';

interface LegacyReport {
  id: string;
  type: string;
  names(): string[];
  stat(name: string): string;
}

/** Translates the response of a callback-style getStats. */
export function fromLegacy(response: unknown): Report[] {
  const reports = (response as { result(): LegacyReport[] }).result();
  return reports.flatMap((report) => {
    const values: Record<string, string> = Object.fromEntries(report.names().map((name) => [name, report.stat(name)]));
    if (report.type === 'ssrc') return stream(report.id, values);
    if (report.type === 'googCandidatePair' && values.googActiveConnection === 'true') return [pair(report.id, values)];
    return [];
  });
}

/** A number in a text, of that unit; undefined where there is none. */
const number = (value: string | undefined, unit = 1) => (value ? Number(value) / unit : undefined);
const milli = 1000;
const fullLevel = 32_767;

function stream(id: string, v: Record<string, string>): Report[] {
  const inbound = v.packetsReceived !== undefined;
  const kind = v.mediaType ?? ((v.audioInputLevel ?? v.audioOutputLevel) ? 'audio' : 'video');
  const ssrc = number(v.ssrc);
  const lossAndJitter = { packetsLost: number(v.packetsLost), jitter: number(v.googJitterReceived, milli) };
  const codec = { id: `${id} codec`, type: 'codec', mimeType: `${kind}/${v.googCodecName}` };
  const rtp = {
    id,
    kind,
    ssrc,
    codecId: codec.id,
    trackIdentifier: v.googTrackId,
    type: inbound ? 'inbound-rtp' : 'outbound-rtp',
    bytesReceived: number(v.bytesReceived),
    bytesSent: number(v.bytesSent),
    packetsReceived: number(v.packetsReceived),
    packetsSent: number(v.packetsSent),
    audioLevel: number(inbound ? v.audioOutputLevel : v.audioInputLevel, fullLevel),
    framesDecoded: number(v.framesDecoded),
    framesEncoded: number(v.framesEncoded),
    frameWidth: number(v.googFrameWidthReceived ?? v.googFrameWidthSent),
    frameHeight: number(v.googFrameHeightReceived ?? v.googFrameHeightSent),
  };
  if (inbound) return [codec, { ...rtp, ...lossAndJitter }];
  const roundTripTime = number(v.googRtt, milli);
  return [codec, rtp, { id: `${id} remote`, type: 'remote-inbound-rtp', ssrc, roundTripTime, ...lossAndJitter }];
}

function pair(id: string, v: Record<string, string>): Report {
  return {
    id,
    type: 'candidate-pair',
    selected: true,
    bytesSent: number(v.bytesSent),
    bytesReceived: number(v.bytesReceived),
    currentRoundTripTime: number(v.googRtt, milli),
  };
}
