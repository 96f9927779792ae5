import { describe, expect, it } from 'vitest';
import { createClock } from '../src/clock.ts';

function page(wallAhead = 0) {
  const state = { mono: 1000, wall: 1_000_000 + wallAhead };
  const clock = createClock({ mono: () => state.mono, wall: () => state.wall });
  const pass = (ms: number) => {
    state.mono += ms;
    state.wall += ms;
  };
  /** An exchange of rtt with a server whose true time is 1_000_000 + elapsed. */
  const exchange = (rtt: number, trueTime: () => number) => {
    const sent = state.mono;
    pass(rtt / 2);
    const at = trueTime();
    pass(rtt / 2);
    clock.sample(sent, state.mono, at);
  };
  return { state, clock, pass, exchange };
}

describe('the corrected clock', () => {
  it('moves what was stamped before the first sample to the time of the server', () => {
    const { clock, pass, state, exchange } = page(90_000);
    const trueTime = () => 1_000_000 + state.mono - 1000;
    const early = clock.stamp();
    expect(clock.synced()).toBe(false);
    pass(5000);
    exchange(100, trueTime);
    expect(clock.synced()).toBe(true);
    expect(clock.time(early)).toBe(1_000_000);
    expect(clock.time(clock.stamp())).toBe(trueTime());
  });

  it('lets the shortest round trip of the last five win, and leaves earlier stamps alone', () => {
    const { clock, exchange, state } = page();
    const trueTime = () => 1_000_000 + state.mono - 1000;
    exchange(200, () => trueTime() + 80); // an uneven path
    const stamp = clock.stamp();
    const before = clock.time(stamp);
    exchange(10, trueTime);
    expect(clock.time(stamp)).toBe(before);
    expect(clock.time(clock.stamp())).toBe(trueTime());
    exchange(300, () => trueTime() - 140);
    expect(clock.time(clock.stamp())).toBe(trueTime());
  });

  it('needs a new sample after a sleep, and then corrects what was stamped since', () => {
    const { clock, exchange, state } = page();
    let slept = 0;
    const trueTime = () => 1_000_000 + slept + state.mono - 1000;
    exchange(10, trueTime);
    const before = clock.stamp();
    const beforeTrue = trueTime();
    slept = 60_000;
    state.wall += slept + 5000; // and the wall clock was set
    expect(clock.synced()).toBe(false);
    const after = clock.stamp();
    exchange(10, trueTime);
    expect(clock.synced()).toBe(true);
    expect(clock.time(before)).toBe(beforeTrue);
    expect(clock.time(after)).toBe(trueTime() - 10);
  });

  it('does not take a slewed clock for a step', () => {
    const { clock, exchange, state } = page();
    exchange(10, () => 1_000_000 + state.mono - 1000);
    state.wall += 900;
    expect(clock.synced()).toBe(true);
  });
});
