// Reports of getStats, brought into one shape for all browsers.

/** One report of getStats. */
export type Report = Readonly<Record<string, unknown>>;

/** An RTP stream with what belongs to it. */
export interface Stream {
  key: string;
  statsType: 'inbound-rtp' | 'outbound-rtp';
  mediaType: 'audio' | 'video';
  ssrc: number;
  codec: string | null;
  rtp: Report;
  /** The other end's report about the stream: remote-inbound-rtp or remote-outbound-rtp. */
  remote: Report;
  /** The media-source of an outbound stream. */
  source: Report;
}

/** A selected candidate pair. */
export interface Pair {
  id: string;
  transport: string;
  pair: Report;
  local: Report;
  remote: Report;
  /** All local candidates of the reading. */
  locals: readonly Report[];
}

/** One reading of a PeerConnection. */
export interface Snapshot {
  byKey: Map<string, Stream>;
  /** The selected ones, by transport. */
  pairs: Map<string, Pair>;
  /** All reports, by id. */
  byId: Map<unknown, Report>;
  /** The browser's own time of the counters, as in its reports; null when they have none. */
  takenMs: number | null;
}

const none: Report = {};
const stalestMs = 15_000; // of a report that the other end sends every few seconds

/** A number, or null. */
export function num(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A non-empty string, or null. */
export function str(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Sorts the reports of one getStats call. */
export function normalise(reports: Iterable<Report>): Snapshot {
  const byId = new Map<unknown, Report>();
  for (const report of reports) byId.set(report.id, report);
  const byType = new Map<unknown, Report[]>();
  const ofType = (type: string) => byType.get(type) ?? [];
  for (const report of byId.values()) {
    // Firefox before 66 marks the other end's reports instead of naming their type.
    const type = report.isRemote === true ? `remote-${report.type}` : report.type;
    const alike = byType.get(type) ?? [];
    alike.push(report);
    byType.set(type, alike);
  }
  const snapshot: Snapshot = { byKey: new Map(), pairs: new Map(), byId, takenMs: null };
  for (const statsType of ['inbound-rtp', 'outbound-rtp'] as const)
    for (const rtp of ofType(statsType)) {
      const stream = streamOf(statsType, rtp, byId, ofType);
      if (stream) snapshot.byKey.set(stream.key, stream);
      snapshot.takenMs ??= num(rtp.timestamp);
    }
  for (const pair of selectedPairs(byId, ofType)) {
    const transport = String(pair.transportId ?? '');
    snapshot.pairs.set(transport, {
      id: String(pair.id),
      transport,
      pair,
      local: byId.get(pair.localCandidateId) ?? none,
      remote: byId.get(pair.remoteCandidateId) ?? none,
      locals: ofType('local-candidate'),
    });
  }
  return snapshot;
}

type OfType = (type: string) => readonly Report[];

function streamOf(
  statsType: Stream['statsType'],
  rtp: Report,
  byId: Map<unknown, Report>,
  ofType: OfType,
): Stream | null {
  const mediaType = rtp.kind ?? rtp.mediaType;
  const ssrc = num(rtp.ssrc) as number;
  // The range of the wire: what is outside is no SSRC.
  if (ssrc >>> 0 !== ssrc || (mediaType !== 'audio' && mediaType !== 'video')) return null;
  const others = ofType(statsType === 'inbound-rtp' ? 'remote-outbound-rtp' : 'remote-inbound-rtp');
  const remote = byId.get(rtp.remoteId) ?? others.find((other) => other.ssrc === ssrc) ?? none;
  return {
    key: `${statsType} ${ssrc}`,
    statsType,
    mediaType,
    ssrc,
    codec: str(byId.get(rtp.codecId)?.mimeType)?.split('/')[1] ?? null,
    rtp,
    // A report stays when no other follows: of a dead call it would show the past, for ever.
    remote: Number(rtp.timestamp) - Number(remote.timestamp) > stalestMs ? none : remote,
    source: byId.get(rtp.mediaSourceId) ?? none,
  };
}

/** transport.selectedCandidatePairId is in both browsers; the rest is for look-alikes. */
function selectedPairs(byId: Map<unknown, Report>, ofType: OfType): readonly Report[] {
  const selected = ofType('transport').flatMap(({ selectedCandidatePairId, bytesReceived }) => {
    const pair = byId.get(selectedCandidatePairId);
    if (!pair) return [];
    // Chromium counts what comes from another address than the pair's in a pair of its own.
    const whole: Report = { ...pair, bytesReceived: pair.bytesReceived || bytesReceived };
    byId.set(pair.id, whole);
    return [whole];
  });
  if (selected.length) return selected;
  // Of several that are selected, as Firefox has had them, the busiest.
  const pairs = [...ofType('candidate-pair')].sort((a, b) => Number(b.bytesReceived) - Number(a.bytesReceived));
  const pair =
    pairs.find((p) => p.selected === true) ?? pairs.find((p) => p.nominated === true && p.state === 'succeeded');
  return pair ? [pair] : [];
}
