import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClock } from '../src/clock.ts';
import type { Entry, Frame, QueueLimits } from '../src/queue.ts';
import { columnsOf, row } from '../src/stats/measures.ts';
import { createQueue } from './queue.ts';

const isSkip = (entry: Entry) => entry.rank === 3;

function setup(limits: Partial<QueueLimits> = {}) {
  const time = { now: 1000 };
  const clock = createClock({ mono: () => time.now, wall: () => time.now });
  clock.sample(time.now, time.now, time.now);
  const queue = createQueue(clock, { mostBytes: 1 << 20, ageMs: 3_600_000, windowBytes: 1 << 18, ...limits });
  const frame = (type: Frame['type'], fabric = 1, size = 10, done?: Frame['done']): Frame => ({
    type,
    fabric,
    stamp: clock.stamp(),
    members: { fabric, event: 'x'.repeat(size) },
    ...(done && { done }),
  });
  const sendAll = () => {
    const sent: Record<string, unknown>[] = [];
    for (let e = queue.upNext(256); e; e = queue.upNext(256)) {
      sent.push(JSON.parse(e.line()));
      queue.sent(e);
    }
    return sent;
  };
  return { queue, frame, sendAll, time, clock };
}

describe('the queue', () => {
  it('numbers frames from 1 without gaps and acknowledges cumulatively', () => {
    const { queue, frame, sendAll } = setup();
    const reported: string[] = [];
    for (let i = 0; i < 4; i++) queue.push(frame('event', 1, 5, (err) => reported.push(`${i} ${err}`)));
    expect(sendAll().map((f) => f.seq)).toEqual([1, 2, 3, 4]);
    queue.nack(2, 'csProtoError', 'bad');
    queue.ack(3);
    expect(reported).toEqual(['1 csProtoError', '0 success', '2 success']);
    expect(queue.lastAcked()).toBe(3);
    expect(queue.unacked()).toBe(true);
    queue.ack(4);
    expect(queue.waiting()).toEqual([]);
  });

  it('sends again what is not acknowledged, byte for byte', () => {
    const { queue, frame, time } = setup();
    queue.push(frame('event'));
    queue.push(frame('stats'));
    const first = [queue.upNext(256), queue.upNext(256)].map((e) => e?.line());
    const entry = queue.upNext(256);
    if (entry) queue.sent(entry);
    time.now += 50;
    queue.rewind();
    const again = queue.upNext(256);
    expect(again?.line()).toBe(first[0]);
  });

  it('writes a frame once: the text on the wire never changes', () => {
    const { frame, clock } = setup();
    let learned = 0;
    const queue = createQueue({ ...clock, time: () => ++learned }); // it learns the time all over again
    queue.push(frame('event'));
    const entry = queue.upNext(256) as Entry;
    expect(entry.line()).toBe(entry.line());
    expect(learned).toBe(1);
  });

  it('does not take an ack of what was never sent', () => {
    const { queue, frame } = setup();
    queue.push(frame('event'));
    queue.ack(10);
    expect(queue.lastAcked()).toBe(0);
    expect(queue.waiting()).toHaveLength(1);
  });

  it('keeps to the window of frames and bytes', () => {
    const { queue, frame } = setup({ windowBytes: 1000 });
    for (let i = 0; i < 5; i++) queue.push(frame('stats', 1, 300));
    const sent = [];
    for (let e = queue.upNext(2); e; e = queue.upNext(2)) {
      queue.sent(e);
      sent.push(e.seq);
    }
    expect(sent).toEqual([1, 2]);
    for (let e = queue.upNext(256); e; e = queue.upNext(256)) {
      queue.sent(e);
      sent.push(e.seq);
    }
    expect(sent).toEqual([1, 2]); // a third would pass 1000 bytes
    queue.ack(1);
    expect(queue.upNext(256)?.seq).toBe(3);
  });

  it('drops measurements before parts of SDPs, and these before other frames', () => {
    const { queue, frame } = setup();
    for (const type of ['event', 'sdp', 'error', 'stats'] as const) queue.push(frame(type, 1, 100));
    const kept = () => queue.waiting().map(({ line }) => JSON.parse(line()).type);
    queue.shrink(800);
    expect(kept()).toEqual(['event', 'sdp', 'error', 'skip']);
    queue.shrink(720);
    expect(kept()).toEqual(['event', 'skip', 'error', 'skip']);
  });

  it('refuses a frame that is too large for the wire', () => {
    const { queue, frame, sendAll } = setup();
    expect(queue.push(frame('log', 1, 65_500))).toBe(0);
    expect(queue.push(frame('event'))).toBe(1);
    expect(sendAll().map((f) => f.seq)).toEqual([1]);
  });

  it('drops the oldest measurements first and declares them (spec: STAT-07)', () => {
    const { queue, frame, sendAll } = setup({ mostBytes: 1500 });
    const dropped: string[] = [];
    queue.push(frame('event', 1, 100, (err) => dropped.push(err)));
    for (let i = 0; i < 12; i++) queue.push(frame('stats', 1 + (i % 2), 100));
    const sent = sendAll();
    expect(dropped).toEqual([]);
    expect(sent[0]).toMatchObject({ type: 'event', seq: 1 });
    expect(sent[1]).toMatchObject({ type: 'skip', from: 2 });
    const skip = sent[1] as { seq: number; lost: { fabric: number; stats: number; events: number }[] };
    expect(skip.lost.reduce((sum, l) => sum + l.stats, 0)).toBe(skip.seq - 1);
    expect(skip.lost.every((l) => l.events === 0)).toBe(true);
    expect(sent[2]).toMatchObject({ type: 'stats', seq: skip.seq + 1 });
    expect(sent.at(-1)).toMatchObject({ seq: 13 });
  });

  it('merges measurements before it drops any (spec: SRV-04)', () => {
    const { queue, sendAll, clock } = setup();
    const stats = (fabric: number, rows: unknown[][], intervalMs = 5000) =>
      queue.push({ type: 'stats', fabric, stamp: clock.stamp(), sets: [1], members: { fabric, intervalMs, rows } });
    // Set 1: ssrc, codec, bytes, packets, packetsLost, packetsDiscarded, fecPackets, jitterMs, …
    const audio = (ssrc: number, packets: number, lost: number | null, jitterMs: number) =>
      row(1, { ssrc, codec: 'opus', bytes: 100 * packets, packets, packetsLost: lost, jitterMs });
    stats(1, [audio(7, 250, 1, 10)], 15_000);
    stats(2, [audio(8, 100, 0, 1)]);
    stats(1, [audio(7, 50, 2, 2)]);
    stats(2, [audio(8, 100, null, 4)]);
    stats(1, [audio(7, 1000, 0, 0)]);
    const bytes = () => queue.waiting().reduce((sum, entry) => sum + entry.byteCount, 0);
    queue.shrink(bytes() - 1);
    queue.shrink(bytes() - 1);
    const named = ({ rows: [cells = []] = [], ...frame }: { rows?: unknown[][] }) => ({
      ...frame,
      cells: Object.fromEntries(columnsOf(1).map(({ column }, i) => [column, cells[i + 1] ?? null])),
    });
    const sent = sendAll().map((frame) => (frame.type === 'skip' ? frame : named(frame)));
    expect(sent).toMatchObject([
      { type: 'skip', from: 1, seq: 2, lost: [] },
      {
        type: 'stats',
        seq: 3,
        fabric: 1,
        intervalMs: 20_000,
        cells: { ssrc: 7, codec: 'opus', bytes: 30_000, packets: 300, packetsLost: 3, jitterMs: 8, rttMs: null },
      },
      { seq: 4, fabric: 2, intervalMs: 10_000, cells: { ssrc: 8, packets: 200, packetsLost: null, jitterMs: 2.5 } },
      { seq: 5, fabric: 1, intervalMs: 5000, cells: { packets: 1000, jitterMs: 0 } },
    ]);
  });

  it('merges no measurements of other streams or of more than 20 s, and none that is written', () => {
    const { queue, clock } = setup();
    const stats = (intervalMs: number, ...ssrcs: number[]) =>
      queue.push({
        type: 'stats',
        fabric: 1,
        stamp: clock.stamp(),
        sets: [1],
        members: { fabric: 1, intervalMs, rows: ssrcs.map((ssrc) => row(1, { ssrc })) },
      });
    const types = () => queue.waiting().map(({ rank }) => (rank === 3 ? 'skip' : 'stats'));
    const shrinkOnce = () => queue.shrink(queue.waiting().reduce((sum, entry) => sum + entry.byteCount, -1));
    stats(10_000, 1);
    stats(12_000, 1);
    stats(2000, 2);
    stats(2000, 2, 1);
    stats(2000, 1, 2);
    queue.waiting().at(-1)?.line();
    stats(2000, 1, 2);
    shrinkOnce();
    expect(types()).toEqual(['skip', 'stats', 'stats', 'stats', 'stats', 'stats']); // the oldest is dropped
    expect(JSON.parse(queue.waiting()[0]?.line() ?? '')).toMatchObject({ lost: [{ fabric: 1, stats: 1 }] });
  });

  it('keeps the sum of all increases, whatever it merges', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            fabric: fc.integer({ min: 1, max: 3 }),
            ms: fc.integer({ min: 1, max: 20_000 }),
            packets: fc.nat(5000),
          }),
          { maxLength: 40 },
        ),
        fc.nat(12_000),
        (measurements, bytes) => {
          const { queue, sendAll, clock } = setup();
          for (const { fabric, ms, packets } of measurements)
            queue.push({
              type: 'stats',
              fabric,
              stamp: clock.stamp(),
              sets: [1],
              members: { fabric, intervalMs: ms, rows: [row(1, { ssrc: fabric, packets })] },
            });
          const before = queue.waiting().length;
          queue.shrink(bytes);
          const sent = sendAll() as {
            type: string;
            seq: number;
            from: number;
            intervalMs: number;
            rows: number[][];
            lost: { stats: number }[];
          }[];
          const kept = sent.filter(({ type }) => type === 'stats');
          const lost = sent.flatMap((frame) => frame.lost ?? []).reduce((all, { stats }) => all + stats, 0);
          const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
          const keptMs = sum(kept.map(({ intervalMs }) => intervalMs));
          if (lost) expect(keptMs).toBeLessThan(sum(measurements.map(({ ms }) => ms)));
          else {
            expect(keptMs).toBe(sum(measurements.map(({ ms }) => ms)));
            expect(sum(kept.map(({ rows }) => rows[0]?.[4] ?? 0))).toBe(
              sum(measurements.map(({ packets }) => packets)),
            );
          }
          for (const { intervalMs } of kept) expect(intervalMs).toBeLessThanOrEqual(21_000);
          // Each number is sent or skipped, once.
          expect(sent.reduce((next, { seq, from = seq }) => (from === next ? seq + 1 : Number.NaN), 1)).toBe(
            before + 1,
          );
        },
      ),
    );
  });

  it('drops events only when nothing else is left, and calls back those that wait', () => {
    const { queue, frame, sendAll } = setup({ mostBytes: 1000 });
    const reported: string[] = [];
    for (let i = 0; i < 8; i++) queue.push(frame('event', 0, 100, (err) => reported.push(err)));
    const sent = sendAll();
    expect(sent[0]).toMatchObject({ type: 'skip', from: 1, lost: [{ fabric: 0, stats: 0, events: reported.length }] });
    expect(reported.length).toBeGreaterThan(0);
    expect(new Set(reported)).toEqual(new Set(['failure']));
  });

  it('drops last what tells of the life of a fabric (spec: STAT-07)', () => {
    const { queue, frame, sendAll } = setup({ mostBytes: 1000 });
    queue.push({ ...frame('event', 1, 50), keep: true });
    for (let i = 0; i < 4; i++) queue.push(frame('stats', 1, 100));
    for (let i = 0; i < 12; i++) queue.push(frame('event', 1, 100));
    const sent = sendAll();
    expect(sent[0]).toMatchObject({ type: 'event', seq: 1 });
    expect(sent[1]).toMatchObject({ type: 'skip', from: 2, lost: [{ fabric: 1, stats: 4 }] });
    for (let i = 0; i < 12; i++) queue.push({ ...frame('event', 2, 100), keep: true });
    expect(sendAll().some((f) => f.type === 'skip')).toBe(true); // bounded all the same
  });

  it('drops what is too old', () => {
    const { queue, frame, sendAll, time } = setup({ ageMs: 1000 });
    queue.push(frame('event'));
    queue.push(frame('stats'));
    time.now += 900; // steps of the clock beyond a second would be taken for a sleep
    queue.push(frame('event'));
    time.now += 900;
    queue.push(frame('event'));
    expect(sendAll()).toMatchObject([
      { type: 'skip', from: 1, seq: 2, lost: [{ fabric: 1, stats: 1, events: 1 }] },
      { type: 'event', seq: 3 },
      { type: 'event', seq: 4 },
    ]);
  });

  it('never changes, drops or re-orders what was sent, whatever happens', () => {
    // A small generator, so that a failure can be repeated.
    let seed = 42;
    const random = (n: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % n;
    };
    for (let run = 0; run < 60; run++) {
      const { queue, frame } = setup({ mostBytes: 3000, windowBytes: 1500 });
      const wire = new Map<number, string>();
      let covered = 0; // the numbers that the wire has seen, without gaps
      let pushed = 0;
      let lost = 0;
      let delivered = 0;
      for (let step = 0; step < 200; step++) {
        const action = random(10);
        if (action < 5) {
          queue.push(frame(random(3) ? 'stats' : 'event', random(3), random(200)));
          pushed++;
        } else if (action < 8) {
          for (let e = queue.upNext(1 + random(8)); e; e = queue.upNext(1 + random(8))) {
            const text = e.line();
            if (wire.has(e.seq)) expect(text).toBe(wire.get(e.seq));
            else {
              expect(e.firstSeq).toBe(covered + 1);
              covered = e.seq;
              wire.set(e.seq, text);
              if (isSkip(e)) for (const l of e.lost) lost += l.stats + l.events;
              else delivered++;
            }
            queue.sent(e);
          }
        } else if (action === 8) queue.rewind();
        else queue.ack(random(covered + 2));
        const unsent = queue.waiting().filter((e) => !e.sent && !isSkip(e));
        expect(queue.waiting().reduce((sum, e) => sum + (isSkip(e) ? 0 : e.byteCount), 0)).toBeLessThanOrEqual(3300);
        const waitingLost = queue
          .waiting()
          .filter((e) => isSkip(e) && !e.sent)
          .reduce((sum, e) => sum + (e.seq - e.firstSeq + 1), 0);
        expect(delivered + lost + unsent.length + waitingLost).toBe(pushed);
      }
    }
  });
});
