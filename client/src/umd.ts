// Entry of qos.js and qos.min.js: a script tag, an AMD loader or CommonJS.

import { assemble } from './index.ts';

declare const define: { (dependencies: string[], factory: () => unknown): void; amd?: unknown } | undefined;
declare const module: { exports?: unknown } | undefined;

// Read here, not in a loader's factory: only while the file runs does the page know which it is.
const script = globalThis.document?.currentScript as HTMLScriptElement | null | undefined;
const qos = assemble(script?.src);

if (typeof define === 'function' && define.amd) define([], () => qos);
else if (typeof module === 'object' && module.exports) module.exports = qos;
else Object.assign(globalThis, { qos });
