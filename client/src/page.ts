// What the page's own life means for a session. pagehide and visibilitychange only: unload
// and beforeunload handlers would keep the page out of the back/forward cache.

import { attempt } from './result.ts';

/** What a session does when the page changes. */
export interface PageEvents {
  /** The page goes; kept: it may come back from the back/forward cache. */
  hidden(kept: boolean): void;
  /** The page is in front again, or the network is back; returned: from that cache. */
  shown(returned: boolean): void;
  /** The page is out of sight: a phone may end it without another word. */
  covered(): void;
}

/** Listens to the page; returns what stops it. Without a page there is nothing to hear. */
export function watchPage({ hidden, shown, covered }: PageEvents, withPagehide: boolean): () => void {
  const listening = new AbortController();
  const listen = (target: EventTarget | undefined, type: string, heard: (event: PageTransitionEvent) => void) =>
    target?.addEventListener?.(type, (event) => attempt(() => heard(event as PageTransitionEvent)), {
      signal: listening.signal,
    });
  const inFront = ({ type, persisted }: PageTransitionEvent) => {
    const returned = type === 'pageshow' && persisted;
    if (returned || globalThis.document?.visibilityState !== 'hidden') shown(returned);
    else covered();
  };
  if (withPagehide) listen(globalThis, 'pagehide', ({ persisted }) => hidden(persisted));
  listen(globalThis, 'pageshow', inFront);
  listen(globalThis, 'online', inFront);
  listen(globalThis.document, 'visibilitychange', inFront);
  return () => listening.abort();
}
