// The handshake (protocol section 3): an app secret or a third-party token becomes a
// session token.

import type { Clock } from './clock.ts';
import { attempt, inTime, json, text } from './result.ts';
import { clientFirstBare, makeNonce, prove } from './scram.ts';
import type { CsError, TokenGenerator, UserID } from './types.ts';
import { isObject } from './validate.ts';

/** A failure of an exchange with the collector. */
export class Refusal extends Error {
  constructor(
    readonly csError: CsError,
    message: string,
    /** Whether trying again by itself can help. */
    readonly mayRetry = false,
    readonly waitMs = 0,
    readonly reasonCode = '',
  ) {
    super(message);
  }
}

/** The arguments of initialize() that log in. */
export interface Credentials {
  appID: string;
  /** undefined: the user whom the JWT names; with a secret any. */
  userID: UserID | undefined;
  appSecret: string | TokenGenerator;
}

/** A session token. */
export interface Token {
  token: string;
  /** The id of a session that begins with this token. */
  session: string;
  expiresInMs: number;
}

/** The collector and the clock of a login. */
export interface AuthEnv {
  url: string;
  clock: Clock;
  /** Called when the token generator is late; the login still waits for it. */
  late(error: Refusal): void;
}

const generatorLimitMs = 10_000;
const answerLimitMs = 20_000;

/** Logs in. renew: a token from the generator's cache will not do. Rejects with a Refusal. */
export function login(env: AuthEnv, who: Credentials, renew: boolean): Promise<Token> {
  const { appSecret: secret } = who;
  const byToken = typeof secret === 'function';
  const logIn = (forceNew: boolean) => (byToken ? jwtLogin(env, who, secret, forceNew) : scramLogin(env, who, secret));
  return logIn(renew).catch((error) => {
    // A refused token may be an old one of the application's cache, and a SCRAM state may have
    // been too old, or used by a request that the browser repeated: once more, with new ones.
    if (renew || error.reasonCode !== (byToken ? 'auth_failed' : 'token_expired')) throw error;
    return logIn(true);
  });
}

async function scramLogin(
  env: AuthEnv,
  { appID, userID = 'getTurnCredentials' }: Credentials,
  secret: string,
): Promise<Token> {
  if (!globalThis.crypto?.subtle) {
    throw new Refusal('authError', 'no WebCrypto: an AppSecret needs https or localhost');
  }
  const bare = clientFirstBare(appID, makeNonce());
  const first = await exchange(env, { type: 'scram-first', appID, userID, scram: `n,,${bare}` });
  const { final, expected } = await prove(secret, bare, String(first.scram)).catch((error: unknown) => {
    throw new Refusal('authError', text(error));
  });
  const last = await exchange(env, { type: 'scram-final', state: first.state, scram: final });
  if (last.scram !== expected) {
    throw new Refusal('authError', 'the server does not know the AppSecret', false, 0, 'auth_failed');
  }
  return toToken(last);
}

async function jwtLogin(env: AuthEnv, who: Credentials, generator: TokenGenerator, renew: boolean): Promise<Token> {
  const jwt = await generate(env, generator, renew);
  return toToken(await exchange(env, { type: 'jwt', appID: who.appID, userID: who.userID, jwt }));
}

function generate(env: AuthEnv, generator: TokenGenerator, forceNew: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => new Refusal('tokenGenerationError', reason);
    const timer = setTimeout(() => env.late(fail('the token generator gave no answer within 10 s')), generatorLimitMs);
    const answer = (error: unknown, token?: unknown) => {
      clearTimeout(timer);
      if (error) reject(fail(text(error)));
      else if (typeof token !== 'string' || !token) reject(fail('the token generator gave no token'));
      else resolve(token);
    };
    const ask = async () => {
      const made = generator(forceNew, answer);
      // An asynchronous generator may promise the token in place of the callback.
      const token = await (typeof made === 'function' ? made(forceNew, answer) : made);
      if (typeof token === 'string') answer(null, token);
    };
    ask().catch((error) => answer(error || 'it threw'));
  });
}

/** A message of the collector. */
export type Message = Record<string, unknown>;

function toToken({ token, session, expiresInMs }: Message): Token {
  if (typeof token !== 'string' || typeof session !== 'string') throw new Refusal('httpError', 'no token came', true);
  return { token, session, expiresInMs: Number(expiresInMs) || 7_200_000 };
}

/** One message and its answer, whose time is a sample for the clock. */
async function exchange({ url, clock }: AuthEnv, message: object): Promise<Message> {
  const sent = clock.mono();
  const [answer = {}] = await post(url, json(message));
  clock.sample(sent, clock.mono(), Number(answer.at));
  return answer;
}

/**
 * One POST as the collector's endpoints accept it: no preflight (text is sent as text/plain in UTF-8), no cookies.
 * Returns the objects of the answer's lines.
 */
export async function post(url: string, body: string, keepalive = false): Promise<Message[]> {
  const limit = new AbortController();
  let reason = `no answer within ${answerLimitMs / 1000} s`;
  // Browsers would wait for minutes, and a fetch of the application's may ignore the signal.
  const answered = await inTime(answerLimitMs, async () => {
    try {
      const response = await fetch(url, { method: 'POST', credentials: 'omit', body, keepalive, signal: limit.signal });
      return [response.status, await response.text()] as const;
    } catch (error) {
      reason = text(error);
      return null;
    }
  });
  if (!answered) {
    if (!keepalive) limit.abort();
    throw new Refusal('httpError', reason, true);
  }
  const [status, answer] = answered;
  const messages = answer.split('\n').map(parseLine).filter(isObject);
  if (status !== 200 || !messages.length) throw refused(messages[0] ?? {}, status);
  return messages;
}

/** A JSON object, or null. */
export function parseLine(line: unknown): Message | null {
  const value: unknown = attempt(() => JSON.parse(String(line)), null);
  return isObject(value) ? value : null;
}

/** A refusal of the collector, over HTTP by its status too (protocol section 3.4). */
export function refused({ code, csError, message, retry, retryAfterMs }: Message, status = 0): Refusal {
  return new Refusal(
    (csError as CsError | undefined) ?? (status ? 'httpError' : 'wsChannelFailure'),
    String(
      message ?? (status ? `HTTP status ${status}${status === 404 ? ': set configParams.backendUrl?' : ''}` : code),
    ),
    retry === true ||
      code === 'hello_expected' || // older collectors send it as permanent
      status === 429 ||
      status >= 500 ||
      // Without a code it is no answer of the collector.
      (status > 0 && (!code || code === 'token_expired')),
    Number(retryAfterMs) || 0,
    String(code ?? ''),
  );
}
