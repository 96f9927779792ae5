// Entry of qos.js and qos.min.js: a script tag, an AMD loader or CommonJS.

import { ownFolder } from './backend.ts';
import { assemble } from './index.ts';

declare const define: { (dependencies: string[], factory: () => unknown): void; amd?: unknown } | undefined;
declare const module: { exports?: unknown } | undefined;

// Read here, not in a loader's factory: it is set only while the file runs.
const script = globalThis.document?.currentScript as HTMLScriptElement | null | undefined;
const qos = assemble(script?.src);

/**
 * A script tag of a page that has RequireJS: a module without a name would be one too many
 * there. RequireJS marks what it loads; a bundle is no file of ours.
 */
const ownTag = 'requirejs' in globalThis && ownFolder(script?.src) && !script?.dataset.requiremodule;

if (typeof define === 'function' && define.amd && !ownTag) define([], () => qos);
else if (typeof module === 'object' && module.exports) module.exports = qos;
else (globalThis as { qos?: unknown }).qos = qos;
