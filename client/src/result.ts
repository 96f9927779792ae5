// Every operation returns one of these at once (requirement LIB-05).

import type { Result } from './types.ts';

/** A success; notes name what was cut, dropped or ignored. */
export function success(notes: readonly string[] = []): Result {
  return outcome('success', notes.join('; '));
}

/** A failure; msg names the argument, its limit and the kind of what came. */
export function failure(msg: string): Result {
  return outcome('failure', msg);
}

function outcome(status: Result['status'], msg: string): Result {
  return { status, msg, message: msg };
}

/** Thrown by validators, turned into a failure by guard(). */
export class Invalid extends Error {}

/** Runs an operation so that nothing it does can throw into the page (LIB-07). */
export function guard(operation: () => Result): Result {
  try {
    return operation();
  } catch (error) {
    return failure(error instanceof Invalid ? error.message : `internal error: ${text(error)}`);
  }
}

/** The message of anything that was thrown. */
export function text(thrown: unknown): string {
  return attempt(() => (thrown instanceof Error ? thrown.message : String(thrown)), 'it cannot be told what');
}

/** What make returns; otherwise where it throws. */
export function attempt<T>(make: () => T, otherwise: T): T {
  try {
    return make();
  } catch {
    return otherwise;
  }
}

/** Calls the application later and survives what it throws. */
export function later<A extends unknown[]>(callback: ((...args: A) => unknown) | null | undefined, ...args: A): void {
  if (typeof callback !== 'function') return;
  setTimeout(() => {
    try {
      callback(...args);
    } catch (error) {
      console.error('qos: a callback of the application threw', error);
    }
  }, 0);
}
