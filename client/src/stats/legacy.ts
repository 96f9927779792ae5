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
    const values: Record<string, string> = Object.fromEntries(report.names().map((name) => [name, report.stat(name)]));
    if (type === 'ssrc') return stream(id, values, numbers(values));
    if (type !== 'googCandidatePair' || values.googActiveConnection !== 'true') return [];
    const pair = numbers(values);
    return [{ ...pair, id, type: 'candidate-pair', selected: true, currentRoundTripTime: inSeconds(pair.googRtt) }];
  });
}

type Numbers = Record<string, number | undefined>;

/** The values as numbers: many have the standard's name already. A text that is none is NaN. */
const numbers = (values: Record<string, string>): Numbers =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [name, text ? Number(text) : undefined]));

const inSeconds = (ms: unknown) => known(ms) / 1000;
const fullLevel = 32_767;

function stream(id: string, values: Record<string, string>, v: Numbers): Report[] {
  const inbound = values.packetsReceived !== undefined;
  const kind = values.mediaType ?? ((values.audioInputLevel ?? values.audioOutputLevel) ? 'audio' : 'video');
  const codecId = `${id} codec`;
  const rtp = {
    ...v,
    id,
    kind,
    codecId,
    type: inbound ? 'inbound-rtp' : 'outbound-rtp',
    trackIdentifier: values.googTrackId,
    jitter: inSeconds(v.googJitterReceived),
    audioLevel: known(inbound ? v.audioOutputLevel : v.audioInputLevel) / fullLevel,
    frameWidth: v.googFrameWidthReceived ?? v.googFrameWidthSent,
    frameHeight: v.googFrameHeightReceived ?? v.googFrameHeightSent,
  };
  const remote = { ...rtp, id: `${id} remote`, type: 'remote-inbound-rtp', roundTripTime: inSeconds(v.googRtt) };
  const own = [{ id: codecId, type: 'codec', mimeType: `${kind}/${values.googCodecName}` }, rtp];
  return inbound ? own : [...own, remote];
}
