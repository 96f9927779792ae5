// An attachment of one object of an SDK: it exists once for each monitor, and nothing throws into the page.

import type { Attachment, Monitor } from './attachment.ts';

/** By the SDK's object and the monitor. */
const attachments = new WeakMap<object, Map<object, Attachment>>();

/** Returns the result of run; undefined where it throws. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/**
 * Attaches once, and returns that attachment afterwards. start returns the fault, which is empty if there is none,
 * and adds what detach() runs to its argument.
 */
export function attachOnce(monitor: Monitor, target: object, start: (undo: (() => void)[]) => string): Attachment {
  const undo: (() => void)[] = [];
  const own = attachments.get(target) ?? new Map<object, Attachment>();
  function detach(): void {
    own.delete(monitor);
    for (const run of undo.splice(0)) attempt(run);
  }
  const outcome = (msg: string): Attachment => ({ status: msg ? 'failure' : 'success', msg, message: msg, detach });
  try {
    const existing = own.get(monitor);
    if (existing) return existing;
    if (typeof monitor.addNewFabric !== 'function') throw 'monitor is no instance of qos';
    const fault = start(undo);
    if (fault) throw fault;
    const attachment = outcome('');
    attachments.set(target, own.set(monitor, attachment));
    return attachment;
  } catch (error) {
    detach();
    return outcome(String(error));
  }
}
