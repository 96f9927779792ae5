// The session of an instance: begun, continued and asked for.

import type { Instance } from './instance.ts';
import { fail, Invalid } from './result.ts';
import { continueSession, continues, createSession, retire } from './session/session.ts';
import type { Session, SessionInfo } from './session/state.ts';
import { prepare } from './tests.ts';

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
  instance.answers = {};
  instance.current = createSession(info, instance);
  prepare(instance.current);
}
