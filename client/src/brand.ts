// Whether an object is a PeerConnection of the browser itself (API-12).

import { attempt } from './result.ts';

/**
 * Whether value is a genuine RTCPeerConnection, of any window and of any subclass; a Proxy, a
 * wrapper or an object that inherits from one is none. Only the browser's own getter decides: it
 * throws for everything else. It is found on the object's own prototypes, since shims replace
 * the constructor.
 */
export function isGenuine(value: unknown): boolean {
  return attempt(() => {
    for (let proto = value; proto; proto = Object.getPrototypeOf(proto)) {
      const getter = Object.getOwnPropertyDescriptor(proto, 'signalingState')?.get;
      if (getter && /\[native code]/.test(Function.prototype.toString.call(getter))) {
        getter.call(value);
        // A bound function is native too, and asks nobody.
        return attempt(() => !getter.call({}), true);
      }
    }
    return false;
  }, false);
}
