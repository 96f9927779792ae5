// Two PeerConnections of the page that reach each other through one TURN server only.

import { cutBytes } from '../validate.ts';
import { maxTextBytes } from './limits.ts';
import { now, type Run } from './test.ts';

/** A relayed connection of the page with itself. */
export interface Loopback {
  /** Measurements are sent by this end, and answers received. */
  near: RTCDataChannel;
  /** Measurements are received by this end, and answers sent. */
  far: RTCDataChannel;
  connectMs: number;
  close(): void;
}

/** Connects. Rejects with a text: the browser's reason, or the TURN server's. */
export async function connect(run: Run, server: RTCIceServer, limitMs: number): Promise<Loopback> {
  const startedAt = now();
  const ends: RTCPeerConnection[] = [];
  const close = () => {
    run.signal.removeEventListener('abort', close); // the signal is that of the whole test
    for (const pc of ends) pc.close();
  };
  run.signal.addEventListener('abort', close, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (let i = 0; i < 2; i++) ends.push(makeEnd(server));
    // Negotiated: the channels need no message of their own to open, and so none that may be lost.
    const [near, far] = ends.map((pc) =>
      Object.assign(pc.createDataChannel('', { ordered: false, maxRetransmits: 0, negotiated: true, id: 0 }), {
        binaryType: 'arraybuffer' as const,
      }),
    ) as [RTCDataChannel, RTCDataChannel];
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(`no connection within ${Math.round(limitMs)} ms`), limitMs);
    });
    await Promise.race([established(ends), limit, run.aborted]);
    const connectMs = now() - startedAt;
    await Promise.race([Promise.all([near, far].map(opened)), limit, run.aborted]);
    return { near, far, connectMs, close };
  } catch (error) {
    close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function makeEnd(server: RTCIceServer): RTCPeerConnection {
  try {
    return new RTCPeerConnection({ iceServers: [server], iceTransportPolicy: 'relay' });
  } catch (error) {
    // Its message may repeat the URL.
    throw `refused by the browser: ${(error as Error).name}`;
  }
}

/** Resolves when both ends are connected; rejects when that cannot happen any more. */
function established(ends: RTCPeerConnection[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let reason = 'no relay candidate';
    ends.forEach((pc, i) => {
      const other = ends[1 - i] as RTCPeerConnection;
      let found = false;
      pc.onicecandidate = ({ candidate }) => {
        if (!candidate) return;
        found ||= Boolean(candidate.candidate);
        other.addIceCandidate(candidate).catch(() => undefined); // of the other end that is closed by now
      };
      pc.onicecandidateerror = ({ errorCode, errorText }) => {
        reason = cutBytes(`${errorCode} ${errorText}`, maxTextBytes);
      };
      pc.onicegatheringstatechange = () => {
        if (pc.iceGatheringState === 'complete' && !found) reject(reason);
      };
      pc.onconnectionstatechange = () => {
        if (pc.connectionState === 'failed') reject('the relay passes nothing on');
        if (ends.every((end) => end.connectionState === 'connected')) resolve();
      };
    });
    negotiate(ends as [RTCPeerConnection, RTCPeerConnection]).catch((error) =>
      reject(`no negotiation: ${error?.name}`),
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
