// The comparison that the link of a notification leads to (spec: DASH-01, OUT-04).

import { describe, expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { ofSearch, setWords } = await pageModule('comparison.js');

const of = (search: string) => {
  const out = ofSearch(new URLSearchParams(search));
  return out && [String(out), setWords(out, { dropped: ['Dropped'] })];
};

describe('the comparison of a notification', () => {
  it('has the condition of its reason', () => {
    expect(of('reason=droppedConferences')).toEqual(['outcome=dropped', 'Conferences with outcome “dropped”']);
    expect(of('app=a&reason=lowQuality&past=3.2')).toEqual([
      'app=a&scoreTo=3.2',
      'Conferences with a score of 3.2 or lower',
    ]);
    expect(of('reason=highSetupDelays&past=5000')).toEqual([
      'setupFrom=5001',
      'Conferences with a setup of 5001 ms or more',
    ]);
    expect(of('reason=highRoundTripTime&past=300')).toEqual([
      'rttAbove=300',
      'Conferences with a round-trip time above 300 ms',
    ]);
    expect(of('reason=highPacketLoss&past=0.05')).toEqual([
      'lossAbove=0.05',
      'Conferences with a packet loss above 5.0 %',
    ]);
    expect(of('reason=highPacketLoss&past=0')?.[0]).toBe('lossAbove=0.000001');
    expect(of('reason=dissatisfactoryUserFeedback&past=2')).toEqual(['ratingTo=2', 'Conferences rated 2 or lower']);
  });

  it('is none where no filter has the reason', () => {
    expect(of('reason=highSetupDelays')).toBeNull();
    expect(of('reason=toString&past=1')).toBeNull();
  });

  it('of another search has its filters', () => {
    expect(of('issue=frozenVideo&function=createOffer&ratingTo=3&q=x')).toEqual([
      'issue=frozenVideo&function=createOffer&ratingTo=3',
      'Conferences rated 3 or lower',
    ]);
  });
});
