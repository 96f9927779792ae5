// ICE servers without a session (LIB-09).

import { login } from './auth.ts';
import { findBackend } from './backend.ts';
import { createClock, pageClocks } from './clock.ts';
import { request } from './configuration.ts';
import type { Instance } from './instance.ts';
import type { TokenGenerator } from './types.ts';

/** Logs in by itself, as the user of initialize() if there is one. */
export async function turnCredentials(
  { current, scriptUrl }: Instance,
  appID: string,
  appSecret: string | TokenGenerator,
): Promise<unknown> {
  const base = current?.info.base ?? findBackend(undefined, scriptUrl);
  const env = { url: `${base}auth`, clock: createClock(pageClocks), late() {} };
  const token = await login(env, { appID, appSecret, userID: current?.info.userID }, false);
  return (await request(base, token)).iceServers ?? [];
}
