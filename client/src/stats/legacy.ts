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

const number = (value: string | undefined) => (value === undefined || value === '' ? undefined : Number(value));
const seconds = (value: string | undefined) => (value === undefined ? undefined : Number(value) / 1000);
const level = (value: string | undefined) => (value === undefined ? undefined : Number(value) / 32767);

function stream(id: string, v: Record<string, string>): Report[] {
  const inbound = v.packetsReceived !== undefined;
  const kind = v.mediaType ?? ((v.audioInputLevel ?? v.audioOutputLevel) ? 'audio' : 'video');
  const ssrc = number(v.ssrc);
  const codec = { id: `${id} codec`, type: 'codec', mimeType: `${kind}/${v.googCodecName}` };
  const common = { id, kind, ssrc, codecId: codec.id, trackIdentifier: v.googTrackId };
  if (inbound) {
    const rtp = {
      ...common,
      type: 'inbound-rtp',
      bytesReceived: number(v.bytesReceived),
      packetsReceived: number(v.packetsReceived),
      packetsLost: number(v.packetsLost),
      jitter: seconds(v.googJitterReceived),
      audioLevel: level(v.audioOutputLevel),
      framesDecoded: number(v.framesDecoded),
      frameWidth: number(v.googFrameWidthReceived),
      frameHeight: number(v.googFrameHeightReceived),
    };
    return [codec, rtp];
  }
  const source = { id: `${id} source`, type: 'media-source', audioLevel: level(v.audioInputLevel) };
  const rtp = {
    ...common,
    type: 'outbound-rtp',
    mediaSourceId: source.id,
    bytesSent: number(v.bytesSent),
    packetsSent: number(v.packetsSent),
    framesEncoded: number(v.framesEncoded),
    frameWidth: number(v.googFrameWidthSent),
    frameHeight: number(v.googFrameHeightSent),
  };
  const remote = {
    id: `${id} remote`,
    type: 'remote-inbound-rtp',
    ssrc,
    packetsLost: number(v.packetsLost),
    roundTripTime: seconds(v.googRtt),
    jitter: seconds(v.googJitterReceived),
  };
  return [codec, source, rtp, remote];
}

function pair(id: string, v: Record<string, string>): Report {
  return {
    id,
    type: 'candidate-pair',
    selected: true,
    bytesSent: number(v.bytesSent),
    bytesReceived: number(v.bytesReceived),
    currentRoundTripTime: seconds(v.googRtt),
  };
}
