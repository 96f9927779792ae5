// Adds the newest measurements (api/conference/tail) to the answer of a whole conference.

const keyOf = (s) => [s.session, s.fabric, s.statsType, s.mediaType ?? "", s.ssrc, s.rid ?? ""].join("/");

const columnsOf = (s) => Object.keys(s).filter((name) => name !== "t" && Array.isArray(s[name]));

const lower = (a, b) => (!a || (b && b.mos < a.mos) ? b : a);

/**
 * The points of both streams, in order of time; of two at the same time that of newer. Records do not change and are not
 * deleted, so the union is exact. Where points of have are means of several records, only later ones are added.
 */
function points(have, newer) {
  const last = have.t.at(-1) ?? Number.NEGATIVE_INFINITY;
  const isMean = have.recordsPerPoint > 1;
  const added = new Set(newer.t);
  const rows = have.t.map((at, i) => [at, have, i]).filter(([at]) => isMean || !added.has(at));
  newer.t.forEach((at, i) => {
    if (!isMean || at > last) rows.push([at, newer, i]);
  });
  rows.sort(([a], [b]) => a - b);
  const out = { t: rows.map(([at]) => at) };
  for (const name of new Set([...columnsOf(have), ...columnsOf(newer)])) out[name] = rows.map(([, from, i]) => from[name]?.[i] ?? null);
  return out;
}

function newest(have, newer) {
  const isLater = newer.latest.at >= have.latest.at;
  const head = isLater ? { latest: newer.latest, noScore: newer.noScore, label: newer.label || have.label, codec: newer.codec || have.codec } : {};
  return { ...have, ...head, lowest: lower(have.lowest, newer.lowest), ...points(have, newer) };
}

const namesOf = (c) => JSON.stringify([c.startAt, c.state, c.revision, c.participants.map((p) => [p.session, p.user, p.userName])]);

/**
 * Whether the whole conference has to be read again: something other than measurements was stored in that time, a stream or
 * a participant is new, or the tail is not all.
 */
export function isStale(detail, tail) {
  const known = new Set(detail.streams.map(keyOf));
  return tail.others > 0 || tail.incomplete || Boolean(tail.damaged) || namesOf(tail.conference) !== namesOf(detail.conference) || tail.streams.some((s) => !known.has(keyOf(s)));
}

/** detail with the measurements of tail. Neither is changed; streams without news are the same objects. */
export function withTail(detail, tail) {
  const news = new Map(tail.streams.map((s) => [keyOf(s), s]));
  const known = new Set(detail.measures.map((m) => m.name));
  const lastAt = Math.max(detail.conference.endAt, tail.conference.endAt);
  const lasts = new Map();
  for (const s of tail.streams) lasts.set(`${s.session}/${s.fabric}`, Math.max(lasts.get(`${s.session}/${s.fabric}`) ?? 0, s.latest.at));
  return {
    ...detail,
    at: Math.max(detail.at, tail.at),
    conference: { ...detail.conference, endAt: lastAt, durationMs: lastAt - detail.conference.startAt },
    fabrics: detail.fabrics.map((f) => ({ ...f, lastAt: Math.max(f.lastAt, lasts.get(`${f.session}/${f.fabric}`) ?? 0) })),
    streams: detail.streams.map((s) => (news.has(keyOf(s)) ? newest(s, news.get(keyOf(s))) : s)),
    measures: [...detail.measures, ...tail.measures.filter((m) => !known.has(m.name))],
  };
}
