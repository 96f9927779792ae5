// Checks of arguments. A check returns what is kept, or throws Invalid with a message
// that names the argument, its limit and the kind of what came (FAB-02), never the value.

import { isMember } from './enums.ts';
import { Invalid } from './result.ts';
import type { UserID } from './types.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The length in UTF-8 bytes. */
export function byteLength(value: string): number {
  return encoder.encode(value).length;
}

/** The longest prefix of at most limit bytes that does not cut a character in two. */
export function cutBytes(value: string, limit: number): string {
  const bytes = encoder.encode(value);
  if (bytes.length <= limit) return value;
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end));
}

/** The prefix of at most limit code points. */
export function cutChars(value: string, limit: number): string {
  return value.length <= limit ? value : Array.from(value).slice(0, limit).join('');
}

/** What kind of thing came, for messages. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) return 'an array';
  return value === undefined ? 'nothing' : `${/^[aeiou]/.test(typeof value) ? 'an' : 'a'} ${typeof value}`;
}

/** A plain object or any other object that is not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A non-empty string of at most limit UTF-8 bytes. */
export function requireText(name: string, value: unknown, limit: number): string {
  if (typeof value !== 'string' || value === '') {
    throw new Invalid(`${name} must be a non-empty string of at most ${limit} bytes, got ${kindOf(value)}`);
  }
  const bytes = byteLength(value);
  if (bytes > limit) throw new Invalid(`${name} must be at most ${limit} bytes, got ${bytes}`);
  return value;
}

/** The conferenceID of FAB-13. */
export function requireConferenceID(value: unknown): string {
  return requireText('conferenceID', value, 256);
}

/** A member of an enumeration. */
export function requireMember(name: string, members: object, value: unknown): string {
  if (isMember(members, value)) return value;
  const came = typeof value === 'string' ? 'an unknown value' : kindOf(value);
  throw new Invalid(`${name} must be one of ${Object.keys(members).join(', ')}, got ${came}`);
}

/** The userID of INIT-03; a missing userName is replaced by aliasName and noted. */
export function requireUserID(name: string, value: unknown, notes: string[] = []): UserID {
  if (!isObject(value)) return requireText(name, value, 256);
  const aliasName = requireName(`${name}.aliasName`, value.aliasName);
  if (value.userName === undefined || value.userName === null || value.userName === '') {
    notes.push(`${name}.userName is missing, aliasName was taken`);
    return { userName: aliasName, aliasName };
  }
  return { userName: requireName(`${name}.userName`, value.userName), aliasName };
}

function requireName(name: string, value: unknown): string {
  const text = requireText(name, value, 512);
  const chars = Array.from(text).length;
  if (chars > 128) throw new Invalid(`${name} must be at most 128 characters, got ${chars}`);
  return text;
}

/** Whether two user IDs are the same one. */
export function sameUser(a: UserID, b: UserID): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** An RFC 3550 SSRC, as a number or a decimal string. */
export function requireSSRC(value: unknown): number {
  const ssrc = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof ssrc === 'number' && Number.isInteger(ssrc) && ssrc >= 0 && ssrc < 2 ** 32) return ssrc;
  throw new Invalid(`ssrc must be an integer from 0 to 4294967295 or its decimal string, got ${kindOf(value)}`);
}

/** A JSON object of at most limit bytes, as JSON would carry it; {} for nothing. */
export function requireData(name: string, value: unknown, limit = 4096): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new Invalid(`${name} must be an object, got ${kindOf(value)}`);
  let json: string;
  try {
    json = JSON.stringify(value);
  } catch {
    throw new Invalid(`${name} cannot be written as JSON`);
  }
  const bytes = byteLength(json ?? '');
  if (bytes > limit) throw new Invalid(`${name} must be at most ${limit} bytes of JSON, got ${bytes}`);
  const data: unknown = JSON.parse(json ?? '{}');
  return isObject(data) ? data : {};
}

/** A score: an integer from 1 to 5 or its string; null where an optional one is missing. */
export function requireScore(name: string, value: unknown, optional: boolean): number | null {
  if (optional && (value === undefined || value === null)) return null;
  const score = typeof value === 'string' && /^[1-5]$/.test(value) ? Number(value) : value;
  if (typeof score === 'number' && Number.isInteger(score) && score >= 1 && score <= 5) return score;
  throw new Invalid(
    `${name} must be an integer from 1 to 5, got ${typeof value === 'number' ? 'another number' : kindOf(value)}`,
  );
}
