// Checks of arguments. A check returns what is kept, or throws Invalid with a message
// that names the argument, its limit and the kind of the value (FAB-02), never the value itself.

import { attempt, Invalid, json, note, text } from './result.ts';
import type { StreamSource, UserID } from './types.ts';

/** Without it each operation fails, and the page still works. */
export const encoder = attempt(() => new TextEncoder()) as TextEncoder;

/** The length in UTF-8 bytes. */
export function byteLength(value: string): number {
  return encoder.encode(value).length;
}

/** The longest prefix of at most limit UTF-8 bytes that does not cut a character in two. */
export function cutBytes(value: string, limit: number): string {
  return value.slice(0, encoder.encodeInto(value, new Uint8Array(limit)).read);
}

/** The prefix of at most limit bytes, or code points; a note names the argument where that is less. */
export function cut(name: string, value: string, limit: number, unit = 'bytes'): string {
  const kept = unit === 'bytes' ? cutBytes(value, limit) : [...value].slice(0, limit).join('');
  if (kept !== value) note(`${name} was cut to ${limit} ${unit}`);
  return kept;
}

/** Reads an argument: its getters, traps and toJSON are the application's, and may throw. */
export function reading<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Invalid ? error : new Invalid(`${name} cannot be read: ${text(error)}`);
  }
}

/** A revoked proxy cannot be asked. */
const isArray = (value: unknown) => attempt(() => Array.isArray(value), false);

/** The kind of a value, for messages. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === '') return 'an empty string';
  if (isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  return value === undefined ? 'nothing' : `a ${typeof value}`;
}

/** Whether an optional argument is there. */
export const isGiven = (value: unknown) => value !== undefined && value !== null;

/** A plain object or any other object that is not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !isArray(value);
}

/** Refuses an argument that is not as it must be. */
export function must(ok: boolean, name: string, wanted: string, given: unknown): asserts ok {
  if (!ok) throw new Invalid(`${name} must be ${wanted}, got ${kindOf(given)}`);
}

/** Notes that an argument or option is not as it must be, and was ignored. */
export function ignored(name: string, wanted: string, given: unknown): void {
  note(`${name} must be ${wanted}, got ${kindOf(given)}: ignored`);
}

function atMost(name: string, limit: number, unit: string, given: number): void {
  if (given > limit) throw new Invalid(`${name} must be at most ${limit} ${unit}, got ${given}`);
}

/** A non-empty string of at most limit UTF-8 bytes, or code points. */
export function requireText(name: string, value: unknown, limit: number, unit = 'bytes'): string {
  must(typeof value === 'string' && value !== '', name, `a non-empty string of at most ${limit} ${unit}`, value);
  // Half a surrogate pair has no UTF-8: two such IDs would become one (INIT-03).
  if (/\p{Cs}/u.test(value)) throw new Invalid(`${name} has a lone surrogate`);
  atMost(name, limit, unit, unit === 'bytes' ? byteLength(value) : [...value].length);
  return value;
}

/** An ID of the application; a whole number is its decimal digits, exact also where String() rounds (INIT-03). */
function requireID(name: string, value: unknown, limit = 256, unit?: string): string {
  const isNumber = typeof value === 'bigint' || Number.isInteger(value);
  if (isNumber) note(`${name} is a number: its digits were taken`);
  const id = requireText(name, isNumber ? String(BigInt(value as number)) : value, limit, unit);
  if (!id.trim() || id.includes('\0')) throw new Invalid(`${name} must not be blank or contain NUL`);
  return id;
}

/** The conferenceID of FAB-13. */
export function requireConferenceID(value: unknown): string {
  return requireID('conferenceID', value);
}

/** A function. */
export function requireFunction(name: string, value: unknown): (...args: unknown[]) => unknown {
  must(typeof value === 'function', name, 'a function', value);
  return value as () => unknown;
}

/** A member of an enumeration; another value is refused, or noted where there is a default. */
export function requireMember(name: string, members: object, value: unknown, otherwise?: string): string {
  if (Object.values(members).includes(value)) return value as string;
  const wanted = `one of ${Object.keys(members).join(', ')}`;
  must(otherwise !== undefined, name, wanted, value);
  ignored(name, wanted, value);
  return otherwise;
}

/** The userID of INIT-03; a missing userName is replaced by aliasName and noted. */
export function requireUserID(name: string, value: unknown): UserID {
  if (!isObject(value)) return requireID(name, value);
  const [alias, userName] = reading(name, () => [value.aliasName, value.userName ?? '']);
  const aliasName = requireName(`${name}.aliasName`, alias);
  if (userName !== '') return { userName: requireName(`${name}.userName`, userName), aliasName };
  note(`${name}.userName is missing, aliasName was taken`);
  return { userName: aliasName, aliasName };
}

const requireName = (name: string, value: unknown) => requireID(name, value, 128, 'characters');

/** An integer of that range, or its decimal string. */
export function requireInteger(name: string, value: unknown, least: number, most: number): number {
  const number = (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value) as number;
  const fits = Number.isInteger(number) && number >= least && number <= most;
  must(fits, name, `an integer from ${least} to ${most}`, value);
  return number;
}

/** What says which streams are meant: an SSRC, or a track, a sender or a receiver. */
export function requireSource(value: unknown): StreamSource {
  if (!isObject(value)) return requireInteger('ssrc', value, 0, 4_294_967_295);
  const isOne = reading('ssrc', () => 'kind' in value || 'track' in value);
  must(isOne, 'ssrc', 'an SSRC, a track, a sender or a receiver', value);
  return value as never;
}

/** The items of a list of at most 1000, or a single one. */
export function requireList(name: string, value: unknown): unknown[] {
  return reading(name, () => {
    const list: unknown[] = Array.isArray(value) ? value : [value];
    atMost(name, 1000, 'items', list.length);
    return [...list];
  });
}

/** A JSON object of at most 4 KiB, as JSON would carry it. */
export function requireData(name: string, value: unknown): Record<string, unknown> {
  must(isObject(value), name, 'an object', value);
  const text = reading(name, () => json(value) ?? '{}');
  atMost(name, 4096, 'bytes of JSON', byteLength(text));
  const data: unknown = JSON.parse(text);
  return isObject(data) ? data : {};
}
