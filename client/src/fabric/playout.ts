// Whether the page plays the audio that it receives.

import type { StreamInterval } from '../stats/monitor.ts';
import { emit } from './emit.ts';
import type { Fabric, Source } from './state.ts';

/** Whether an element of the document has the track of a stream, and is paused although it is not muted. */
const isRefused = ({ rtpEnd }: Source) =>
  [...document.querySelectorAll<HTMLMediaElement>('audio,video')].some(
    ({ paused, muted, srcObject }) =>
      paused && !muted && (srcObject as MediaStream | null)?.getTracks?.().includes(rtpEnd?.track as MediaStreamTrack),
  );

/** Records whether a visible page plays a stream, by the samples that it took in an interval, if that changed. */
export function updatePlayout(f: Fabric, { stream, measures: { packets, samples } }: StreamInterval): void {
  const source = f.sources.get(stream.key);
  if (!source) return;
  let { playout } = source;
  if (samples) playout = 'playing';
  else if (packets && samples === 0 && globalThis.document?.visibilityState === 'visible')
    playout = isRefused(source) ? 'refused' : 'none';
  if (source.playout !== playout) emit(f, 'playoutChange', { ssrc: source.ssrc, playout });
  source.playout = playout;
}
