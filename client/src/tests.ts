// Pre-call tests (API-11): a module of its own, which is loaded when a test runs.

import { ownFolder } from './backend.ts';
import { configure, emitFor } from './configuration.ts';
import { answer, type Instance } from './instance.ts';
import { type Host, moduleKey, type Precall, page, type Tester } from './precall/host.ts';
import { text } from './result.ts';
import { liveFabrics } from './session/conferences.ts';
import { send } from './session/send.ts';
import type { Session } from './session/state.ts';

/** Emits why a test has no results: callbacks must not wait for one that never runs. */
export function noTest(instance: Instance, ranks: boolean, reason: string, s = instance.current): void {
  if (instance.current !== s) return; // another user's
  const results = { mediaConnectivity: false, rtt: null, fractionalLoss: null, throughput: null };
  answer(instance, 'preCallTestResults', 'failure', results, reason);
  if (ranks) answer(instance, 'connectionRecommendation', { aggregatedStats: [], providerRanking: [] });
}

/** Passes a request to the tests of the session, in order; the first one loads the module. */
export async function test(s: Session, request: (tester: Tester) => void, ranks = false): Promise<void> {
  try {
    s.tester ??= load(s);
    request(await s.tester);
  } catch (error) {
    s.tester = undefined; // the next request may have a network
    noTest(s.instance, ranks, text(error), s);
  }
}

async function load(s: Session): Promise<Tester> {
  if (!page[moduleKey]) {
    const folder = ownFolder(s.instance.scriptUrl) ?? s.info.base;
    await import(/* webpackIgnore: true */ /* @vite-ignore */ `${folder}qos-precall.mjs`);
  }
  return (page[moduleKey] as Precall).create(hostOf(s));
}

const hostOf = (s: Session): Host => ({
  configure: (more) => configure(s, more),
  record: (members) => send(s, { type: 'precall', stamp: s.clock.stamp(), fabric: 0, members }),
  emit: (...args) => emitFor(s, ...args),
  inCall: () => liveFabrics(s).length > 0,
});

/** A call starts: no test may run beside it. */
export const interrupt = () => page[moduleKey]?.interrupt();

/** Requests the configuration of a session that begins, and runs the automatic test (PRE-01). */
export async function prepare(s: Session): Promise<void> {
  const { instance, info } = s;
  const configuration = await configure(s);
  const disabled = info.config.disablePrecalltest && 'disablePrecalltest is set';
  if (configuration.preCall && !disabled) test(s, (tester) => tester.automatic(configuration));
  else noTest(instance, false, disabled || 'the collector offers no pre-call tests', s);
}
