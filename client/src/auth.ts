// The handshake (protocol section 3): an app secret or a third-party token becomes a
// session token.

import { text } from './result.ts';
import { clientFirstBare, makeNonce, prove } from './scram.ts';
import type { CsError, TokenGenerator, UserID } from './types.ts';
import { isObject } from './validate.ts';

/** A failure of an exchange with the collector. */
export class Refusal extends Error {
  constructor(
    readonly csError: CsError,
    message: string,
    /** Whether trying again by itself can help. */
    readonly retry: boolean,
    readonly retryAfterMs = 0,
    readonly code = '',
  ) {
    super(message);
  }
}

/** Who logs in. */
export interface Credentials {
  appID: string;
  userID: UserID;
  secret: string | TokenGenerator;
}

/** A session token and the exchange that brought it, for the clock. */
export interface Token {
  token: string;
  expiresInMs: number;
  at: number;
  sent: number;
  received: number;
}

/** What a login needs of its surroundings. */
export interface AuthEnv {
  url: string;
  mono(): number;
  /** Told when the token generator is late; the login goes on waiting for it. */
  late(error: Refusal): void;
}

const generatorLimitMs = 10_000;
const answerLimitMs = 20_000;

/** Logs in. renew: a token from the generator's cache will not do. Rejects with a Refusal. */
export function login(env: AuthEnv, who: Credentials, renew: boolean): Promise<Token> {
  const { secret } = who;
  return typeof secret === 'function' ? jwtLogin(env, who, secret, renew) : scramLogin(env, who, secret);
}

async function scramLogin(env: AuthEnv, { appID, userID }: Credentials, secret: string): Promise<Token> {
  if (!globalThis.crypto?.subtle) {
    throw new Refusal(
      'authError',
      'this page has no WebCrypto (it needs https or localhost), an AppSecret cannot be used',
      false,
    );
  }
  const bare = clientFirstBare(appID, makeNonce());
  const first = await exchange(env, { type: 'scram-first', appID, userID, scram: `n,,${bare}` });
  const proof = await prove(secret, bare, String(first.answer.scram)).catch((error: unknown) => {
    throw new Refusal('authError', text(error), false);
  });
  const last = await exchange(env, { type: 'scram-final', state: first.answer.state, scram: proof.final });
  if (last.answer.scram !== proof.expected) {
    throw new Refusal('authError', 'the server could not prove that it knows the AppSecret', false, 0, 'auth_failed');
  }
  return toToken(last);
}

async function jwtLogin(
  env: AuthEnv,
  { appID, userID }: Credentials,
  generator: TokenGenerator,
  renew: boolean,
): Promise<Token> {
  const jwt = await generate(env, generator, renew);
  try {
    return toToken(await exchange(env, { type: 'jwt', appID, userID, jwt }));
  } catch (error) {
    // A refused token may be an old one of the application's cache: ask once for a new one.
    if (renew || !(error instanceof Refusal) || error.code !== 'auth_failed') throw error;
    return jwtLogin(env, { appID, userID, secret: generator }, generator, true);
  }
}

function generate(env: AuthEnv, generator: TokenGenerator, forceNew: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => new Refusal('tokenGenerationError', reason, false);
    const timer = setTimeout(() => env.late(fail('the token generator gave no answer within 10 s')), generatorLimitMs);
    const answer = (error: unknown, token?: unknown) => {
      clearTimeout(timer);
      if (error) reject(fail(text(error)));
      else if (typeof token !== 'string' || !token) reject(fail('the token generator gave no token'));
      else resolve(token);
    };
    try {
      const made = generator(forceNew, answer);
      if (typeof made === 'function') made(forceNew, answer);
    } catch (error) {
      answer(error || 'the token generator threw');
    }
  });
}

interface Exchange {
  answer: Record<string, unknown>;
  sent: number;
  received: number;
}

function toToken({ answer, sent, received }: Exchange): Token {
  if (typeof answer.token !== 'string') throw new Refusal('httpError', 'the answer has no token', true);
  return {
    token: answer.token,
    expiresInMs: Number(answer.expiresInMs) || 7_200_000,
    at: Number(answer.at),
    sent,
    received,
  };
}

async function exchange(env: AuthEnv, message: object): Promise<Exchange> {
  const sent = env.mono();
  const { status, body } = await post(env.url, JSON.stringify(message));
  const received = env.mono();
  const answer = parseLine(body);
  if (status === 200 && answer) return { answer, sent, received };
  throw refused(status, answer);
}

/** One POST as the doors take it: no preflight, no cookies. Browsers alone would wait for minutes. */
export async function post(url: string, body: string, keepalive = false): Promise<{ status: number; body: string }> {
  const limit = new AbortController();
  const timer = keepalive ? undefined : setTimeout(() => limit.abort(), answerLimitMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      credentials: 'omit',
      body,
      keepalive,
      signal: limit.signal,
    });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    const reason = limit.signal.aborted ? `no answer within ${answerLimitMs / 1000} s` : text(error);
    throw new Refusal('httpError', reason, true);
  } finally {
    clearTimeout(timer);
  }
}

/** A JSON object, or null. */
export function parseLine(line: unknown): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(String(line));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** What a refusal over HTTP means (protocol section 3.4). */
export function refused(status: number, answer: Record<string, unknown> | null): Refusal {
  const csError = (answer?.csError ?? 'httpError') as CsError;
  const message = typeof answer?.message === 'string' ? answer.message : `HTTP status ${status}`;
  const retry = status === 429 || status >= 500 || answer?.code === 'token_expired';
  // Without a code it was not the collector that answered.
  return new Refusal(
    csError,
    message,
    retry || typeof answer?.code !== 'string',
    Number(answer?.retryAfterMs) || 0,
    String(answer?.code ?? ''),
  );
}
