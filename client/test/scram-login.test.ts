// The whole handshake against a server's side written from RFC 5802.

import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { login, Refusal } from '../src/auth.ts';
import { createClock } from '../src/clock.ts';

const hmac = (key: Buffer, message: string) => createHmac('sha256', key).update(message).digest();
const sha = (data: Buffer) => createHash('sha256').update(data).digest();

function server(secret: string, tamper = false) {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(secret, salt, 4096, 32, 'sha256');
  const storedKey = sha(hmac(salted, 'Client Key'));
  const bodies: Record<string, unknown>[] = [];
  globalThis.fetch = (async (_url: string, { body }: { body: string }) => {
    const message = JSON.parse(body);
    bodies.push(message);
    const answer = (status: number, value: object) => ({ status, text: async () => JSON.stringify(value) });
    if (message.type === 'scram-first') {
      const bare = message.scram.slice(3);
      const scram = `${/r=.*$/.exec(bare)?.[0]}SERVER,s=${salt.toString('base64')},i=4096`;
      return answer(200, { type: 'scram-first', scram, state: JSON.stringify([bare, scram]) });
    }
    const [bare, first] = JSON.parse(message.state);
    const [, without = '', proof = ''] = /^(.*),p=(.*)$/.exec(message.scram) ?? [];
    const text = `${bare},${first},${without}`;
    const signature = hmac(storedKey, text);
    const clientKey = Buffer.from(proof, 'base64').map((byte, i) => byte ^ (signature[i] ?? 0));
    if (!sha(Buffer.from(clientKey)).equals(storedKey)) {
      return answer(401, {
        type: 'error',
        code: 'auth_failed',
        csError: 'authError',
        message: 'AppID or secret wrong',
      });
    }
    const verifier = hmac(hmac(salted, 'Server Key'), tamper ? 'x' : text).toString('base64');
    return answer(200, { type: 'token', scram: `v=${verifier}`, token: 'T', session: 'S', expiresInMs: 1000, at: 5 });
  }) as unknown as typeof fetch;
  return bodies;
}

const clock = createClock({ wall: () => 0, mono: () => 0 });
const env = { url: 'https://q.example/auth', clock, late: () => undefined };
const who = { appID: 'demo', userID: { userName: 'Alice', aliasName: 'a' }, appSecret: 'demo-secret' };

it('logs in without sending the secret (spec: AUTH-01)', async () => {
  const bodies = server('demo-secret');
  expect(await login(env, who, false)).toEqual({ token: 'T', session: 'S', expiresInMs: 1000 });
  expect(clock.time(clock.stamp())).toBe(5); // the server's time came with the token
  expect(bodies.map((b) => b.type)).toEqual(['scram-first', 'scram-final']);
  expect(bodies[0]).toMatchObject({ appID: 'demo', userID: who.userID, scram: expect.stringMatching(/^n,,n=demo,r=/) });
  expect(JSON.stringify(bodies)).not.toContain('demo-secret');
});

it('is refused with a wrong secret', async () => {
  server('another');
  const error = await login(env, who, false).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(Refusal);
  expect(error).toMatchObject({ csError: 'authError', message: 'AppID or secret wrong', mayRetry: false });
});

it('does not trust a server that cannot prove itself', async () => {
  server('demo-secret', true);
  await expect(login(env, who, false)).rejects.toMatchObject({
    csError: 'authError',
    reasonCode: 'auth_failed',
    mayRetry: false,
  });
});

it.each<[name: string, refusals: number, renew: boolean, posts: number, outcome: object]>([
  ['begins again', 1, false, 4, { token: 'T' }],
  ['once', 2, false, 4, { csError: 'authError', reasonCode: 'token_expired', mayRetry: true }],
  ['not when it renews a token, which has time', 1, true, 2, { reasonCode: 'token_expired' }],
])('with a state that is too old it %s (spec: AUTH-01)', async (_, refusals, renew, posts, outcome) => {
  const bodies = server('demo-secret');
  const answer = globalThis.fetch;
  let finals = 0;
  globalThis.fetch = (async (url: string, init: RequestInit) => {
    const answered = await answer(url, init);
    if (bodies.at(-1)?.type !== 'scram-final' || ++finals > refusals) return answered;
    const refusal = { type: 'error', code: 'token_expired', csError: 'authError', message: 'too old', retry: true };
    return { status: 401, text: async () => JSON.stringify(refusal) };
  }) as typeof fetch;
  expect(await login(env, who, renew).catch((error: unknown) => error)).toMatchObject(outcome);
  expect(bodies).toHaveLength(posts);
});
