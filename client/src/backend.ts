// Where the collector is (requirement LIB-03).

import { attempt, Invalid } from './result.ts';

/** The base URL, with a slash at its end: backendUrl, or the folder that the library was loaded from. */
export function findBackend(backendUrl: string | undefined, scriptUrl: string | undefined): string {
  if (backendUrl !== undefined) {
    const url = parse(backendUrl);
    if (!url) throw new Invalid('configParams.backendUrl must be an http or https URL');
    return url.href.replace(/\/?([?#].*)?$/, '/');
  }
  const folder = ownFolder(scriptUrl);
  if (!folder) throw new Invalid('set configParams.backendUrl or load the library from the collector');
  return folder;
}

/** The folder of a file of ours. A bundle has a URL too, but it is the application's: only our names count. */
export function ownFolder(scriptUrl = ''): string | undefined {
  const url = parse(scriptUrl);
  return url && /\/qos(\.min)?\.m?js$/.test(url.pathname) ? new URL('.', url).href : undefined;
}

/** An http or https URL. */
function parse(text: string): URL | undefined {
  const url = attempt(() => new URL(text, globalThis.location?.href));
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}
