// reportError and application logs (API-01, API-02).

import { sessionOf } from './begin.ts';
import { enums } from './enums.ts';
import type { Instance } from './instance.ts';
import { attempt, json, unreadable } from './result.ts';
import { sdpText, withoutAddresses } from './sdp.ts';
import { recorderFor } from './session/fabrics.ts';
import { byteLength, cut, ignored, isObject, requireConferenceID, requireMember } from './validate.ts';

const maxLogBytes = 20_480;
const maxJsonBytes = 50_000; // of an error and its SDPs: a frame has room for the members beside them

/** Reports a failed negotiation step, or keeps a log of the application. */
export function reportError(
  instance: Instance,
  pc: unknown,
  conferenceID: unknown,
  functionName: unknown,
  error: unknown,
  localSDP: unknown,
  remoteSDP: unknown,
): void {
  const conference = requireConferenceID(conferenceID);
  const name = requireMember('wrtcFuncName', enums.webRTCFunctions, functionName);
  const session = sessionOf(instance);
  const record = recorderFor(session, pc, conference);
  if (name.startsWith('application')) {
    record('log', { text: logText(error) });
    return;
  }
  const sdp = (field: string, given: unknown, withAddresses: boolean) => {
    const whole = sdpText(given);
    if (!whole && (given ?? '') !== '') ignored(field, 'an SDP', given);
    return [field, cut(field, withAddresses ? whole : withoutAddresses(whole), 131_072)] as const;
  };
  const members: Record<string, unknown> = { function: name, ...describe(error) };
  const sdps = [sdp('localSDP', localSDP, session.info.config.collectIP), sdp('remoteSDP', remoteSDP, true)];
  // SDPs that are too large for one frame follow in frames of their own (protocol 4.5).
  const inParts = byteLength(json([members, sdps])) > maxJsonBytes;
  for (const [field, whole] of sdps)
    members[inParts ? `${field}Bytes` : field] = (inParts ? byteLength(whole) : whole) || undefined;
  const number = record('error', members);
  if (!inParts) return;
  for (const [field, whole] of sdps) {
    let offset = 0;
    // A character takes six bytes at most; surrogate pairs stay together.
    for (const text of whole.match(/.{1,8000}/gsu) ?? []) {
      record('sdp', { error: number, field, offset, text });
      offset += byteLength(text);
    }
  }
}

/** The members of an error frame for a DOMException, an Error, an object or a string. */
function describe(error: unknown): object {
  const given = isObject(error) ? error : { message: attempt(() => String(error ?? ''), unreadable) };
  const kept: Record<string, string> = {};
  const keep = (member: string, limit = 128, other = member) => {
    const text = attempt(() => String(given[member] || given[other] || ''), unreadable);
    kept[member] = cut(`domError.${member}`, text, limit);
  };
  keep('name');
  keep('message', 1024);
  keep('code');
  keep('constraintName', 128, 'constraint');
  keep('stack', 4096);
  const isFurther = (key: string) => !(key in kept) && /str|num|boo/.test(typeof attempt(() => given[key]));
  const further = attempt(() => JSON.stringify(given, Object.keys(given).filter(isFurther)), unreadable);
  // Without a name and a message the whole is the message, as far as it is JSON.
  if (given === error && !kept.name && !kept.message)
    kept.message = cut('domError.message', attempt(() => json(error)) ?? further, 1024);
  else if (further !== '{}') kept.details = cut('domError', further, 2048);
  return kept;
}

function logText(log: unknown): string {
  const text = attempt(
    () =>
      (log instanceof Error || typeof log === 'string' ? undefined : attempt(() => json(log ?? undefined) ?? '')) ??
      String(log),
    unreadable,
  );
  const kept = cut('domError', text, maxLogBytes);
  if (kept !== text) console.warn(`qos: an application log was cut to ${maxLogBytes} bytes`);
  return kept;
}
