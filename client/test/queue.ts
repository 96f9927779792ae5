// A queue as one object, for tests that make many of its calls.

import type { Clock } from '../src/clock.ts';
import * as queues from '../src/queue.ts';

export function createQueue(clock: Clock, limits: Partial<queues.QueueLimits> = {}) {
  const queue = queues.createQueue(clock, limits);
  return {
    shrink: (bytes: number) => queues.shrink(queue, bytes),
    push: (frame: queues.Frame) => queues.push(queue, frame),
    upNext: (frameWindow: number) => queues.upNext(queue, frameWindow),
    sent: (entry: queues.Entry) => queues.markSent(queue, entry),
    rewind: () => queues.rewind(queue),
    ack: (seq: number) => queues.acknowledge(queue, seq),
    nack: (...refusal: [seq: number, err: Parameters<typeof queues.refuse>[2], msg: string]) =>
      queues.refuse(queue, ...refusal),
    lastAcked: () => queue.ackedSeq,
    unacked: () => queue.cursor > 0,
    waiting: () => [...queue.pending],
    giveUp: (err: Parameters<typeof queues.giveUp>[1], msg: string) => queues.giveUp(queue, err, msg),
  };
}
