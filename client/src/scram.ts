// SCRAM-SHA-256 (RFC 5802, RFC 7677) with WebCrypto: the secret never leaves the browser.

import { encoder } from './validate.ts';

const hash = 'SHA-256';

/** The second client message, and the signature that the server must answer with. */
export interface ScramProof {
  /** client-final-message */
  final: string;
  /** The server's last message must be exactly this. */
  expected: string;
}

/** client-first-message-bare of an AppID. */
export function clientFirstBare(appID: string, nonce: string): string {
  return `n=${appID.replace(/=/g, '=3D').replace(/,/g, '=2C')},r=${nonce}`;
}

/** A nonce of 144 random bits. */
export function makeNonce(): string {
  return toBase64(crypto.getRandomValues(new Uint8Array(18)));
}

/** Answers the server's first message; throws when that message is not acceptable. */
export async function prove(secret: string, firstBare: string, serverFirst: string): Promise<ScramProof> {
  const [, nonce = '', salt = '', count] = /^r=([^,]+),s=([^,]+),i=(\d+)/.exec(serverFirst) ?? [];
  const ownNonce = firstBare.slice(firstBare.lastIndexOf(',r=') + 3);
  if (!nonce.startsWith(ownNonce) || nonce === ownNonce) throw new Error('not our nonce');
  const iterations = Number(count);
  if (iterations < 4096 || iterations > 600000)
    throw new Error(`iteration count ${iterations} is outside 4096 to 600000`);

  const salted = await pbkdf2(secret.normalize('NFKC'), fromBase64(salt), iterations);
  const clientKey = await hmac(salted, 'Client Key');
  const storedKey = new Uint8Array(await crypto.subtle.digest(hash, clientKey));
  const withoutProof = `c=biws,r=${nonce}`;
  const message = `${firstBare},${serverFirst},${withoutProof}`;
  const signature = await hmac(storedKey, message);
  const proof = clientKey.map((byte, i) => byte ^ (signature[i] as number));
  const serverSignature = await hmac(await hmac(salted, 'Server Key'), message);
  return { final: `${withoutProof},p=${toBase64(proof)}`, expected: `v=${toBase64(serverSignature)}` };
}

type Bytes = Uint8Array<ArrayBuffer>;

const importKey = (key: Bytes, algorithm: string | HmacImportParams, usage: KeyUsage) =>
  crypto.subtle.importKey('raw', key, algorithm, false, [usage]);

async function pbkdf2(password: string, salt: Bytes, iterations: number): Promise<Bytes> {
  const key = await importKey(encoder.encode(password), 'PBKDF2', 'deriveBits');
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'PBKDF2', hash, salt, iterations }, key, 256));
}

async function hmac(keyBytes: Bytes, message: string): Promise<Bytes> {
  const key = await importKey(keyBytes, { name: 'HMAC', hash }, 'sign');
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(message)));
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
