import { describe, expect, it } from 'vitest';
import { createClock } from '../src/clock.ts';
import type { Entry, Frame, QueueLimits } from '../src/queue.ts';
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
