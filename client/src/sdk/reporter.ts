// Reports an SDK: its state is read after each of its events, and compared with what was reported before.

import { attempt } from './attach.ts';
import type { AttachOptions, ConferenceID, Monitor } from './attachment.ts';
import { type Connection, createConnections, type Live, negotiation } from './connections.ts';
import { createReport, type Entry, type Send, type Stream } from './streams.ts';

/** Reports the connections and streams of an SDK. */
export interface Reporter {
  /** The connections that have no end yet. */
  live: Live;
  /**
   * Reads the SDK's state and reports what changed; over ends all fabrics. Returns the first refusal of the
   * monitor. It does not throw, and does nothing after undo has run.
   */
  refresh(over?: boolean): string | undefined;
}

/** Milliseconds between two attempts to read an SSRC. */
const retryMs = 1000;

/** Reports an SDK until undo has run: sdk is the remote user of each fabric. */
export function createReporter(
  monitor: Monitor,
  sdk: string,
  conferenceID: ConferenceID,
  options: AttachOptions,
  undo: (() => void)[],
  connections: () => Connection[],
  streams: () => Stream[],
): Reporter {
  const entries = new Map<unknown, Entry>();
  const live: Live = new Map();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const send: Send = (pc, event, data) => monitor.sendFabricEvent(pc, event, conferenceID, data);
  const update = createConnections(monitor, sdk, conferenceID, options, live, negotiated);
  const report = createReport(monitor, conferenceID, live, send);

  function negotiated(): void {
    for (const entry of entries.values()) entry.read = false;
    refresh();
  }

  /** Reads the SSRCs; none is known before the first packet. */
  async function read(entry: Entry): Promise<void> {
    const { rtp, pc, sent } = entry;
    const ssrcs: number[] = [];
    const reports = (await rtp?.getStats()) ?? new Map();
    for (const { type, ssrc } of reports.values())
      if (type === (sent ? 'outbound-rtp' : 'inbound-rtp')) ssrcs.push(ssrc);
    const known = live.get(pc as RTCPeerConnection);
    if (!known || !ssrcs[0] || entry.rtp !== rtp || entries.get(entry.key) !== entry) return;
    entry.read = true;
    entry.ssrcs = ssrcs;
    for (const ssrc of ssrcs) known.set(ssrc, { ...known.get(ssrc), entry });
    report(entry);
  }

  /** Compares a stream with what is known. */
  function see(stream: Stream): void {
    const { key, pc, reason } = stream;
    const entry: Entry = entries.get(key) ?? { ...stream, ssrcs: [] };
    entries.set(key, entry);
    const rtp = stream.rtp ?? entry.rtp;
    if (rtp !== entry.rtp || pc !== entry.pc) Object.assign(entry, { ssrcs: [], read: false });
    Object.assign(entry, stream, { rtp });
    report(entry);
    // The receiver of a stream without a track may be that of another stream.
    if (!stream.rtp || entry.read || !live.has(pc as RTCPeerConnection)) return;
    read(entry).catch(() => undefined);
    if (!reason) timer ??= setTimeout(retry, retryMs);
  }

  function retry(): void {
    timer = undefined;
    refresh();
  }

  function drop(entry: Entry): void {
    entries.delete(entry.key);
    const { sent, sharing } = entry;
    if (!sent) report(Object.assign(entry, { reason: 'ended' }));
    else if (sharing && live.has(sharing)) send(sharing, 'screenShareStop');
  }

  function refresh(over?: boolean): string | undefined {
    return attempt(() => {
      if (!undo.length) return;
      const refusal = update(over ? [] : connections());
      const current = over ? [] : streams();
      for (const entry of entries.values()) if (!current.some(({ key }) => key === entry.key)) drop(entry);
      current.forEach(see);
      return refusal;
    });
  }

  undo.push(() => {
    for (const pc of live.keys()) pc.removeEventListener(negotiation, negotiated);
    clearTimeout(timer);
    entries.clear();
  });
  return { live, refresh };
}
