// The time that the overview counts (spec: DASH-01).

import { describe, expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { kindOf, periodOf } = await pageModule('period.js');

const now = new Date(2026, 2, 9, 14, 30).getTime();
const at = (day: number, hour = 0) => new Date(2026, 2, day, hour).getTime();

describe('a period', () => {
  it('is of days of the clock of the reader, and ends now at the latest', () => {
    expect(periodOf(null, now)).toEqual({ from: at(9), to: now });
    expect(periodOf('yesterday', now)).toEqual({ from: at(8), to: at(9) });
    expect(periodOf('week', now)).toEqual({ from: at(3), to: now });
    expect(periodOf('2026-03-01', now)).toEqual({ from: at(1), to: at(2) });
    expect(periodOf('2026-03-09', now)).toEqual({ from: at(9), to: now });
  });

  it('is never empty', () => {
    expect(periodOf(null, at(9))).toEqual({ from: at(9), to: at(9) + 1 });
    expect(periodOf('2026-03-12', now)).toEqual({ from: at(12), to: at(12) + 1 });
  });

  it('is today where the address says no day', () => {
    for (const day of ['2026-13-01', 'x', '2026-03-09T10:00', '']) expect(kindOf(day)).toBe('');
    expect(kindOf('2026-03-01')).toBe('date');
  });
});
