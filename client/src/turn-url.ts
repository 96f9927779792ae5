// URLs of TURN servers (RFC 7065).

/** The protocol between a browser and a TURN server. */
export type RelayProtocol = 'udp' | 'tcp' | 'tls';

/** The protocol that a URL asks for; undefined for a URL of no TURN server. */
export function protocolOf(url: string): RelayProtocol | undefined {
  const [, secure, query = ''] = /^turn(s?):[^?]+(.*)$/i.exec(url) ?? [];
  if (secure === undefined) return undefined;
  if (secure) return 'tls';
  return /transport=tcp/i.test(query) ? 'tcp' : 'udp';
}
