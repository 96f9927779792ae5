// The numbers of pre-call tests. docs/library.md lists and explains them.

/** The limits of a test when the collector sets none. */
export const defaultLimits = { maxDurationMs: 60_000, maxBytes: 4_000_000, maxThroughputBps: 10_000_000 };

/** The limits of one test: whole duration, payload sent in all, and the bit rate at which the ramp ends. */
export type Limits = typeof defaultLimits;

/** A provider is acceptable within these. */
export const acceptableLimits = { rttMs: 300, lossFraction: 0.05, jitterMs: 50, throughputBps: 100_000 };

/** Servers of one test; the frame has room for so many. */
export const maxProviders = 32;

/** URLs of one transport of a server: browsers slow down with more. */
export const maxUrls = 4;

/** Of a provider and of an error, in UTF-8. */
export const maxTextBytes = 128;

/** Between two pings, ms: as the packets of a call, and as light. */
export const pingEveryMs = 25;

/** Every so many pings are answered. */
export const answeredEvery = 4;

/** The pings of a provider last so long, ms: least and most. */
export const pingsMs = { least: 500, most: 3000 };

/** A transport waits at least so long for a relay and for a connection, ms: with many servers, and with few. */
export const waitMs = { least: 800, most: 4000 };

/** The longest round trip that waits allow for, ms. */
export const maxRoundTripMs = 2000;

/** How many round trips it takes until a server grants a relay: TURN has two, TCP one more, TLS two more. */
export const relayTrips = { udp: 2, tcp: 3, tls: 4 };

/** The waits in round trips. */
export const waitTrips = {
  /** For a relay: those of TLS 1.2 and of the name. */
  relay: 6,
  /** From the relay to open channels: browsers need 9. */
  connection: 13,
  /** For all of a test, beside nearMs. */
  test: 22,
};

/** How long a test lasts at most on a path without delay, ms. */
export const nearMs = 15_000;

/** The answer to a STUN request may take so long, ms. */
export const stunMs = 3000;

/** Providers that are connected at once where round trips are long, and that stay connected until their ramp. */
export const mostOpen = 4;

/** Round trips beyond this are long, ms. */
export const farMs = 400;

/**
 * Up to this round trip throughput is measured, ms. Beyond it SCTP's window stays small for more round trips than a test
 * has (docs/adr/0045).
 */
export const mostRampTripMs = 250;

/** The bit rate that the ramp begins with: that of a slow path, whose queue it must not fill. */
export const firstBps = 125_000;

/** Payload of a message of the ramp, bytes: one packet. */
export const messageBytes = 1100;

/** The throughput is that of the best span of so many ms. */
export const throughputSpanMs = 800;

/** After the ramp the rate is held so long, ms. */
export const holdMs = 1200;
