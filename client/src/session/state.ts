// The state of one user's session (protocol section 2).

import type { Refusal, Token } from '../auth.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Fabric, FabricInfo } from '../fabric/state.ts';
import type { Instance } from '../instance.ts';
import type { Tester } from '../precall/host.ts';
import type { Queue } from '../queue.ts';
import type { Timer } from '../timer.ts';
import type { CsError, TokenGenerator, UserID } from '../types.ts';

/** The arguments of initialize(). */
export interface SessionInfo {
  base: string;
  appID: string;
  appSecret: string | TokenGenerator;
  userID: UserID;
  config: Config;
}

/** A session's connection to the collector. Times are ms of the monotonic clock. */
export interface Transport {
  /** The token of the last login, null when a login is needed. Written by login.ts, retry.ts and restart(). */
  sessionToken: Token | null;
  /** A token was refused, and no connection has been welcomed since. Written by retry.ts and hello.ts. */
  doubted: boolean;
  /** Renews the token; set by login.ts. */
  renewal: Timer;

  /** The WebSocket, null when there is none. Written by socket.ts and disconnect(). */
  socket: WebSocket | null;
  /** A login or an exchange is under way. Written by connect(), restart() and suspend(). */
  connecting: boolean;
  /** The collector accepted the last hello and has ended nothing since. Written by hello.ts and retry.ts. */
  ready: boolean;
  /** Nothing is sent before restart(): it was not started, it failed or the session ended. */
  stopped: boolean;
  /** Why it failed for the rest of the session; undefined while it may send. */
  halted: Refusal | undefined;
  /** The page is in the back/forward cache. Written by suspend() and wake(). */
  suspended: boolean;
  /** Counts restarts and suspensions: the results of older logins and requests are void. */
  generation: number;

  /** When the last hello was sent, and with which token. Written by hello.ts. */
  helloSentMs: number;
  helloToken: Token | null;
  /** When the collector accepted one; 0 when none has been accepted since restart(). */
  welcomedAtMs: number;
  /** The announcements that this WebSocket has had. Written by hello.ts and pump(). */
  announced: Set<string>;
  /** How many frames may be sent and not acknowledged. Written by hello.ts. */
  frameWindow: number;

  /** Nothing is sent until the end of a pause. Written by send.ts and disconnect(). */
  sendingPaused: boolean;
  /** After the pause everything that is not acknowledged is sent again. Written by hold(). */
  rewinds: boolean;
  /** Ends a pause. */
  pause: Timer;

  /** Ends a silent connection; set by socket.ts. */
  watchdog: Timer;
  /** An acknowledgement was missing when the watchdog last ran. Written by socket.ts. */
  overdue: boolean;

  /** Connects, or sends the next POST. */
  nextTry: Timer;
  /** Connections that failed in a row, for the back-off. Written by retry.ts, receive.ts and restart(). */
  attempts: number;
  /** The collector wants no connection before. Written by retry() and restart(). */
  notBeforeMs: number;
  /** WebSockets that failed in a row. Written by socketFailed(), hello.ts, receive.ts and restart(). */
  socketRefusals: number;
  /** WebSockets are refused, and frames are sent by POST. Written by socketFailed(), hello.ts and restart(). */
  posting: boolean;
  /** No WebSocket is tried before. Written by socketFailed() and restart(). */
  postUntilMs: number;
}

/** A user's session from initialize() on. */
export interface Session extends Transport {
  instance: Instance;
  /** Of the last initialize(). Written by continueSession(). */
  info: SessionInfo;
  clock: Clock;
  queue: Queue;
  /** Its ID, "" before the first login. Written by hello.ts. */
  id: string;
  /** The results that were reported since the last change between success and outage. Written by reportOnce(). */
  reported: Set<CsError>;
  /** Its pre-call tests, once one was requested. Written by tests.ts. */
  tester?: Promise<Tester> | undefined;
  /** Ends listening to the page. Written by watchPage(). */
  listening?: AbortController;

  /** The fabrics that have not ended, in the order in which they were added. Written by fabrics.ts and forget(). */
  fabrics: Fabric[];
  /** The last fabrics that ended. Written by forget(). */
  ended: FabricInfo[];
  /** The fabrics of a page that is in the back/forward cache. Written by page.ts. */
  cached: Fabric[];
  /** The number of the newest fabric; 0 before the first. Written by addFabric(). */
  lastFabric: number;
  /** By fabric, its announcement. Written by addFabric() and forget(). */
  announcements: Map<number, () => string>;
  /** By conference, the local user since reportUserIDChange(). Written by renameLocal() and forget(). */
  renamed: Map<string, UserID>;

  /** The template of conference URLs, "" for none. Written by hello.ts. */
  urlTemplate: string;
  /** By fabric, its URL since the last welcome. Written by hello.ts, conferenceURL() and forget(). */
  urlByFabric: Map<number, string | null>;
  /** Lower bounds of the quality labels. Written by hello.ts. */
  bounds: readonly number[];

  /** Between two measurements. Written by measureEvery(). */
  periodMs: number;
  /** When all fabrics were measured last, on the monotonic clock. Written by measureAll() and addFabric(). */
  measuredAtMs: number;
  /** Measures all fabrics; set by schedule.ts. */
  measureTimer: Timer;
  /** Reads the states of all fabrics between two measurements; set by schedule.ts. */
  statesTimer: Timer;
  /** All that waits is sent in a microtask. Written by sendSoon(). */
  sendsSoon: boolean;
}
