// The streams of an SDK's connections. The SDK's state is read after each of its events, and only differences to
// what was reported before are reported: owners, labels, mutes, pauses, screens.

import type { FabricEvent, ID } from '../types.ts';
import { attempt } from './attach.ts';
import type { AttachOptions, ConferenceID, Monitor, PauseReason } from './attachment.ts';
import { type Connection, createConnections, type Live, negotiation, type Reported } from './connections.ts';

/** A stream as the SDK has it now. */
export interface Stream {
  /** What the SDK has for it as long as it exists. */
  key: unknown;
  /** Its connection, which may have ended. */
  pc: RTCPeerConnection | null | undefined;
  /** Its sender or receiver; undefined while the page does not subscribe to it. */
  rtp: Rtp | null | undefined;
  /** True if this page sends it. */
  sent?: boolean;
  /** Sound or picture. */
  kind: string;
  /** The owner. */
  userID: ID;
  /** microphone, camera, screen or screen audio; the kind where none of these is known. */
  label: string;
  /** Why nothing is expected from it; empty while something is. */
  reason: PauseReason | '';
  /** The element that shows it. */
  element?: unknown;
}

/** A sender or a receiver. */
export type Rtp = Pick<RTCRtpReceiver, 'getStats'>;

/** A stream, and what was found about it. */
interface Entry extends Stream {
  /** Empty before the first packet. */
  ssrcs: number[];
  /** Whether they were read after the last negotiation. */
  read?: boolean;
  /** The connection on which screenShareStart was sent. */
  sharing?: RTCPeerConnection;
}

/** Reports the connections and streams of an SDK. */
export interface Reporter {
  /** The connections that have no end yet. */
  live: Live;
  /** Reads the SDK's state and reports what changed. Returns the first refusal of the monitor. It does not throw. */
  refresh(): string | undefined;
  /** Ends all fabrics. */
  end(): void;
}

/** Milliseconds between two attempts to read an SSRC. */
const retryMs = 1000;

/** Whether a mute is that of the whole connection: of the own microphone and the own camera. */
const isWhole = ({ sent, label }: Stream) => sent && /^[mc]/.test(label);

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
  const update = createConnections(monitor, sdk, conferenceID, options, live, negotiated);

  function negotiated(): void {
    for (const entry of entries.values()) entry.read = false;
    refresh();
  }

  const send = (pc: RTCPeerConnection, event: FabricEvent, data?: object) =>
    monitor.sendFabricEvent(pc, event, conferenceID, data);

  /** Sends a pause or its end if it differs from what was sent. */
  function pause(pc: RTCPeerConnection, reported: Reported, { kind, reason }: Entry, ssrc?: number): void {
    const before = reported.paused;
    if (!before === !reason) return;
    reported.paused = reason;
    const event = kind === 'audio' ? (reason ? 'audioMute' : 'audioUnmute') : reason ? 'videoPause' : 'videoResume';
    send(pc, event, ssrc ? { ssrc, reason: reason || before } : undefined);
  }

  /** Reports the owner and the pause of a stream. */
  function report(entry: Entry, known = live.get(entry.pc as RTCPeerConnection)): void {
    const { pc, sent, label, userID } = entry;
    if (!pc || !known) return;
    if (sent && label === 'screen' && entry.sharing !== pc) send((entry.sharing = pc), 'screenShareStart');
    for (const ssrc of entry.ssrcs) {
      const reported = known.get(ssrc);
      if (reported?.entry !== entry) continue;
      const owner = label + userID;
      const element = entry.element ?? reported.element;
      if (owner !== reported.owner || element !== reported.element)
        monitor.associateMstWithUserID(pc, userID, conferenceID, ssrc, label, element);
      Object.assign(reported, { owner, element });
      if (!isWhole(entry)) pause(pc, reported, entry, ssrc);
    }
    if (!isWhole(entry)) return;
    known.set(label, known.get(label) ?? {});
    pause(pc, known.get(label) as Reported, entry);
  }

  /** Reads the SSRCs; none is known before the first packet. */
  async function read(entry: Entry): Promise<void> {
    const { rtp, pc, sent } = entry;
    const ssrcs: number[] = [];
    const type = sent ? 'outbound-rtp' : 'inbound-rtp';
    for (const report of ((await rtp?.getStats()) ?? new Map()).values())
      if (report.type === type) ssrcs.push(report.ssrc);
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

  function drop(entry: Entry): void {
    entries.delete(entry.key);
    const { sent, sharing } = entry;
    if (!sent) report(Object.assign(entry, { reason: 'ended' }));
    else if (sharing && live.has(sharing)) send(sharing, 'screenShareStop');
  }

  function retry(): void {
    timer = undefined;
    refresh();
  }

  const refresh = () =>
    attempt(() => {
      const refusal = update(connections());
      const current = streams();
      for (const entry of entries.values()) if (!current.some(({ key }) => key === entry.key)) drop(entry);
      current.forEach(see);
      return refusal;
    });

  function forget(): void {
    clearTimeout(timer);
    timer = undefined;
    entries.clear();
  }

  undo.push(() => {
    for (const pc of live.keys()) pc.removeEventListener(negotiation, negotiated);
    forget();
  });
  return {
    live,
    refresh,
    end() {
      update([]);
      forget();
    },
  };
}
