// reportError and application logs (API-01, API-02).

import { enums } from './enums.ts';
import { type Instance, sessionOf } from './instance.ts';
import { attempt, unreadable } from './result.ts';
import { sdpText, withoutAddresses } from './sdp.ts';
import { cut, ignored, isObject, requireConferenceID, requireMember } from './validate.ts';

const maxLogBytes = 20_480;

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
  const record = session.scope(pc, conference);
  if (name.startsWith('application')) {
    record('log', { text: logText(error) });
    return;
  }
  const described = attempt(() => describe(error), ['', unreadable]);
  const sdp = (argument: string, given: unknown, withAddresses: boolean) => {
    const whole = sdpText(given);
    if (!whole && (given ?? '') !== '') ignored(argument, 'an SDP', given);
    return cut(argument, withAddresses ? whole : withoutAddresses(whole), 16_384) || undefined;
  };
  record('error', {
    function: name,
    name: cut('domError.name', described[0], 128),
    message: cut('domError.message', described[1], 1024),
    localSDP: sdp('localSDP', localSDP, session.collectIP()),
    remoteSDP: sdp('remoteSDP', remoteSDP, true),
  });
}

/** Name and message of a DOMException, an Error, an object or a string. */
function describe(error: unknown): [name: string, message: string] {
  const { name, message } = (isObject(error) ? error : { message: error }) as { name?: unknown; message?: unknown };
  const said = message ?? (isObject(error) && name === undefined ? json(error) : '');
  return [String(name ?? ''), String(said)];
}

function logText(log: unknown): string {
  const text = attempt(
    () => (log instanceof Error ? `${log.name}: ${log.message}` : typeof log === 'string' ? log : json(log)),
    unreadable,
  );
  const kept = cut('domError', text, maxLogBytes);
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
