// Whether a server that grants no relay is there at all: a STUN request, which needs no credentials.

import type { PreCallReason } from '../types.ts';
import { stunMs } from './limits.ts';
import type { Run } from './test.ts';

/**
 * Asks the host of a TURN URL. Resolves to noRelay if it answers, nameNotResolved if its name has no address, and
 * unreachable otherwise. The candidates stay in this function.
 */
export async function askByStun(run: Run, url: string): Promise<PreCallReason> {
  const [, host = ''] = /^turns?:([^?]+)/i.exec(url) ?? [];
  const pc = new RTCPeerConnection({ iceServers: [{ urls: `stun:${host}` }] });
  const close = () => pc.close();
  run.signal.addEventListener('abort', close, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const answer = new Promise<PreCallReason>((resolve) => {
    timer = setTimeout(() => resolve('unreachable'), stunMs);
    let gathered = false;
    let failed = false;
    pc.onicecandidate = ({ candidate }) => {
      if (candidate?.type === 'srflx') resolve('noRelay');
      gathered ||= candidate?.protocol === 'udp';
    };
    // Firefox has no text. A request without an answer ends later than stunMs.
    pc.onicecandidateerror = ({ errorText }) => {
      failed ||= !errorText || /lookup/i.test(errorText);
    };
    // Without a NAT, the address that the server answers is that of the host, which is no candidate of its own.
    pc.onicegatheringstatechange = () => {
      if (pc.iceGatheringState === 'complete')
        resolve(failed ? 'nameNotResolved' : gathered ? 'noRelay' : 'unreachable');
    };
  });
  try {
    pc.createDataChannel('');
    await pc.setLocalDescription();
    return await Promise.race([answer, run.aborted]);
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', close);
    close();
  }
}
