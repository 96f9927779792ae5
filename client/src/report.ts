// reportError and application logs (API-01, API-02).

import { enums } from './enums.ts';
import { type Instance, sessionOf } from './instance.ts';
import { attempt, type Call } from './result.ts';
import { sdpText, withoutAddresses } from './sdp.ts';
import { cutBytes, isObject, requireConferenceID, requireMember } from './validate.ts';

const maxLogBytes = 20_480;

/** Reports a failed negotiation step, or keeps a log of the application. */
export function reportError(
  instance: Instance,
  _call: Call,
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
  if (name === 'applicationLog' || name === 'applicationError') {
    record('log', { text: logText(error) });
    return;
  }
  const local = sdpText(localSDP);
  record('error', {
    function: name,
    ...attempt(() => describe(error), { name: '', message: 'it cannot be read' }),
    localSDP: cutSDP(session.collectIP() ? local : withoutAddresses(local)),
    remoteSDP: cutSDP(sdpText(remoteSDP)),
  });
}

const cutSDP = (sdp: string) => cutBytes(sdp, 16_384) || undefined;

/** Name and message of a DOMException, an Error, an object or a string. */
function describe(error: unknown): { name: string; message: string } {
  const { name, message } = (isObject(error) ? error : { message: error }) as { name?: unknown; message?: unknown };
  const said = message ?? (isObject(error) && name === undefined ? json(error) : '');
  return { name: cutBytes(String(name ?? ''), 128), message: cutBytes(String(said), 1024) };
}

function logText(log: unknown): string {
  const text = log instanceof Error ? `${log.name}: ${log.message}` : typeof log === 'string' ? log : json(log);
  const kept = cutBytes(text, maxLogBytes);
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
