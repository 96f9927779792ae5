// Where the collector is (requirement LIB-03).

import { attempt, Invalid } from './result.ts';

/** The base URL, with a slash at its end: backendUrl, or the folder the library came from. */
export function findBackend(backendUrl: string | undefined, scriptUrl: string | undefined): string {
  if (backendUrl !== undefined) {
    const url = parse(backendUrl);
    if (!url || !/^https?:$/.test(url.protocol))
      throw new Invalid('configParams.backendUrl must be an http or https URL');
    url.search = url.hash = '';
    return url.href.endsWith('/') ? url.href : `${url.href}/`;
  }
  const url = parse(scriptUrl ?? '');
  // A bundle has a URL too, but it is the application's: only our own file names count.
  if (url && /^https?:$/.test(url.protocol) && /\/qos(\.min)?\.m?js$/.test(url.pathname)) return new URL('.', url).href;
  throw new Invalid('the collector is unknown: load the library from it, or set configParams.backendUrl');
}

const parse = (url: string) => attempt(() => new URL(url, globalThis.location?.href));
