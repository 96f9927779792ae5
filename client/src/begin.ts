// The session of an instance: begun, continued and asked for.

import { answer, type Instance, noResults, noTests } from './instance.ts';
import { fail, Invalid } from './result.ts';
import { continueSession, continues, createSession, retire } from './session/session.ts';
import type { Session, SessionInfo } from './session/state.ts';

/** The session that initialize() began. */
export function sessionOf({ current: session }: Instance): Session {
  if (!session) throw new Invalid('initialize() must be called first');
  const { halted } = session;
  if (halted) fail(`initialize() again: ${halted.message}`);
  return session;
}

/** Continues the session where the user is the same, else begins another one (INIT-06). */
export function begin(instance: Instance, info: SessionInfo): void {
  const before = instance.current;
  if (before && continues(before, info)) {
    continueSession(before, info);
    return;
  }
  if (before) retire(before);
  instance.current = createSession(info, instance);
  // There are no configurations and tests yet: no callback must wait for them (API-08).
  for (const name of ['defaultConfig', 'recommendedConfig']) answer(instance, name, { peerConnection: {}, media: {} });
  noResults(instance, info.config.disablePrecalltest ? 'disablePrecalltest is set' : noTests);
}
