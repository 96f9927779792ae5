// Reports an SDK: its state is read after each of its events, and compared with what was reported before.

import { attempt } from './attach.ts';
import type { AttachOptions, ConferenceID, Monitor } from './attachment.ts';
import { type Connection, createConnections, type Live } from './connections.ts';
import { createReport, type Sources, type Stream } from './streams.ts';

/** Reports the connections and streams of an SDK. */
export interface Reporter {
  /** The connections that have no end yet. */
  live: Live;
  /**
   * Reads the SDK's state and reports what changed. Returns the first refusal of the monitor. It does not throw, and
   * does nothing after undo has run.
   */
  refresh(): string | undefined;
}

/** Reports an SDK until undo has run: sdk is the remote user of each fabric. */
export function createReporter(
  monitor: Monitor,
  sdk: string,
  conferenceID: ConferenceID,
  options: AttachOptions,
  undo: (() => void)[],
  connections: () => Connection[],
  streams: () => Stream[],
  sources?: Sources,
): Reporter {
  const known = new Map<unknown, Stream>();
  const live: Live = new Map();
  const update = createConnections(monitor, sdk, conferenceID, options, live);
  const report = createReport(monitor, conferenceID, live, sources);

  /** A stream without a sender or receiver keeps its last one: another stream may have it by now. */
  function see(stream: Stream): void {
    const kept = { ...stream, rtp: stream.rtp ?? known.get(stream.key)?.rtp };
    known.set(stream.key, kept);
    report(kept, Boolean(stream.rtp));
  }

  function drop(stream: Stream): void {
    known.delete(stream.key);
    report({ ...stream, reason: 'ended' });
  }

  function refresh(): string | undefined {
    return attempt(() => {
      if (!undo.length) return;
      const refusal = update(connections());
      const current = streams();
      for (const stream of known.values()) if (!current.some(({ key }) => key === stream.key)) drop(stream);
      current.forEach(see);
      return refusal;
    });
  }

  return { live, refresh };
}
