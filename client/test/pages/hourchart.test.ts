// The hours that the chart of the overview draws (spec: DASH-01).

import { expect, it } from 'vitest';
import { pageModule } from './module.ts';

const hour = 3_600_000;
const week = 168 * hour;

it('draws each hour of the period beside the same hour a week before', async () => {
  const { columns } = await pageModule('hourchart.js');
  const from = 1000 * week + hour / 2; // the first hour is a part
  const points = [0, 1].map((n) => ({ at: 1000 * week + n * hour, conferences: 5 + n, failed: n }));
  const baselinePoints = [1, 2, 3].map((n) => ({ at: 999 * week + n * hour, conferences: 7 + n, failed: 0 }));
  const [times, now, failed, before] = columns({ from, to: from + 2 * hour, points, baselinePoints });
  expect(times).toEqual([0, 1, 2].map((n) => 1000 * week + n * hour));
  expect([now, failed, before]).toEqual([
    [5, 6, 0],
    [0, 1, 0],
    [0, 8, 9],
  ]);
});
