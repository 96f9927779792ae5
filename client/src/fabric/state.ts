// The state of one monitored PeerConnection in one conference.

import type { Clock, Stamp } from '../clock.ts';
import type { SetupTimes, States } from '../lifecycle.ts';
import type { SourceInfo } from '../sdp.ts';
import type { Session } from '../session/state.ts';
import type { Monitor } from '../stats/monitor.ts';
import type { Reader } from '../stats/read.ts';
import type { UserID } from '../types.ts';

/** The arguments of addNewFabric(). */
export interface FabricDescription {
  conferenceID: string;
  remoteUserID: UserID;
  fabricUsage: string;
  remoteEndpointType: string;
  fabricTransmissionDirection: string;
}

/** A fabric as it is announced; nothing changes it. */
export interface FabricInfo extends FabricDescription {
  /** Its number in the session, from 1. */
  fabric: number;
  addedAt: Stamp;
}

/** Why a fabric ended. */
export type EndReason = 'application' | 'closed' | 'pagehide' | 'replaced';

/** The arguments of associateMstWithUserID() for one SSRC. */
export interface Association {
  userID: UserID;
  usageLabel: string;
  associatedVideoTag: unknown;
  /** The id of that element, as it is recorded. */
  tagID: string | null;
}

/** What the application said about the streams of a track, a sender or a receiver. */
export interface Given {
  owner?: Association | undefined;
  /** The data of their pause, while there is one. */
  pause?: object | undefined;
}

/** A stream, its names in the SDP, and what the page has of it. */
export interface Source extends SourceInfo {
  ssrc: number;
  mediaType: string;
  isSent: boolean;
  /** The layer of a simulcast. */
  rid: unknown;
  transceiver: RTCRtpTransceiver | undefined;
  /** Its sender or receiver. */
  rtpEnd: RTCRtpSender | RTCRtpReceiver | undefined;
  /** The data of the pause that was recorded last, while it lasts. Written by updatePause(). */
  pauseData?: object | undefined;
  /** Whether it is played, if it is received audio: playing, none or refused. Written by updatePlayout(). */
  playout: string;
  /** The limits of its encoding that were recorded last, as text. Written by updateSources(). */
  limits?: string;
}

/** A set-up that is recorded when its candidates are known. */
export interface PendingSetup {
  durations: SetupTimes;
  stamp: Stamp;
}

/** The life of one PeerConnection so far, as fabric/states.ts writes it. Times are ms of the monotonic clock. */
export interface Lifecycle {
  /** The application's PeerConnection. */
  pc: States;
  clock: Clock;
  /** Reads the states at each of the PeerConnection's own events. */
  listener(): void;
  /** When the library began to read the states. */
  startedMs: number;
  /** It was connected by then: nothing is known of its set-up. Reset by the first reading. */
  wasConnected: boolean;
  /** A remote description was in force. */
  remoteSet: boolean;
  /** It was connected. */
  established: boolean;
  /** It failed before it was connected. */
  failed: boolean;
  /** When gathering and connectivity checks began and gathering ended; absent where that was not seen. */
  gatheringAtMs?: number;
  gatheredAtMs?: number;
  checkingAtMs?: number;
  /** When the present disruption began; absent for none. */
  disruptedAtMs?: number | undefined;
  /** The local description that was settled last; "" for none. */
  settledSdp: string;
  /** The ICE user name fragment of the last description that had one. */
  ufrag?: string | undefined;
  /** The states at the last readChanged(). */
  lastStates: string;
}

/** One monitored PeerConnection. */
export interface Fabric extends Lifecycle {
  /** Its session. */
  owner: Session;
  info: FabricInfo;
  /** Its streams so far. Written by stats/monitor.ts. */
  monitor: Monitor;
  /** Asks it for its reports. */
  reader: Reader;
  /** getStats has not answered the last measurement. Written by measure(). */
  awaiting: boolean;
  /** fabricSetup, which waits for the first reading; undefined for none. Written by connected() and recordSetup(). */
  pendingSetup?: PendingSetup | undefined;
  /** By SSRC. Written by associate(). */
  associations: Map<number, Association>;
  /** By the key of a stream. Written by record.ts. */
  sources: Map<string, Source>;
  /** By track, sender or receiver. Written by users.ts. */
  given: WeakMap<object, Given>;
  /** The remote user by now. Written by rename(). */
  remoteUser: UserID;
  /** When it ended; undefined before. Written by end(). */
  ending?: Stamp;
  /** What the application said to be muted as a whole: audio, video, or fabric on hold. Written by sendFabricEvent(). */
  muted: Set<string>;
  /** It sends a screen, as the application says. Written by sendFabricEvent(). */
  sharing?: boolean;
  /** The last reading was recorded, or there is none. Written by end.ts. */
  done: boolean;
}
