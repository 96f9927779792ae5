// The servers of a test as the application or the collector names them.

import { protocolOf, type RelayProtocol } from '../turn-url.ts';
import { cutBytes } from '../validate.ts';
import type { Json } from './host.ts';
import { maxProviders, maxTextBytes, maxUrls } from './limits.ts';

/** The result of one way. */
export interface Transport {
  relayProtocol: RelayProtocol;
  connected: boolean;
  /** Until DTLS was up, ms. */
  connectMs?: number;
  error?: string;
}

/** A transport, and the server as a PeerConnection needs it. */
export type Way = [RelayProtocol, RTCIceServer];

/** A server of a test. */
export interface Server {
  provider: string;
  /** In the order in which they are preferred. */
  ways: Way[];
}

/** Reads the servers, or a single one; what is no TURN URL is left out. */
export const readServers = (given: unknown): Server[] => [given].flat().slice(0, maxProviders).map(readServer);

function readServer(given: unknown, index: number): Server {
  const { urls, url, username, credential, label } = (given ?? {}) as Json;
  const all = [urls ?? url].flat().filter((one) => typeof one === 'string');
  const ways = (['udp', 'tcp', 'tls'] as const).flatMap((protocol) => {
    const own = all.filter((one) => protocolOf(one) === protocol).slice(0, maxUrls);
    const way = { urls: own, username, credential } as RTCIceServer;
    return own.length ? [[protocol, way] as Way] : [];
  });
  const name = typeof label === 'string' && label.trim() ? label : hostOf(all[0]);
  return { provider: cutBytes(name || `server ${index + 1}`, maxTextBytes), ways };
}

/** The host of a URL, without its port. */
const hostOf = (url = '') => /^\w+:(\[[^\]]*\]|[^:?]+)/.exec(url)?.[1] ?? '';
