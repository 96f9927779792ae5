// The newest measurements, added to the answer of a whole conference (spec: DASH-05).

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { isStale, withTail } = await pageModule('tail.js');

type Points = [at: number, value: number][];

const stream = (points: Points, more = {}) => ({
  session: 's',
  fabric: 1,
  statsType: 'inbound-rtp',
  mediaType: 'audio',
  ssrc: 7,
  recordsPerPoint: 1,
  latest: { at: points.at(-1)?.[0] ?? 0, values: {} },
  t: points.map(([at]) => at),
  rttMs: points.map(([, v]) => v),
  ...more,
});

const conference = (endAt: number, more = {}) => ({
  startAt: 0,
  endAt,
  durationMs: endAt,
  state: 'live',
  revision: 0,
  participants: [{ session: 's', user: 'ada' }],
  ...more,
});

const detail = (streams: unknown[], more = {}) => ({
  at: 100,
  conference: conference(100),
  streams,
  measures: [{ name: 'rttMs' }],
  fabrics: [{ session: 's', fabric: 1, firstAt: 0, lastAt: 100 }],
  timeline: [],
  ...more,
});

const tail = (streams: unknown[], more = {}) => ({
  at: 200,
  from: 0,
  conference: conference(200),
  streams,
  measures: [{ name: 'rttMs' }, { name: 'jitterMs' }],
  others: 0,
  incomplete: false,
  ...more,
});

const pointsOf = (d: ReturnType<typeof detail>): Points => {
  const [s] = d.streams as ReturnType<typeof stream>[];
  return s ? s.t.map((at, i) => [at, s.rttMs[i] as number]) : [];
};

describe('measurements of a tail', () => {
  it('follow those that are there', () => {
    const all = withTail(
      detail([
        stream([
          [10, 1],
          [20, 2],
        ]),
      ]),
      tail([
        stream(
          [
            [20, 2],
            [30, 3],
          ],
          { jitterMs: [5, 6] },
        ),
      ]),
    );
    expect(pointsOf(all)).toEqual([
      [10, 1],
      [20, 2],
      [30, 3],
    ]);
    expect(all.streams[0].jitterMs).toEqual([null, 5, 6]);
    expect(all.streams[0].latest.at).toBe(30);
    expect(all.conference).toMatchObject({ endAt: 200, durationMs: 200 });
    expect(all.fabrics[0].lastAt).toBe(100);
    expect(all.measures.map((m: { name: string }) => m.name)).toEqual(['rttMs', 'jitterMs']);
  });

  it('are the union in any order: what comes late stands at its time', () => {
    const points = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer()), {
      selector: ([at]) => at,
      minLength: 1,
    });
    fc.assert(
      fc.property(
        points,
        fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.boolean()), { maxLength: 6 }),
        (all, tails) => {
          const whole = [...all].sort(([a], [b]) => a - b);
          const known = new Set(whole.filter((_p, i) => i % 2 === 0).map(([at]) => at));
          let shown = detail([stream(whole.filter(([at]) => known.has(at)))]);
          for (const [from] of tails) {
            for (const [at] of whole) if (at >= from) known.add(at);
            shown = withTail(shown, tail([stream(whole.filter(([at]) => at >= from))].filter((s) => s.t.length > 0)));
          }
          expect(pointsOf(shown)).toEqual(whole.filter(([at]) => known.has(at)));
        },
      ),
    );
  });

  it('only follow where the points are means of several', () => {
    const all = withTail(
      detail([
        stream(
          [
            [20, 2],
            [40, 4],
          ],
          { recordsPerPoint: 2 },
        ),
      ]),
      tail([
        stream([
          [30, 3],
          [40, 9],
          [50, 5],
        ]),
      ]),
    );
    expect(pointsOf(all)).toEqual([
      [20, 2],
      [40, 4],
      [50, 5],
    ]);
  });

  it('leave what is newer, the lowest score and other streams alone', () => {
    const other = stream([[10, 1]], { ssrc: 8 });
    const have = detail([
      stream(
        [
          [10, 1],
          [50, 5],
        ],
        { lowest: { mos: 2 }, label: 'bad' },
      ),
      other,
    ]);
    const all = withTail(have, tail([stream([[30, 3]], { lowest: { mos: 3 }, label: 'good' })]));
    expect(all.streams[0]).toMatchObject({ latest: { at: 50 }, label: 'bad', lowest: { mos: 2 } });
    expect(all.streams[1]).toBe(other);
    expect(withTail(have, tail([stream([[60, 3]], { lowest: { mos: 1 } })])).streams[0]).toMatchObject({
      lowest: { mos: 1 },
      label: 'bad',
    });
    expect((have.streams[0] as ReturnType<typeof stream>).t).toEqual([10, 50]);
  });
});

describe('the whole conference is read again', () => {
  const have = detail([stream([[10, 1]])]);
  const cases: [string, boolean, ReturnType<typeof tail>][] = [
    ['never for measurements alone', false, tail([stream([[20, 1]])])],
    ['for another record', true, tail([], { others: 1 })],
    ['for a tail that is not all', true, tail([], { incomplete: true })],
    ['for damage', true, tail([], { damaged: true })],
    ['for a new stream', true, tail([stream([[20, 1]], { ssrc: 9 })])],
    ['for a new participant', true, tail([], { conference: conference(1, { participants: [] }) })],
    [
      'for another name',
      true,
      tail([], { conference: conference(1, { participants: [{ session: 's', user: 'bob' }] }) }),
    ],
    ['for a summary', true, tail([], { conference: conference(1, { revision: 1 }) })],
    ['for another start', true, tail([], { conference: conference(1, { startAt: 5 }) })],
  ];
  it.each(cases)('%s', (_name, stale, one) => {
    expect(isStale(have, one)).toBe(stale);
  });
});
