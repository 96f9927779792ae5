// What the scenarios of this folder share: the library as code without types sees it, a
// collector that answers, and the proof that what went before did no harm.

import { afterEach, beforeEach, expect } from 'vitest';
import { assemble } from '../../src/index.ts';
import { backendUrl, FakePeerConnection, type Harness, type Message, startHarness, stopHarness } from '../harness.ts';

/** What every operation answers. */
export interface Answer {
  status: string;
  msg: string;
  message: string;
}

type Operation = (...args: unknown[]) => Answer;

/** An instance, or the export, for callers that know no types. */
export interface Library {
  initialize: Operation;
  addNewFabric: Operation;
  reportError: Operation;
  associateMstWithUserID: Operation;
  sendFabricEvent: Operation;
  reportUserIDChange: Operation;
  sendUserFeedback: Operation;
  on: Operation;
  attachWifiStatsHandler: Operation;
  sendCallDetails: Operation;
  sendCustomEvent: Operation;
  sendCustomStats: Operation;
  startPrecallTests: Operation;
  stopPrecallTests: Operation;
  makePrecallTest: Operation;
  version: string;
  fabricUsage: Record<string, string>;
  fabricEvent: Record<string, string>;
  webRTCFunctions: Record<string, string>;
  userIDType: Record<string, string>;
  endpointType: Record<string, string>;
  transmissionDirection: Record<string, string>;
  qosAPIReturnStatus: Record<string, string>;
  wrtcFuncNames: Record<string, string>;
  callStatsAPIReturnStatus: Record<string, string>;
}

export type Constructor = Library & { (...args: unknown[]): Library; new (...args: unknown[]): Library };

/** The export as a script tag would make it. */
export const load = () => assemble(`${backendUrl}/qos.min.js`) as unknown as Constructor;

/** A token generator in the documented form. */
export const tokens = (_forcenew: boolean, callback: (error: unknown, token?: string) => void) => callback(null, 'jwt');

/** A page with an instance that is logged in. */
export interface Page {
  harness: Harness;
  qos: Library;
  /** All numbered frames that were sent, fabric announcements too. */
  sent(): Message[];
  of(type: string): Message[];
  events(): [unknown, unknown][];
  reported: string[];
}

/** Lets the collector welcome whatever connects. */
export async function welcome(harness: Harness): Promise<void> {
  await harness.run();
  harness.socket().acking = true;
  harness.socket().welcome();
  await harness.run();
}

export async function open(qos: Library = new (load())(), user: unknown = 'alice', config?: unknown): Promise<Page> {
  const harness = startHarness();
  const reported: string[] = [];
  const answer = qos.initialize('demo', tokens, user, (err: string) => reported.push(err), null, config);
  expect(answer.status).toBe('success');
  await welcome(harness);
  const of = (type: string) => harness.socket().of(type);
  return {
    harness,
    qos,
    sent: () => harness.socket().messages,
    of,
    events: () => of('event').map((message) => [message.event, message.data]),
    reported,
  };
}

export const conference = 'weekly';

/** open(), with one call going on. */
export async function inCall(config?: unknown) {
  const page = await open(undefined, undefined, config);
  const pc = new FakePeerConnection();
  expect(page.qos.addNewFabric(pc, 'bob', page.qos.fabricUsage.multiplex, conference).status).toBe('success');
  pc.connect();
  await page.harness.run();
  return { ...page, pc };
}

/** The form that every answer has; returns it. */
export function wellFormed(answer: Answer): Answer {
  expect(answer).toEqual({
    status: expect.stringMatching(/^(success|failure)$/),
    msg: expect.any(String),
    message: answer.msg,
  });
  if (answer.status === 'failure') expect(answer.msg).not.toBe('');
  return answer;
}

/** A failure whose message names the argument. */
export function refused(answer: Answer, argument: string): void {
  expect(wellFormed(answer)).toMatchObject({ status: 'failure', msg: expect.stringContaining(argument) });
  expect(answer.msg).not.toContain('internal error');
}

/** A success; what was ignored or cut is named. */
export function taken(answer: Answer, ...names: string[]): void {
  expect(wellFormed(answer)).toMatchObject({ status: 'success' });
  for (const name of names) expect(answer.msg).toContain(name);
  if (!names.length) expect(answer.msg).toBe('');
}

let calls = 0;

/** A call from its beginning to its end works as if nothing had been before it. */
export async function stillWorks({ harness, qos, of }: Page): Promise<void> {
  const pc = new FakePeerConnection();
  const own = `later call ${++calls}`;
  const heard: string[] = [];
  taken(qos.addNewFabric(pc, 'carol', 'multiplex', own, null, (err: string) => heard.push(err)));
  taken(qos.sendFabricEvent(pc, 'audioMute', own));
  taken(qos.sendUserFeedback(own, { userID: 'alice', overall: 5 }, (err: string) => heard.push(err)));
  taken(qos.sendFabricEvent(pc, 'fabricTerminated', own));
  await harness.run(2000);
  const fabric = of('fabric').find((message) => message.conferenceID === own)?.fabric;
  expect(fabric).toEqual(expect.any(Number));
  const names = of('event')
    .filter((message) => message.fabric === fabric)
    .map((message) => message.event);
  expect(names.slice(0, 2)).toEqual(['fabricAdded', 'audioMute']);
  expect(names.at(-1)).toBe('fabricTerminated');
  expect(heard).toEqual(['success', 'success']);
}

/** Fails a test in whose course anything was thrown into the page. */
export function watchForThrows(): void {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  beforeEach(() => {
    uncaught.length = 0;
    process.on('unhandledRejection', note);
    process.on('uncaughtException', note);
  });
  afterEach(async () => {
    await stopHarness();
    await new Promise((resolve) => setTimeout(resolve, 0)); // rejections are reported after the microtasks
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
    expect(uncaught).toEqual([]);
  });
}
