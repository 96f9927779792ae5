// The goog* reports of a callback-style getStats (collectLegacyStats, requirement
// STAT-05), brought into the standard's shape. No current browser has them; wrappers do.

import { known } from './measures.ts';
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
    const { id, type } = report;
    const said: Record<string, string> = Object.fromEntries(report.names().map((name) => [name, report.stat(name)]));
    if (type === 'ssrc') return stream(id, said, numbers(said));
    if (type !== 'googCandidatePair' || said.googActiveConnection !== 'true') return [];
    const pair = numbers(said);
    return [{ ...pair, id, type: 'candidate-pair', selected: true, currentRoundTripTime: inSeconds(pair.googRtt) }];
  });
}

type Numbers = Record<string, number | undefined>;

/** The values as numbers: many go by the standard's name already. What is none is NaN. */
const numbers = (said: Record<string, string>): Numbers =>
  Object.fromEntries(Object.entries(said).map(([name, text]) => [name, text ? Number(text) : undefined]));

const inSeconds = (ms: unknown) => known(ms) / 1000;
const fullLevel = 32_767;

function stream(id: string, said: Record<string, string>, v: Numbers): Report[] {
  const inbound = said.packetsReceived !== undefined;
  const kind = said.mediaType ?? ((said.audioInputLevel ?? said.audioOutputLevel) ? 'audio' : 'video');
  const codecId = `${id} codec`;
  const rtp = {
    ...v,
    id,
    kind,
    codecId,
    type: inbound ? 'inbound-rtp' : 'outbound-rtp',
    trackIdentifier: said.googTrackId,
    jitter: inSeconds(v.googJitterReceived),
    audioLevel: known(inbound ? v.audioOutputLevel : v.audioInputLevel) / fullLevel,
    frameWidth: v.googFrameWidthReceived ?? v.googFrameWidthSent,
    frameHeight: v.googFrameHeightReceived ?? v.googFrameHeightSent,
  };
  const remote = { ...rtp, id: `${id} remote`, type: 'remote-inbound-rtp', roundTripTime: inSeconds(v.googRtt) };
  const own = [{ id: codecId, type: 'codec', mimeType: `${kind}/${said.googCodecName}` }, rtp];
  return inbound ? own : [...own, remote];
}
