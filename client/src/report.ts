// reportError and application logs (API-01, API-02).

import { webRTCFunctions } from './enums.ts';
import { findScope, type Instance } from './instance.ts';
import { maxEntryBytes } from './queue.ts';
import { failure, Invalid, success } from './result.ts';
import { sdpText, withoutAddresses } from './sdp.ts';
import type { Result } from './types.ts';
import { cutBytes, isObject, requireConferenceID, requireMember } from './validate.ts';

const maxLogBytes = 20_480;

/** Reports a failed negotiation step, or keeps a log of the application. */
export function reportError(instance: Instance, args: readonly unknown[]): Result {
  const [pc, conferenceID, functionName, error, localSDP, remoteSDP] = args;
  const conference = requireConferenceID(conferenceID);
  const name = requireMember('wrtcFuncName', webRTCFunctions, functionName);
  const { session } = instance;
  if (!session) throw new Invalid('initialize() must be called first');
  const scope = findScope(session, pc, conference, true);
  const isLog = name === 'applicationLog' || name === 'applicationError';
  const taken = isLog
    ? session.record('log', scope, { text: logText(error) })
    : session.record('error', scope, {
        function: name,
        ...describe(error),
        ...sdpMember('localSDP', localSDP, !session.config.collectIP),
        ...sdpMember('remoteSDP', remoteSDP, false),
      });
  return taken ? success() : failure(`the report would be larger than ${maxEntryBytes} bytes`);
}

/** Name and message of a DOMException, an Error, an object or a string. */
function describe(error: unknown): { name: string; message: string } {
  const { name, message } = (isObject(error) ? error : {}) as { name?: unknown; message?: unknown };
  const said = message ?? (isObject(error) && name === undefined ? json(error) : isObject(error) ? '' : (error ?? ''));
  return { name: cutBytes(String(name ?? ''), 128), message: cutBytes(String(said), 1024) };
}

function logText(log: unknown): string {
  const text = log instanceof Error ? `${log.name}: ${log.message}` : typeof log === 'string' ? log : json(log ?? '');
  const kept = cutBytes(text, maxLogBytes);
  if (kept !== text) console.warn(`qos: an application log was cut to ${maxLogBytes} bytes`);
  return kept;
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return String(value);
  }
}

function sdpMember(name: string, description: unknown, hideAddresses: boolean): object {
  const sdp = sdpText(description);
  return (sdp && { [name]: cutBytes(hideAddresses ? withoutAddresses(sdp) : sdp, 16_384) }) || {};
}
