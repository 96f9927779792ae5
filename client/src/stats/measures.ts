// The measures of stats frames (protocol 4.2 and 7) in one table: which column sets
// they belong to, and how they are read from a browser's reports. Sets are fixed, so that a set's
// number means the same for the whole session; they hold what at least one browser supplies.

import { json } from '../result.ts';
import { cutBytes } from '../validate.ts';
import { num, type Report, str } from './normalise.ts';

/** One value of a row. */
export type Cell = number | string | null;

/** The measures of one stream or pair over one interval. */
export type Measures = Readonly<Record<string, Cell>>;

const longestBytes = 64;

/**
 * Name, sets, how it is read, and the members of a report where they are not of that name: of
 * several the first that there is, for a report has those of its own direction alone.
 *   +  the increase of a counter
 *   /  the increase of the first by that of the next
 *   -  the same, of the first without the last
 *   =  a number as it is now
 *   $  a text
 *   *  an increase that is computed by interval.ts
 * A measure with none of these is computed there, too. A name in Ms is ms, the member s.
 */
const table = `ssrc 1234
codec 1234
rid 4 $
contentType 24 $
bytes 1234 + bytesReceived bytesSent
packets 1234 *
packetsLost 12 *
packetsDiscarded 1 +
fecPackets 1 + fecPacketsReceived
jitterMs 12 = jitter
jitterBufferDelayMs 12 / jitterBufferDelay jitterBufferEmittedCount
externalDelayMs 12 - jitterBufferTargetDelay jitterBufferEmittedCount jitterBufferMinimumDelay
rttMs 12345
samples 1 + totalSamplesReceived
concealedSamples 1 +
silentConcealedSamples 1 +
concealmentEvents 1 +
audioLevel 13
frames 24 + framesReceived framesSent
framesDecoded 2 +
framesEncoded 4 +
framesDropped 2 +
keyFrames 24 + keyFramesDecoded keyFramesEncoded
width 24 = frameWidth
height 24 = frameHeight
fps 24
harmonicFps 2 / totalInterFrameDelay totalSquaredInterFrameDelay
freezes 2 + freezeCount
freezeMs 2 + totalFreezesDuration
freezes60s 2
pauses 2 + pauseCount
pauseMs 2 + totalPausesDuration
decodeMs 2 + totalDecodeTime
encodeMs 4 + totalEncodeTime
qp 24 / qpSum framesDecoded framesEncoded
plis 24 + pliCount
firs 24 + firCount
nacks 234 + nackCount
retransmittedPackets 1234 + retransmittedPacketsReceived retransmittedPacketsSent
retransmittedBytes 1234 + retransmittedBytesReceived retransmittedBytesSent
targetBitrateBps 34
remotePacketsLost 34 *
remoteLossFraction 34
remoteJitterMs 34
limitation 4 $ qualityLimitationReason
cpuLimitedMs 4 *
bandwidthLimitedMs 4 *
displayedPixels 24
bytesSent 5 +
bytesReceived 5 +
availableOutgoingBps 5 = availableOutgoingBitrate
outOfRange 12345`
  .split('\n')
  .map((line) => {
    const [name = '', inSets = '', how = '', first = name, second = '', third = ''] = line.split(' ');
    const factor = /Ms$/.test(name) ? 1000 : 1;
    return { column: name, inSets, how, first, second, third, factor, range: rangeOf(name) };
  });

/** The counters beside the columns: inputs of computed measures, and those of the other end's report. */
const alwaysCounted =
  'packetsReceived packetsSent roundTripTimeMeasurements responsesReceived packetsLost totalRoundTripTime bytesSent timestamp remoteTimestamp cpu bandwidth totalEncodedBytesTarget'.split(
    ' ',
  );

/** Of packets and answers: where one started again, all did. */
const restarts = alwaysCounted.slice(0, 4);

/** By number: the columns of each set. */
const sets = [
  '',
  'inbound-rtp audio',
  'inbound-rtp video',
  'outbound-rtp audio',
  'outbound-rtp video',
  'candidate-pair',
].map((kind, set) => {
  const [statsType, mediaType] = kind.split(' ');
  const columns = table.filter(({ inSets }) => inSets.includes(String(set)));
  const names = columns.map(({ column }) => column);
  const counted = columns
    .filter(({ how }) => /[+/-]/.test(how))
    .flatMap(({ first, second, third }) => [first, second, third]);
  const blank = blankOf(names);
  const counters = blankOf([...alwaysCounted, ...counted]);
  return {
    columns,
    names,
    blank,
    counters,
    line: json({ type: 'columns', set, statsType, mediaType, names }),
  };
});

/** Nothing known of each, and made at once: engines treat what grows name by name as a table, many times slower. */
function blankOf(names: readonly string[]): Record<string, null> {
  return JSON.parse(`{"${names.join('":null,"')}":null}`);
}

const setNumbered = (set: number) => sets[set] as (typeof sets)[number];

/** The set of candidate pairs. */
export const pairSet = 5;

/** The set of a stream's rows. */
export function streamSet(statsType: string, mediaType: string): number {
  return (statsType === 'inbound-rtp' ? 1 : 3) + Number(mediaType === 'video');
}

/** The columns of a set, in the order of its rows' cells after the first. */
export const columnsOf = (set: number) => setNumbered(set).columns;

/** The announcement of a set. */
export const columnsLine = (set: number): string => setNumbered(set).line;

/** A row of that set; what is unknown is null. */
export function row(set: number, measures: Measures): Cell[] {
  return [set, ...setNumbered(set).names.map((name) => measures[name] ?? null)];
}

/** A value that cannot be true: known() and num() take it as unknown. Rows have null, and the name in outOfRange. */
export const untrue = Number.POSITIVE_INFINITY;

/** A number, or NaN, so that whatever is reckoned with it is unknown too. */
export const known = (value: unknown) => num(value) ?? Number.NaN;

/** Counters by name: their last values, or by how much they grew. */
export type Counted = Record<string, number | null>;

/** The counters of a report whose row is of that set; 0 is for reports without a row. */
export const countersOf = (set: number): Readonly<Counted> => setNumbered(set).counters;

/** An increase, or NaN. One that is untrue remains so. */
export const grown = (value: unknown) => (value === untrue ? untrue : known(value));

/** Whether a counter started again: browsers correct counters too, and fall by little then. */
const startedAgain = (now: number, then: number) => 2 * now < then;

/** The bytes of a report, or NaN. */
const bytesOf = ({ bytesReceived, bytesSent }: Report) => known(bytesReceived ?? bytesSent);

/**
 * By how much counters grew since last, which then has their present values. When one of restarts started again, and the
 * bytes did, all count from 0. One that is missing keeps its value, so that it is not new when it returns. The increase of one that fell alone is
 * untrue, but for a loss (RFC 3550: duplicates). It keeps its value, and counts from the lower one while that
 * grows. -1 is untrue too, which some browsers write as a number without sign of 24 or 32 bits.
 */
export function count(last: Counted, report: Report, blank: Readonly<Counted>): Counted {
  const by = { ...blank };
  const anew =
    restarts.some((name) => startedAgain(known(report[name]), known(last[name]))) &&
    !(bytesOf(report) >= bytesOf(last));
  for (const name in blank) {
    const now = num(report[name]);
    if (anew) last[name] = null;
    if (now !== null) by[name] = stepOf(last, name, now);
  }
  return by;
}

function stepOf(last: Counted, name: string, now: number): number {
  const isLoss = name === 'packetsLost';
  if (now === 2 ** 24 - 1 || now === 2 ** 32 - 1 || (now < 0 && !isLoss)) return untrue;
  const then = last[name] ?? 0;
  const lower = `${name}-`;
  if (now >= then) {
    last[name] = now;
    if (lower in last) last[lower] = null;
    return now - then;
  }
  const from = last[lower] ?? (isLoss ? then : untrue);
  last[lower] = now;
  if (now < from) return isLoss ? now - from : untrue;
  last[name] = then + now - from;
  return now - from;
}

/** The measures of a set: of the growth of counters, of the report itself, and those computed elsewhere. */
export function measure(set: number, by: Counted, report: Report, own: Record<string, unknown>) {
  const { blank, columns } = setNumbered(set);
  const measures: Record<string, Cell> = { ...blank };
  const outOfRange: string[] = [];
  for (const { column: name, how, first, second, third, factor, range } of columns) {
    let value = own[name];
    // A report has the counters of its own direction alone.
    if (how === '+') value = factor * grown(by[first] ?? by[second]);
    else if (how === '/') value = num((factor * known(by[first])) / known(by[second] ?? by[third]));
    else if (how === '-') value = num((factor * (known(by[first]) - known(by[third]))) / known(by[second]));
    else if (how === '=') value = factor * known(report[first]);
    else if (how === '$') value = str(report[first]);
    if (value === untrue) outOfRange.push(name);
    measures[name] = bounded(range, value);
  }
  measures.outOfRange = bounded(rangeOf(''), outOfRange.join()) || null;
  return measures;
}

/**
 * The wire refuses a frame for one number outside its measure's range, or a fraction where it
 * counts: a strange browser must not cost the other rows.
 */
export function bounded(range: Range, value: unknown): Cell {
  // Three bytes a character at most: most need no counting.
  if (typeof value === 'string') return value.length * 3 > longestBytes ? cutBytes(value, longestBytes) : value;
  const number = num(value);
  if (number === null) return null;
  // An array that is taken apart costs a call a member.
  return Math.min(range[2], Math.max(range[1], Math.round(number * range[0]) / range[0]));
}

/** The numbers that the wire takes for a measure: of 1 / factor, from least to most. */
export type Range = readonly [factor: number, least: number, most: number];

/** By the end of a name, so no measure's name may be in short-names.json. */
export function rangeOf(name: string): Range {
  if (/Ms$/.test(name)) return [10, 0, 3_600_000];
  if (/qp$/.test(name)) return [10, 0, 255];
  if (/[fF]ps$/.test(name)) return [100, 0, 1000];
  if (/Level$|Fraction$/.test(name)) return [1e4, 0, 1];
  const most = /width|height/.test(name) ? 65_535 : 2 ** 53 - 1;
  return [1, /Lost$/.test(name) ? -most : 0, most];
}
