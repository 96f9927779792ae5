// Every operation returns a result at once (requirement LIB-05), and nothing throws into the page.

import type { Result } from './types.ts';

/** Thrown where an argument is refused; its message is the msg of the failure. */
export class Invalid extends Error {}

/** One call of an operation. */
interface Call {
  status: Result['status'];
  /** Names what was cut, dropped or ignored: the msg of a success. */
  notes: string[];
  /** Gets the reason when the call is refused. */
  refused?: (msg: string) => void;
}

/** The call that runs. */
let call: Call = { status: 'success', notes: [] };

/** Adds to the answer of the call that runs: something was cut, dropped or ignored. */
export function note(text: string): void {
  call.notes.push(text);
}

/** Lets the call that runs answer failure, though it does all that it can. */
export function fail(text: string): void {
  call.status = 'failure';
  note(text);
}

/** Passes the reason to notify too when the call that runs is refused. */
export function onRefusal(notify: (msg: string) => void): void {
  call.refused = notify;
}

/** Runs an operation so that nothing it does can throw into the page (LIB-07). */
export function guard(operation: () => void): Result {
  const outer = call; // whose argument's getter made this call
  call = { status: 'success', notes: [] };
  try {
    operation();
    return outcome(call.status, call.notes.join('; '));
  } catch (error) {
    const msg = error instanceof Invalid ? error.message : `internal error: ${text(error)}`;
    call.refused?.(msg);
    return outcome('failure', msg);
  } finally {
    call = outer;
  }
}

function outcome(status: Result['status'], msg: string): Result {
  return { status, msg, message: msg };
}

/** In place of a value whose getter throws. */
export const unreadable = 'it cannot be read';

const plain: { toJSON?: unknown } = {};

/**
 * JSON, as it was before old libraries gave arrays and objects a toJSON of their own: Prototype
 * makes texts of arrays. The toJSON of an application's own classes is honoured.
 */
export function json(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, { toJSON?: unknown } | null>, key, made) {
    const given = this[key];
    return Array.isArray(given) || given?.toJSON === plain.toJSON ? given : made;
  });
}

/** The message of anything that was thrown. */
export function text(thrown: unknown): string {
  return attempt(() => (thrown instanceof Error ? thrown.message : String(thrown)), unreadable);
}

/** Returns the result of make; otherwise where it throws. */
export function attempt<T, O = undefined>(make: () => T, otherwise?: O): T | O {
  try {
    return make();
  } catch {
    return otherwise as O;
  }
}

/** Resolves like make; to null when that fails, or takes longer than limitMs. Never rejects. */
export function inTime<T>(limitMs: number, make: () => Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), limitMs);
    const answer = (value: T | null) => {
      clearTimeout(timer);
      resolve(value);
    };
    make().then(answer, () => answer(null));
  });
}

/** Calls the application, and catches what it throws. */
export function hand<A extends unknown[]>(callback: ((...args: A) => unknown) | null | undefined, ...args: A): void {
  try {
    callback?.(...args);
  } catch (error) {
    console.error('qos: a callback threw', error);
  }
}

/** Calls the application later. A page's wrapper of setTimeout may forget further arguments. */
export function later<A extends unknown[]>(callback: ((...args: A) => unknown) | null | undefined, ...args: A): void {
  if (callback) setTimeout(() => hand(callback, ...args), 0);
}
