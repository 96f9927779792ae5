// The library's own quality label (requirement STAT-02). It is a hint for the application,
// cheaper than the collector's score and on the same scale: audio by a reduced E-model
// (ITU-T G.107.2, Opus at about 30 kbit/s), video by freezes, frame rate and, outbound,
// the loss that the receiver reports. Resolution and bit rate are the collector's matter.

import { known, type Measures } from './measures.ts';
import { num } from './normalise.ts';

const equipment = 18; // Ie
const robustness = 10; // Bpl
const packetAndCodecMs = 26.5;

/** excellent holds the collector's excellent and good, fair its fair and poor. */
export type Label = 'excellent' | 'fair' | 'bad' | null;

/** Lower bounds of excellent, good, fair, poor when the collector names none. */
export const defaultBounds: readonly number[] = [4.2, 3.8, 3.2, 2.6];

/** The label of an interval, null when there is nothing to judge. */
export function label(mediaType: string, m: Measures, ms: number, bounds: readonly number[]): Label {
  const mos = mediaType === 'audio' ? audioMos(m) : videoMos(m, ms);
  if (mos === null) return null;
  if (mos >= (bounds[1] ?? 3.8)) return 'excellent';
  return mos >= (bounds[3] ?? 2.6) ? 'fair' : 'bad';
}

/** The interval's loss, 0 to 1, from its own or the receiver's counts. */
export function lossOf(m: Measures): number | null {
  const remote = num(m.remoteLossFraction);
  if (remote !== null) return remote;
  const lost = known(m.packetsLost);
  const expected = lost + (num(m.packets) ?? 0);
  return expected > 0 ? Math.min(1, Math.max(0, lost / expected)) : null;
}

/** MOS of audio, 1 to 4.5. */
export function audioMos(m: Measures): number | null {
  const loss = lossOf(m);
  // The other end still reports the last loss of a stream that is held or muted.
  if (loss === null || (m.packets === 0 && num(m.remoteLossFraction) !== null)) return null;
  const audible = ((num(m.concealedSamples) ?? 0) - (num(m.silentConcealedSamples) ?? 0)) / (num(m.samples) || 1);
  const lossPercent = 100 * Math.min(1, Math.max(loss, audible));
  const delayMs =
    (num(m.rttMs) ?? 0) / 2 + (num(m.jitterBufferDelayMs) ?? 0) - (num(m.externalDelayMs) ?? 0) + packetAndCodecMs;
  const impairment = equipment + ((132 - equipment) * lossPercent) / (lossPercent + robustness);
  const r = Math.min(100, Math.max(0, (148 - 1.48 * delayImpairment(delayMs) - impairment) / 1.48));
  return Math.max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6);
}

/** Idd of G.107. */
function delayImpairment(delayMs: number): number {
  if (delayMs <= 100) return 0;
  const x = Math.log2(delayMs / 100);
  return 25 * ((1 + x ** 6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2);
}

/** MOS of video, 1 to 4.4. */
export function videoMos(m: Measures, ms: number): number | null {
  if (!num(m.packets)) return null;
  const fps = num(m.harmonicFps) ?? num(m.fps);
  if (fps === 0) return known(m.packetsLost) > 0 ? 1 : null; // none is lost: the page has no key for them
  const frozen = Math.min(1, (num(m.freezeMs) ?? 0) / ms);
  const freezes = Math.exp(-0.1 * (num(m.freezes60s) ?? 0) - 2 * frozen);
  const motion = fps === null ? 1 : Math.max(0, 1 - 0.3 * Math.max(0, Math.log(24 / fps)));
  const lost = Math.exp(-10 * (num(m.remoteLossFraction) ?? 0));
  return 1 + 3.4 * freezes * motion * lost;
}
