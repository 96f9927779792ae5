// The column sets of stats frames (protocol 4.2): fixed, so that a set's number means the
// same for the whole session. They hold what at least one browser supplies.

import { cutBytes } from '../validate.ts';
import type { Cell, Measures } from './interval.ts';

/** One column set. */
export interface ColumnSet {
  set: number;
  statsType: string;
  mediaType?: string;
  names: readonly string[];
}

const sets: readonly ColumnSet[] = [
  set(
    1,
    'inbound-rtp',
    'audio',
    'ssrc codec bytes packets packetsLost packetsDiscarded fecPackets jitterMs jitterBufferDelayMs rttMs samples concealedSamples silentConcealedSamples concealmentEvents audioLevel',
  ),
  set(
    2,
    'inbound-rtp',
    'video',
    'ssrc codec bytes packets packetsLost jitterMs jitterBufferDelayMs rttMs frames framesDecoded framesDropped keyFrames width height fps harmonicFps freezes freezeMs freezes60s pauses pauseMs decodeMs qp plis firs nacks retransmittedPackets displayedPixels',
  ),
  set(
    3,
    'outbound-rtp',
    'audio',
    'ssrc codec bytes packets rttMs audioLevel targetBitrateBps nacks retransmittedPackets remotePacketsLost remoteLossFraction remoteJitterMs',
  ),
  set(
    4,
    'outbound-rtp',
    'video',
    'ssrc codec rid bytes packets rttMs frames framesEncoded keyFrames width height fps encodeMs qp plis firs nacks retransmittedPackets retransmittedBytes targetBitrateBps remotePacketsLost remoteLossFraction remoteJitterMs limitation cpuLimitedMs bandwidthLimitedMs displayedPixels',
  ),
  set(5, 'candidate-pair', undefined, 'bytesSent bytesReceived rttMs availableOutgoingBps'),
];

function set(number: number, statsType: string, mediaType: string | undefined, names: string): ColumnSet {
  return { set: number, statsType, ...(mediaType && { mediaType }), names: names.split(' ') };
}

/** The set of candidate pairs. */
export const pairSet = 5;

/** The set of a stream's rows. */
export function streamSet(statsType: string, mediaType: string): number {
  return (statsType === 'inbound-rtp' ? 1 : 3) + (mediaType === 'video' ? 1 : 0);
}

const lines: string[] = [];

/** The announcement of a set; it is asked for with every frame. */
export function columnsLine(number: number): string {
  lines[number] ??= JSON.stringify({ type: 'columns', ...sets[number - 1] });
  return lines[number];
}

/** A row of that set; what is unknown is null. */
export function row(number: number, measures: Measures): Cell[] {
  return [number, ...(sets[number - 1]?.names ?? []).map((name) => bounded(name, measures[name] ?? null))];
}

const longestBytes = 64;

/**
 * The wire refuses a frame for one number outside its measure's range, or a fraction where
 * whole numbers stand: a strange browser must not cost the other rows.
 */
function bounded(name: string, value: Cell): Cell {
  // Three bytes a character at most: most need no counting.
  if (typeof value === 'string') return value.length * 3 > longestBytes ? cutBytes(value, longestBytes) : value;
  if (value === null || !Number.isFinite(value)) return null;
  limits[name] ??= limitsOf(name);
  const [whole, least, most] = limits[name];
  return Math.min(Math.max(whole ? Math.round(value) : value, least), most);
}

const limits: Record<string, readonly [whole: boolean, least: number, most: number]> = {};

function limitsOf(name: string): readonly [boolean, number, number] {
  if (/Ms$/.test(name)) return [false, 0, 3_600_000];
  if (/[fF]ps$/.test(name)) return [false, 0, 1000];
  if (/Level$|Fraction$/.test(name)) return [false, 0, 1];
  if (name === 'qp') return [false, 0, 255];
  const most = /^(width|height)$/.test(name) ? 65_535 : Number.MAX_SAFE_INTEGER;
  return [!/Bps$/.test(name), /Lost$/.test(name) ? -most : 0, most];
}
