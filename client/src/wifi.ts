// Wi-Fi statistics that the application supplies (API-09). A handler that rejects, is slow
// or answers nonsense costs one sample.

import { inTime } from './result.ts';
import { num, str } from './stats/normalise.ts';
import { isObject } from './validate.ts';

/** The application's source of Wi-Fi statistics: a promise of a JSON string. */
export type WifiHandler = () => unknown;

const limitMs = 5000;
const maxAddresses = 16;

/** One sample, null when there is none. Never rejects. */
export function readWifi(handler: WifiHandler, withAddresses: boolean): Promise<object | null> {
  return inTime(limitMs, async () => parse(await handler(), withAddresses));
}

function parse(answer: unknown, withAddresses: boolean): object | null {
  const stats: unknown = typeof answer === 'string' ? JSON.parse(answer) : answer;
  if (!isObject(stats)) return null;
  const { signal, rssi, timestamp, noise, addresses } = stats;
  if ([signal, rssi, timestamp].some((value) => num(value) === null)) return null;
  const kept = texts([addresses].flat());
  return {
    signal,
    rssi,
    timestamp,
    interface: texts([stats.interface])[0],
    noise: num(noise) ?? undefined,
    addresses: withAddresses && kept.length ? kept : undefined,
  };
}

/** The non-empty strings of a list, not too many and not too long. */
export function texts(list: unknown[]): string[] {
  return (list.filter(str) as string[]).slice(0, maxAddresses).map((value) => value.slice(0, 64));
}
