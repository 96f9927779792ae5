// The one export: a function that returns an instance with or without new, and that itself
// carries every method and enumeration of a default instance (LIB-08).

import { createInterface } from './api.ts';

/** Everything an instance has. */
export type Qos = ReturnType<typeof createInterface>;

/** The constructor, which is an instance too. */
export interface QosConstructor extends Qos {
  new (...ignored: unknown[]): Qos;
  (...ignored: unknown[]): Qos;
}

/** Makes the export; scriptUrl is where this file was loaded from, when that can be seen. */
export function assemble(scriptUrl: string | undefined): QosConstructor {
  // With this in it the minifier makes it no arrow function, which new could not call.
  function qos(this: unknown) {
    return createInterface.call(this, scriptUrl);
  }
  return Object.assign(qos, createInterface(scriptUrl)) as unknown as QosConstructor;
}
