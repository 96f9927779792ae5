// The events that a fabric records.

import type { Done } from '../queue.ts';
import { send } from '../session/send.ts';
import type { Fabric } from './state.ts';

/** Records an event of the fabric. */
export function emit(f: Fabric, name: string, data: object = {}, stamp = f.clock.stamp(), done?: Done): void {
  const { fabric } = f.info;
  send(f.owner, { type: 'event', stamp, fabric, keep: true, members: { fabric, event: name, data }, done });
}
