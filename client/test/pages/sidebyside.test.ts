// The axis that two sides share (spec: DASH-02).

import { describe, expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { highest } = await pageModule('sidebyside.js');

describe('the shared axis', () => {
  it('has room for the values of both sides in the time that is shown', () => {
    const sides = [
      { streams: [{ t: [0, 10, 20], rttMs: [900, 40, null] }, { t: [0, 10] }] },
      { streams: [{ t: [5, 15, 25], rttMs: [30, 60, 300] }] },
    ];
    expect(highest(sides, 'rttMs', [0, 30])).toBe(900);
    expect(highest(sides, 'rttMs', [1, 24])).toBe(60);
    expect(highest(sides, 'rttMs', [20, 25])).toBe(300);
    expect(highest(sides, 'jitterMs', [0, 30])).toBe(0);
  });
});
