// When the dashboard's pages ask for what was committed (spec: DASH-05).

import { describe, expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { nextAt, nextTailAt } = await pageModule('live.js');

const quiet = { began: 0, ended: 50, due: false, behind: false, streaming: true, pauseMs: 4000 };

describe('the next reading of all', () => {
  it('begins within half a second of the one before where that was quick', () => {
    expect(nextAt({ ...quiet, due: true })).toBe(500);
    expect(nextAt({ ...quiet, ended: 100, due: true })).toBe(500);
  });

  it('takes a fifth of the time at most', () => {
    expect(nextAt({ ...quiet, ended: 1000, due: true })).toBe(5000);
  });

  it('waits longer where the newest measurements are drawn already', () => {
    expect(nextAt({ ...quiet, behind: true })).toBe(5050);
    expect(nextAt({ ...quiet, ended: 1000, behind: true })).toBe(11_000);
    expect(nextAt({ ...quiet, ended: 1000, behind: true, due: true })).toBe(5000);
  });

  it('is rare without a change, and never without a pause', () => {
    expect(nextAt(quiet)).toBe(30_050);
    expect(nextAt({ ...quiet, streaming: false })).toBe(4050);
    expect(nextAt({ ...quiet, streaming: false, pauseMs: 0 })).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the next reading of the newest measurements', () => {
  it('begins a quarter of a second after the one before', () => {
    expect(nextTailAt({ began: 1000, ended: 1020, from: 5 })).toBe(1250);
  });

  it('takes half of the time at most', () => {
    expect(nextTailAt({ began: 1000, ended: 1300, from: 5 })).toBe(1600);
  });

  it('is never without a change', () => {
    expect(nextTailAt({ began: 1000, ended: 1020, from: Number.POSITIVE_INFINITY })).toBe(Number.POSITIVE_INFINITY);
  });
});
