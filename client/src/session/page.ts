// A session while its page is hidden, left and shown again. pagehide and visibilitychange only:
// unload and beforeunload handlers would keep the page out of the back/forward cache.

import { passOn } from '../fabric/users.ts';
import { isClosed } from '../lifecycle.ts';
import { attempt } from '../result.ts';
import { flush } from '../transport/post.ts';
import { sendNow, suspend, wake } from '../transport/transport.ts';
import { liveFabrics } from './conferences.ts';
import { addFabric, endAll, readAllStates } from './fabrics.ts';
import type { Session } from './state.ts';

/** Listens to the page, where there is one, until s.listening is aborted. */
export function watchPage(s: Session): void {
  s.listening = new AbortController();
  const { signal } = s.listening;
  const listen = (target: EventTarget | undefined, type: string, handle: typeof pageChanged) =>
    target?.addEventListener?.(type, (event) => attempt(() => handle(s, event as PageTransitionEvent)), { signal });
  if (!s.info.config.disableBeforeUnloadHandler) listen(globalThis, 'pagehide', pageLeft);
  listen(globalThis, 'pageshow', pageChanged);
  listen(globalThis, 'online', pageChanged);
  listen(globalThis.document, 'visibilitychange', pageChanged);
}

/** The page is left. Its fabrics end also where it may return (persisted): whether it will is unknown. */
function pageLeft(s: Session, { persisted }: PageTransitionEvent): void {
  readAllStates(s);
  s.cached = persisted ? liveFabrics(s) : [];
  endAll(s, 'pagehide');
  flush(s);
  if (persisted) suspend(s);
}

/** The page is in front or out of sight, it was in the back/forward cache, or the network is back. */
function pageChanged(s: Session, { type, persisted }: PageTransitionEvent): void {
  const wasCached = type === 'pageshow' && persisted;
  if (wasCached || globalThis.document?.visibilityState !== 'hidden') pageShown(s, wasCached);
  else {
    // A phone may end it without another event. A PeerConnection that was closed by now has ended.
    readAllStates(s);
    sendNow(s);
  }
}

function pageShown(s: Session, wasCached: boolean): void {
  const before = wasCached ? s.cached.splice(0) : [];
  for (const fabric of before) {
    const { pc, info, remoteUser: remoteUserID } = fabric;
    if (!isClosed(pc)) passOn(fabric, addFabric(s, pc, { ...info, remoteUserID }));
  }
  wake(s);
}
