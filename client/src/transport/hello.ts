// hello and welcome (protocol section 4.1).

import type { Message } from '../auth.ts';
import { acknowledge, rewind } from '../queue.ts';
import { reportOnce } from '../session/results.ts';
import { measureEvery } from '../session/schedule.ts';
import type { Session } from '../session/state.ts';
import { cutBytes } from '../validate.ts';
import { version } from '../version.ts';
import { pump } from './send.ts';

/** The hello that is sent now. */
export function hello(s: Session): object {
  const { sessionToken, clock } = s;
  s.helloSentMs = clock.mono();
  s.helloToken = sessionToken;
  // Renewals bring IDs too: the session keeps its first one.
  s.id ||= sessionToken?.session ?? '';
  const { applicationVersion, siteID, additionalIDs } = s.info.config;
  const userAgent = globalThis.navigator?.userAgent;
  return {
    type: 'hello',
    versions: [1],
    token: sessionToken?.token,
    session: s.id,
    acked: s.queue.ackedSeq,
    at: clock.time(clock.stamp()),
    library: version,
    userAgent: userAgent ? cutBytes(userAgent, 512) : undefined,
    applicationVersion,
    siteID,
    additionalIDs,
  };
}

/** The collector accepted it: sends everything that is not acknowledged. */
export function welcomed(s: Session, welcome: Message): void {
  s.welcomedAtMs = s.clock.mono();
  s.clock.sample(s.helloSentMs, s.welcomedAtMs, Number(welcome.at));
  s.ready = true;
  s.doubted = false;
  if (s.socket) {
    s.posting = false;
    s.socketRefusals = 0;
  }
  s.announced = new Set();
  s.frameWindow = Number(welcome.windowFrames) || s.frameWindow;
  rewind(s.queue);
  acknowledge(s.queue, Number(welcome.acked) || 0);
  takeSettings(s, welcome);
  reportOnce(s, 'success', 'connected');
  pump(s);
}

function takeSettings(s: Session, { statsIntervalMs, conferenceURL, labels }: Message): void {
  measureEvery(s, Number(statsIntervalMs));
  if (typeof conferenceURL === 'string') s.urlTemplate = conferenceURL;
  s.urlByFabric = new Map();
  const mos = (labels as { mos?: unknown } | undefined)?.mos;
  if (Array.isArray(mos) && mos.length === 4) s.bounds = mos.map(Number);
}
