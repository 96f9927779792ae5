// What a number of the overview is beside that of a week before (spec: DASH-01).

import { describe, expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { countDifference, delayDifference, scoreDifference, shareDifference, shortDifference } =
  await pageModule('difference.js');
const both = ({ text, verdict }: { text: string; verdict: string }) => [text, verdict];

describe('a difference', () => {
  it('of counts is neither better nor worse', () => {
    expect(both(countDifference(150, 100))).toEqual(['▲ 50 % more', '']);
    expect(both(countDifference(97, 100))).toEqual(['▼ 3.0 % fewer', '']);
    expect(both(countDifference(5, 5))).toEqual(['no change', '']);
    expect(both(countDifference(5, 0))).toEqual(['none a week before', '']);
    expect([shortDifference(5, 3), shortDifference(3, 5), shortDifference(3, 3)]).toEqual(['▲ 2', '▼ 2', 'same']);
  });

  it('of failures is worse where there are more of them', () => {
    expect(both(shareDifference(0.09, 0.02))).toEqual(['▲ 7.0 points higher, worse', 'worse']);
    expect(both(shareDifference(0.02, 0.09))).toEqual(['▼ 7.0 points lower, better', 'better']);
    expect(both(shareDifference(0.025, 0.02))).toEqual(['▲ 0.5 points higher', '']);
    expect(both(shareDifference(0.0201, 0.02))).toEqual(['no change', '']);
    expect(both(shareDifference(null, 0.02))).toEqual(['', '']);
  });

  it('of scores is worse where they are lower, of delays where they are longer', () => {
    expect(both(scoreDifference(4, 3.5))).toEqual(['▲ 0.50 higher, better', 'better']);
    expect(both(scoreDifference(3.5, 4))).toEqual(['▼ 0.50 lower, worse', 'worse']);
    expect(both(scoreDifference(3.97, 4))).toEqual(['▼ 0.03 lower', '']);
    expect(both(scoreDifference(null, 4))).toEqual(['', '']);
    expect(both(delayDifference(300, 200))).toEqual(['▲ 100 ms longer, worse', 'worse']);
    expect(both(delayDifference(100, 200))).toEqual(['▼ 100 ms shorter, better', 'better']);
    expect(both(delayDifference(204, 200))).toEqual(['no change', '']);
    expect(both(delayDifference(undefined, 200))).toEqual(['', '']);
  });
});
