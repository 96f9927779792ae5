// What the page's own life means for a session. pagehide and visibilitychange only: unload
// and beforeunload handlers would keep the page out of the back/forward cache.

import { attempt } from './result.ts';

/** What a session does when the page changes. */
export interface PageEvents {
  /** The page goes; kept: it may come back from the back/forward cache. */
  hidden(kept: boolean): void;
  /** The page is in front again, or the network is back; returned: from that cache. */
  shown(returned: boolean): void;
}

/** Listens to the page; returns what stops it. Without a page there is nothing to hear. */
export function watchPage(events: PageEvents, withPagehide: boolean): () => void {
  if (typeof addEventListener !== 'function') return () => undefined;
  const pagehide = (event: PageTransitionEvent) => attempt(() => events.hidden(event.persisted), undefined);
  const shown = (event: Event) => {
    const returned = event.type === 'pageshow' && (event as PageTransitionEvent).persisted;
    if (returned || typeof document !== 'object' || document.visibilityState !== 'hidden')
      attempt(() => events.shown(returned), undefined);
  };
  if (withPagehide) addEventListener('pagehide', pagehide);
  addEventListener('pageshow', shown);
  addEventListener('online', shown);
  if (typeof document === 'object') document.addEventListener('visibilitychange', shown);
  return () => {
    removeEventListener('pagehide', pagehide);
    removeEventListener('pageshow', shown);
    removeEventListener('online', shown);
    if (typeof document === 'object') document.removeEventListener('visibilitychange', shown);
  };
}
