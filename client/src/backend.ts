// Where the collector is (requirement LIB-03).

import { attempt, Invalid } from './result.ts';

/** The base URL, with a slash at its end: backendUrl, or the folder the library came from. */
export function findBackend(backendUrl: string | undefined, scriptUrl: string | undefined): string {
  if (backendUrl !== undefined) {
    const url = parse(backendUrl);
    if (!url) throw new Invalid('configParams.backendUrl must be an http or https URL');
    return url.href.replace(/\/?([?#].*)?$/, '/');
  }
  const url = parse(scriptUrl ?? '');
  // A bundle has a URL too, but it is the application's: only our own file names count.
  if (url && /\/qos(\.min)?\.m?js$/.test(url.pathname)) return new URL('.', url).href;
  throw new Invalid('the collector is unknown: load the library from it or set configParams.backendUrl');
}

/** An http or https URL. */
function parse(text: string): URL | undefined {
  const url = attempt(() => new URL(text, globalThis.location?.href));
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}
