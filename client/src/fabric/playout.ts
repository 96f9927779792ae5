// Whether the page plays the audio that it receives.

import type { StreamInterval } from '../stats/monitor.ts';
import { emit } from './emit.ts';
import type { Fabric, Source } from './state.ts';

/** Whether all elements of the document that have the track of a stream are paused, and not muted. */
function isRefused({ rtpEnd }: Source): boolean {
  const elements = [...document.querySelectorAll<HTMLMediaElement>('audio,video')].filter(({ srcObject }) =>
    (srcObject as MediaStream | null)?.getTracks?.().includes(rtpEnd?.track as MediaStreamTrack),
  );
  return elements.length > 0 && elements.every(({ paused, muted }) => paused && !muted);
}

/**
 * Records whether a visible page plays a stream, if that changed. Chromium takes samples for an element that is paused,
 * and for all once one of the page was played.
 */
export function updatePlayout(f: Fabric, { stream, measures: { packets, samples } }: StreamInterval): void {
  const source = f.sources.get(stream.key);
  if (!source || !packets || samples === undefined || globalThis.document?.visibilityState !== 'visible') return;
  let { playout } = source;
  if (isRefused(source)) playout = 'refused';
  else if (samples !== null) playout = samples ? 'playing' : 'none';
  if (source.playout !== playout) emit(f, 'playoutChange', { ssrc: source.ssrc, playout });
  source.playout = playout;
}
