// Entry of qos.js and qos.min.js: a script tag, an AMD loader or CommonJS.

import { assemble } from './index.ts';

const script = typeof document === 'object' ? document.currentScript : null;

export const qos = assemble(script instanceof HTMLScriptElement ? script.src : undefined);
