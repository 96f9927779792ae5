// Entry of qos.js and qos.min.js: a script tag, an AMD loader or CommonJS.

import { assemble } from './index.ts';

/** The wrapper that the build puts around this file hands its qos out. */
declare const wrapper: { qos: unknown };

const script = typeof document === 'object' ? document.currentScript : null;

wrapper.qos = assemble((script as HTMLScriptElement | null)?.src);
