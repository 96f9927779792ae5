// The configuration that the collector computes for a user (protocol section 11, API-08).

import { type Message, post, type Token } from './auth.ts';
import { answer } from './instance.ts';
import { inTime, json } from './result.ts';
import type { Session } from './session/state.ts';

const limitMs = 10_000; // of the login too: pages build their PeerConnections of the answer

/** Requests a configuration with a session token. Rejects with a Refusal. */
export const request = async (base: string, { token }: Token, more?: object): Promise<Message> => {
  const [message] = await post(`${base}configuration`, json({ type: 'configuration', token, ...more }));
  return message as Message;
};

/** Requests the session's configuration after its login, and emits it; empty without an answer. Never rejects. */
export async function configure(s: Session, more?: object): Promise<Message> {
  const message =
    (await inTime(limitMs, async () => {
      // As an initialize() without a result it learns of a login, and of each failure before.
      while (!s.sessionToken && !s.stopped) await new Promise<unknown>((next) => s.instance.unanswered.add(next));
      return request(s.info.base, s.sessionToken as Token, { siteID: s.info.config.siteID, ...more });
    })) ?? {};
  // The first is emitted once, the second with every answer that has one.
  for (const name of ['defaultConfig', 'recommendedConfig'])
    if (!s.instance.answers[name] || (name > 'e' && message[name]))
      emitFor(s, name, { peerConnection: {}, media: { audio: true, video: true }, ...(message[name] as object) });
  return message;
}

/** Emits an answer, unless another session has replaced this one. */
export function emitFor(s: Session, name: string, ...args: unknown[]): void {
  if (s.instance.current === s) answer(s.instance, name, ...args);
}
