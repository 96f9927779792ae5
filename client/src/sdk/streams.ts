// What is reported about one stream: its owner, its label, its pauses.

import type { FabricEvent, ID } from '../types.ts';
import type { ConferenceID, Monitor, PauseReason } from './attachment.ts';
import type { Live } from './connections.ts';

/** A stream as the SDK has it now. */
export interface Stream {
  /** What the SDK has for it as long as it exists. */
  key: unknown;
  /** Its connection, which may have ended. */
  pc: RTCPeerConnection | null | undefined;
  /** Its sender or receiver; undefined while the page does not subscribe to it. */
  rtp: RTCRtpSender | RTCRtpReceiver | null | undefined;
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

/** Sends an event of a connection. */
export type EventOf = (event: FabricEvent, data?: object) => void;

/** Reports a stream that this page sends, as reportSource() does. */
export type Sources = (stream: Stream, known: Map<string, string>, send: EventOf) => boolean | undefined;

export const eventOf = ({ kind, reason }: Stream): FabricEvent => {
  if (kind === 'audio') return reason ? 'audioMute' : 'audioUnmute';
  return reason ? 'videoPause' : 'videoResume';
};

/** Returns a function that reports a stream whose connection is live; the library drops what it knows already. */
export function createReport(monitor: Monitor, conferenceID: ConferenceID, live: Live, sources?: Sources) {
  /** By sender or receiver, the key of the stream that has it now. */
  const holders = new WeakMap<object, unknown>();

  /** isOwn: the sender or receiver is that of the stream from now on. */
  return (stream: Stream, isOwn?: boolean): void => {
    const { key, pc, rtp, userID, label, reason, element } = stream;
    const known = pc && live.get(pc);
    if (!known) return;
    const send: EventOf = (event, data) => monitor.sendFabricEvent(pc, event, conferenceID, data);
    const isOver = sources?.(stream, known, send);
    if (!rtp || isOver) return;
    if (isOwn) holders.set(rtp, key);
    if (holders.get(rtp) !== key) return;
    monitor.associateMstWithUserID(pc, userID, conferenceID, rtp, label, element);
    if (isOver === undefined) send(eventOf(stream), { ssrc: rtp, reason: reason || undefined });
  };
}
