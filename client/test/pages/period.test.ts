// The time that the overview counts (spec: DASH-01).

import { afterEach, describe, expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { kindOf, periodOf, shiftDays, weekBefore } = await pageModule('period.js');

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

describe('the week before', () => {
  const zone = process.env.TZ;
  afterEach(() => {
    process.env.TZ = zone;
  });

  it('has the same hours of the clock where summer time begins or ends', () => {
    process.env.TZ = 'Europe/Berlin';
    const berlin = (day: string) => Date.parse(day);
    // summer time began at 2026-03-29T02:00+01:00 and ended at 2026-10-25T03:00+02:00
    expect(weekBefore({ from: berlin('2026-03-30T00:00+02:00'), to: berlin('2026-03-30T14:30+02:00') })).toEqual({
      from: berlin('2026-03-23T00:00+01:00'),
      to: berlin('2026-03-23T14:30+01:00'),
    });
    expect(weekBefore({ from: berlin('2026-10-25T00:00+02:00'), to: berlin('2026-10-26T00:00+01:00') })).toEqual({
      from: berlin('2026-10-18T00:00+02:00'),
      to: berlin('2026-10-19T00:00+02:00'),
    });
    expect(shiftDays(berlin('2026-03-22T02:30+01:00'), 7)).toBe(berlin('2026-03-29T03:30+02:00'));
  });

  it('is never empty', () => {
    process.env.TZ = 'Europe/Berlin';
    const to = Date.parse('2026-04-05T03:00+02:00'); // the hour before is 2:00, which a week earlier is 3:00, too
    const { from, to: end } = weekBefore({ from: Date.parse('2026-04-05T02:00+02:00'), to });
    expect(end).toBeGreaterThan(from);
  });
});
