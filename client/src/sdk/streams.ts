// What is reported about one stream: its owner, its label, its pauses, the start of a screen. Only differences to
// what was reported before are sent.

import type { FabricEvent, ID } from '../types.ts';
import type { ConferenceID, Monitor, PauseReason } from './attachment.ts';
import type { Live, Reported } from './connections.ts';

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
  /** microphone, camera, screen or screen audio; unknown where the SDK has no source. */
  label: string;
  /** Why nothing is expected from it; empty while something is. */
  reason: PauseReason | '';
  /** The element that shows it. */
  element?: unknown;
}

/** A sender or a receiver. */
export type Rtp = Pick<RTCRtpReceiver, 'getStats'>;

/** A stream, and what was found about it. */
export interface Entry extends Stream {
  /** Empty before the first packet. */
  ssrcs: number[];
  /** Whether they were read after the last negotiation. */
  read?: boolean;
  /** The connection on which screenShareStart was sent. */
  sharing?: RTCPeerConnection;
}

/** Sends an event of a connection. */
export type Send = (pc: RTCPeerConnection, event: FabricEvent, data?: object) => void;

/** Whether a mute is that of the whole connection: of the own microphone and the own camera. */
const isWhole = ({ sent, label }: Stream) => sent && /^[mc]/.test(label);

/** Returns a function that reports what changed about a stream whose connection is live. */
export function createReport(monitor: Monitor, conferenceID: ConferenceID, live: Live, send: Send) {
  /** Sends a pause or its end if it differs from what was sent. */
  function pause(pc: RTCPeerConnection, reported: Reported, { kind, reason }: Entry, ssrc?: number): void {
    const before = reported.paused;
    if (!before === !reason) return;
    reported.paused = reason;
    const event = kind === 'audio' ? (reason ? 'audioMute' : 'audioUnmute') : reason ? 'videoPause' : 'videoResume';
    send(pc, event, ssrc ? { ssrc, reason: reason || before } : undefined);
  }

  /** Names the owner of a stream if it, the label or the element differs from what was sent. */
  function name({ userID, label, element }: Entry, pc: RTCPeerConnection, reported: Reported, ssrc: number): void {
    const owner = label + userID;
    element ??= reported.element;
    if (owner !== reported.owner || element !== reported.element)
      monitor.associateMstWithUserID(pc, userID, conferenceID, ssrc, label, element);
    Object.assign(reported, { owner, element });
  }

  return (entry: Entry): void => {
    const { pc, sent, label } = entry;
    const known = pc && live.get(pc);
    if (!known) return;
    if (sent && label === 'screen' && entry.sharing !== pc) {
      entry.sharing = pc;
      send(pc, 'screenShareStart');
    }
    for (const ssrc of entry.ssrcs) {
      const reported = known.get(ssrc);
      if (reported?.entry !== entry) continue;
      name(entry, pc, reported, ssrc);
      if (!isWhole(entry)) pause(pc, reported, entry, ssrc);
    }
    if (!isWhole(entry)) return;
    const reported = known.get(label) ?? {};
    known.set(label, reported);
    pause(pc, reported, entry);
  };
}
