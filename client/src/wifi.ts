// Wi-Fi statistics that the application supplies (API-09). A handler that rejects, is slow
// or answers nonsense costs one sample.

import { num } from './stats/normalise.ts';
import { isObject } from './validate.ts';

/** The application's source of Wi-Fi statistics: a promise of a JSON string. */
export type WifiHandler = () => unknown;

const limitMs = 5000;
const maxAddresses = 16;

/** One sample, null when there is none. Never rejects. */
export async function readWifi(handler: WifiHandler, withAddresses: boolean): Promise<object | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, limitMs, null);
  });
  try {
    return parse(await Promise.race([handler(), late]), withAddresses);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

function parse(answer: unknown, withAddresses: boolean): object | null {
  const stats: unknown = typeof answer === 'string' ? JSON.parse(answer) : answer;
  if (!isObject(stats)) return null;
  const { signal, rssi, timestamp, noise } = stats;
  if (num(signal) === null || num(rssi) === null || num(timestamp) === null) return null;
  const addresses = Array.isArray(stats.addresses) ? stats.addresses.filter((a) => typeof a === 'string') : [];
  return {
    signal,
    rssi,
    timestamp,
    ...(typeof stats.interface === 'string' && { interface: stats.interface.slice(0, 64) }),
    ...(num(noise) !== null && { noise }),
    ...(withAddresses &&
      addresses.length && { addresses: addresses.slice(0, maxAddresses).map((a) => a.slice(0, 64)) }),
  };
}
