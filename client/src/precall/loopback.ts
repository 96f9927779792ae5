// Two PeerConnections of the page that reach each other through one TURN server only.

import { cutBytes } from '../validate.ts';
import { maxRoundTripMs, maxTextBytes, relayTrips, waitTrips } from './limits.ts';
import { Failure, reasonOfError } from './reason.ts';
import type { Way } from './servers.ts';
import { leftMs, now, type Run, trips } from './test.ts';

/** A relayed connection of the page with itself. */
export interface Loopback {
  /** Measurements are sent by this end, and answers received. */
  near: RTCDataChannel;
  /** Measurements are received by this end, and answers sent. */
  far: RTCDataChannel;
  connectMs: number;
  close(): void;
}

/** How far a connection got. */
interface Reached {
  /** The round trip that the relay showed, ms; undefined while there is no relay. */
  roundTripMs?: number;
  /** ICE connected an end. */
  ice?: boolean;
}

/** Connects; waits at least leastMs for a relay, and again for the connection. Rejects with a Failure. */
export async function connect(run: Run, [protocol, server]: Way, leastMs: number): Promise<Loopback> {
  const startedAt = now();
  const reached: Reached = {};
  const ends: RTCPeerConnection[] = [];
  const limit = startLimit(run, reached, leastMs);
  const close = () => {
    run.signal.removeEventListener('abort', close); // the signal is that of the whole test
    for (const pc of ends) pc.close();
  };
  run.signal.addEventListener('abort', close, { once: true });
  try {
    for (let i = 0; i < 2; i++) ends.push(makeEnd(server));
    // Negotiated: the channels need no message of their own to open, and so none that may be lost.
    const [near, far] = ends.map((pc) =>
      Object.assign(pc.createDataChannel('', { ordered: false, maxRetransmits: 0, negotiated: true, id: 0 }), {
        binaryType: 'arraybuffer' as const,
      }),
    ) as [RTCDataChannel, RTCDataChannel];
    const hasRelay = () => {
      if (reached.roundTripMs !== undefined) return;
      reached.roundTripMs = (now() - startedAt) / relayTrips[protocol];
      limit.set(Math.max(leastMs, trips(waitTrips.connection, reached.roundTripMs)));
      run.show(reached.roundTripMs);
    };
    await Promise.race([established(ends, reached, hasRelay), limit.passed, run.aborted]);
    const connectMs = now() - startedAt;
    await Promise.race([Promise.all([near, far].map(opened)), limit.passed, run.aborted]);
    return { near, far, connectMs, close };
  } catch (error) {
    close();
    if (error instanceof Failure) throw error;
    if (!run.signal.aborted) throw new Failure('other', `internal error: ${(error as Error)?.name}`);
    throw new Failure(isOutOfTime(run, reached) ? 'tooSlow' : 'notTested', 'not finished');
  } finally {
    limit.clear();
  }
}

const isOutOfTime = ({ signal }: Run, { roundTripMs }: Reached) => signal.reason === null && roundTripMs !== undefined;

/** The wait for the next stage of a connection. It is shorter as soon as another connection shows the round trip. */
function startLimit(run: Run, reached: Reached, leastMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reject: (failure: Failure) => void = () => undefined;
  const passed = new Promise<never>((_, rejects) => {
    reject = rejects;
  });
  passed.catch(() => undefined);
  const startedAt = now();
  const set = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reject(new Failure(lateReason(reached), `no connection within ${Math.round(now() - startedAt)} ms`));
    }, ms);
  };
  const forRelay = () => {
    const waitedMs = now() - startedAt;
    const ms = Math.max(leastMs, trips(waitTrips.relay, run.roundTripMs)) - waitedMs;
    set(Math.min(ms, 0.75 * leftMs(run))); // the reason is known before the test ends
  };
  let cleared = false;
  forRelay();
  run.shown.then(() => {
    if (!cleared && reached.roundTripMs === undefined) forRelay();
  });
  const clear = () => {
    cleared = true;
    clearTimeout(timer);
  };
  return { passed, set, clear };
}

function lateReason({ roundTripMs, ice }: Reached) {
  if (roundTripMs === undefined) return 'unreachable';
  return ice || roundTripMs > maxRoundTripMs ? 'tooSlow' : 'relayBlocked';
}

function makeEnd(server: RTCIceServer): RTCPeerConnection {
  try {
    return new RTCPeerConnection({ iceServers: [server], iceTransportPolicy: 'relay' });
  } catch (error) {
    // Its message may repeat the URL.
    throw new Failure(
      server.username && server.credential ? 'badUrl' : 'credentials',
      `refused by the browser: ${(error as Error).name}`,
    );
  }
}

/** Resolves when both ends are connected; rejects when that cannot happen any more. */
function established(ends: RTCPeerConnection[], reached: Reached, hasRelay: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    ends.forEach((pc, i) => {
      const other = ends[1 - i] as RTCPeerConnection;
      // A browser that has this event and does not fire it did not try.
      let failure = new Failure('onicecandidateerror' in pc ? 'badUrl' : 'other', 'no relay candidate');
      let found = false;
      let code = 1000;
      pc.onicecandidate = ({ candidate }) => {
        if (!candidate) return;
        if (candidate.candidate) {
          found = true;
          hasRelay();
        }
        other.addIceCandidate(candidate).catch(() => undefined); // of the other end that is closed by now
      };
      pc.onicecandidateerror = ({ errorCode, errorText }) => {
        if (errorCode > code) return; // an answer of the server, below 700, says more
        code = errorCode;
        failure = new Failure(
          reasonOfError(errorCode, errorText),
          cutBytes(`${errorCode} ${errorText}`.trim(), maxTextBytes),
        );
      };
      pc.onicegatheringstatechange = () => {
        if (pc.iceGatheringState === 'complete' && !found) reject(failure);
      };
      pc.oniceconnectionstatechange = () => {
        reached.ice ||= ['connected', 'completed'].includes(pc.iceConnectionState);
      };
      pc.onconnectionstatechange = () => {
        if (pc.connectionState === 'failed' && found)
          reject(new Failure('relayBlocked', 'the relay passes nothing on'));
        if (ends.every((end) => end.connectionState === 'connected')) resolve();
      };
    });
    negotiate(ends as [RTCPeerConnection, RTCPeerConnection]).catch((error) =>
      reject(new Failure('other', `no negotiation: ${error?.name}`)),
    );
  });
}

async function negotiate([near, far]: [RTCPeerConnection, RTCPeerConnection]): Promise<void> {
  await near.setLocalDescription();
  await far.setRemoteDescription(near.localDescription as RTCSessionDescription);
  await far.setLocalDescription();
  await near.setRemoteDescription(far.localDescription as RTCSessionDescription);
}

const opened = (channel: RTCDataChannel) =>
  new Promise<void>((resolve) => {
    if (channel.readyState === 'open') resolve();
    else channel.onopen = () => resolve();
  });
