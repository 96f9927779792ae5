// reportError and application logs (API-01, API-02).

import { enums } from './enums.ts';
import { type Instance, sessionOf } from './instance.ts';
import { attempt, type Call, unreadable } from './result.ts';
import { sdpText, withoutAddresses } from './sdp.ts';
import { cut, isObject, requireConferenceID, requireMember } from './validate.ts';

const maxLogBytes = 20_480;

/** Reports a failed negotiation step, or keeps a log of the application. */
export function reportError(
  instance: Instance,
  { notes }: Call,
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
  const { record } = session.scope(pc, conference, true);
  if (name.startsWith('application')) {
    record('log', { text: logText(error, notes) });
    return;
  }
  const described = attempt(() => describe(error), ['', unreadable]);
  const sdp = (argument: string, description: string) => cut(argument, description, 16_384, notes) || undefined;
  const local = sdpText(localSDP);
  record('error', {
    function: name,
    name: cut('domError.name', described[0], 128, notes),
    message: cut('domError.message', described[1], 1024, notes),
    localSDP: sdp('localSDP', session.collectIP() ? local : withoutAddresses(local)),
    remoteSDP: sdp('remoteSDP', sdpText(remoteSDP)),
  });
}

/** Name and message of a DOMException, an Error, an object or a string. */
function describe(error: unknown): [name: string, message: string] {
  const { name, message } = (isObject(error) ? error : { message: error }) as { name?: unknown; message?: unknown };
  const said = message ?? (isObject(error) && name === undefined ? json(error) : '');
  return [String(name ?? ''), String(said)];
}

function logText(log: unknown, notes: string[]): string {
  const text = attempt(
    () => (log instanceof Error ? `${log.name}: ${log.message}` : typeof log === 'string' ? log : json(log)),
    unreadable,
  );
  const kept = cut('domError', text, maxLogBytes, notes);
  if (kept !== text) console.warn(`qos: an application log was cut to ${maxLogBytes} bytes`);
  return kept;
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value ?? undefined) ?? '';
  } catch {
    return String(value);
  }
}
