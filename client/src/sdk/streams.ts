// What is reported about one stream: its owner, its label, its pauses, the start of a screen.

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
export type Send = (pc: RTCPeerConnection, event: FabricEvent, data?: object) => void;

const eventOf = ({ kind, reason }: Stream): FabricEvent => {
  if (kind === 'audio') return reason ? 'audioMute' : 'audioUnmute';
  return reason ? 'videoPause' : 'videoResume';
};

/** Returns a function that reports a stream whose connection is live; the library drops what it knows already. */
export function createReport(monitor: Monitor, conferenceID: ConferenceID, live: Live, send: Send) {
  /** By sender or receiver, the key of the stream that has it now. */
  const holders = new WeakMap<object, unknown>();

  /** The microphone, the camera and the screen of this page are reported as a whole. */
  function reportSource(pc: RTCPeerConnection, known: Map<string, string>, stream: Stream): void {
    const { label, reason } = stream;
    const now = label === 'screen' ? label : reason;
    if ((known.get(label) ?? '') === now) return;
    known.set(label, now);
    send(pc, now === label ? 'screenShareStart' : eventOf(stream));
  }

  /** isOwn: the sender or receiver is that of the stream from now on. */
  return (stream: Stream, isOwn?: boolean): void => {
    const { key, pc, rtp, sent, userID, label, reason, element } = stream;
    const known = pc && live.get(pc);
    if (!known) return;
    const isSource = sent && /^[mc]|^screen$/.test(label);
    if (isSource) reportSource(pc, known, stream);
    if (!rtp) return;
    if (isOwn) holders.set(rtp, key);
    if (holders.get(rtp) !== key) return;
    monitor.associateMstWithUserID(pc, userID, conferenceID, rtp, label, element);
    if (!isSource || label === 'screen') send(pc, eventOf(stream), { ssrc: rtp, reason: reason || undefined });
  };
}
