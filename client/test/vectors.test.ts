// The test vectors of the wire protocol: messages of a client as this library makes them,
// messages of a server as it takes them. See protocol/testdata/README.md.

import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  backendUrl,
  connect,
  FakePeerConnection,
  FakeSocket,
  type Message,
  startHarness,
  stopHarness,
} from './harness.ts';

afterEach(stopHarness);

type Part = string | { text: string; times: number } | { base64: string };

interface Vector {
  name: string;
  from: 'client' | 'server';
  endpoint?: string;
  message?: Message;
  raw?: string | Part[];
  expect?: Message;
}

const folder = new URL('../../protocol/testdata/', import.meta.url);

function load(prefix: string): Vector[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  for (const name of files) expect(name).toMatch(/^(good|fail)_/);
  return files
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({ name, ...JSON.parse(readFileSync(new URL(name, folder), 'utf8')) }));
}

function text(raw: string | Part[]): string {
  const part = (p: Part) =>
    typeof p === 'string'
      ? p
      : 'text' in p
        ? p.text.repeat(p.times)
        : Buffer.from(p.base64, 'base64').toString('latin1');
  return Array.isArray(raw) ? raw.map(part).join('') : raw;
}

/** The message of a vector as an object, null when it is not JSON. */
function messageOf(vector: Vector): Message | null {
  if (vector.message) return vector.message;
  try {
    return JSON.parse(text(vector.raw ?? ''));
  } catch {
    return null;
  }
}

/** Members that belong to the moment, or whose absence means the same as null. */
function essence(message: Message | undefined): object {
  const moment = [
    'seq',
    'at',
    'fabric',
    'addedAt',
    'conferenceID',
    'conferenceAt',
    'token',
    'session',
    'acked',
    'userAgent',
    'library',
    'versions',
  ];
  const kept = Object.entries(message ?? {}).filter(
    ([name, value]) => value !== null && value !== '' && !moment.includes(name),
  );
  const user = (value: unknown) => {
    const { userName, aliasName } = (value ?? {}) as { userName?: string; aliasName?: string };
    return aliasName && (userName === undefined || userName === aliasName) ? aliasName : value;
  };
  return Object.fromEntries(kept.map(([name, value]) => [name, /userID$/i.test(name) ? user(value) : value]));
}

/** What an application hands over for an error frame. */
function errorOf({ name, message = '', code, constraintName, stack, details = '{}' }: Message): object {
  const further = /^{/.test(String(details)) ? JSON.parse(String(details)) : { details };
  return { name, message, code, constraintName, stack, ...further };
}

/** Says with the library's API what a message says; gives what came out on the wire. */
async function produce(message: Message): Promise<Message | undefined> {
  const harness = startHarness();
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const { applicationVersion, siteID, additionalIDs } = message;
  const { qos } = connect(harness, {
    backendUrl,
    ...(message.type === 'hello' && { applicationVersion, siteID, additionalIDs }),
  });
  await harness.run();
  const socket = harness.socket();
  socket.welcome();
  const pc = new FakePeerConnection();
  // The cases hold what the types forbid.
  const m = message as unknown as { [name: string]: never } & Record<
    'remoteUserID' | 'fabricUsage' | 'conferenceID' | 'event' | 'function',
    never
  >;
  const add = () =>
    message.type === 'fabric'
      ? qos.addNewFabric(pc, m.remoteUserID, m.fabricUsage, m.conferenceID, {
          remoteEndpointType: m.remoteEndpointType,
          fabricTransmissionDirection: m.fabricTransmissionDirection,
        } as never)
      : qos.addNewFabric(pc, 'bob', 'multiplex', 'standup');
  add();
  const before = socket.of(message.type).length;
  const last = () => (socket.of(message.type).length > before ? socket.of(message.type).at(-1) : undefined);
  switch (message.type) {
    case 'hello':
      return socket.of('hello')[0];
    case 'fabric':
      return socket.of('fabric')[0];
    case 'error':
      qos.reportError(pc, 'standup', m.function, errorOf(message), m.localSDP, m.remoteSDP);
      return last();
    case 'log':
      qos.reportError(pc, 'standup', 'applicationLog', m.text);
      return last();
    case 'feedback':
      qos.sendUserFeedback('standup', message as never);
      return last();
    case 'event':
      qos.sendFabricEvent(message.fabric ? pc : null, m.event, 'standup', m.data);
      return last();
  }
  return undefined;
}

const speakable = ['hello', 'fabric', 'error', 'log', 'feedback', 'event'];
const applicationEvents = ['audioMute', 'dominantSpeaker'];

const good = load('good_')
  .filter((v) => v.from === 'client' && !v.endpoint)
  .map((v) => ({ name: v.name, said: messageOf(v), wanted: v.expect ?? messageOf(v) }))
  .filter(({ said }) => said && speakable.includes(said.type))
  .filter(({ said }) => said?.type !== 'event' || applicationEvents.includes(String(said.event)))
  // What no call of the interface says: numbers beyond the counters of a page, foreign members.
  .filter(({ name }) => !/unknown_members|text_escaped_names|number_limit|lone_surrogate|event_data_depth/.test(name))
  // What one call says with other frames, or what is JSON: see report.test.ts.
  .filter(({ name }) => !/error_(sdp_bytes|sdp_limit|details_limit)/.test(name));

it('finds the vectors', () => {
  expect(good.length).toBeGreaterThan(40);
});

it.each(good)('can say $name', async ({ said, wanted }) => {
  const made = await produce(said as Message);
  const expected = essence(wanted as Message);
  const optional = said?.type === 'hello' ? expected : { ...essence(made), ...expected };
  expect(essence(made)).toEqual(optional);
  expect(Buffer.byteLength(JSON.stringify(made))).toBeLessThanOrEqual(65_536);
});

const bad = load('fail_')
  .filter((v) => v.from === 'client' && !v.endpoint)
  .map((v) => ({ name: v.name, said: messageOf(v) }))
  .filter(({ said }) => said && speakable.includes(said.type))
  // Faults in members that the library makes itself, beyond the reach of a caller.
  .filter(
    ({ name }) =>
      !/_no_(at|seq|addedAt|fabric|conference_at|conference_id|scope|acked|session|token|versions)|_fabric_unknown|^fail_hello_(acked|session|token|version|library|userAgent|seq)|fabric_(added|fraction|string|too_high|zero|changed)|both_scopes|type_twice|json_|data_too_deep|log_no_text/.test(
        name,
      ),
  );

it.each(bad)('never says $name', async ({ said }) => {
  const made = await produce(said as Message);
  if (made) expect(essence(made)).not.toEqual(essence(said as Message));
});

describe('messages of a server', () => {
  it.each(load('good_').filter((v) => v.from === 'server' && !v.endpoint))('takes $name', async (vector) => {
    const harness = startHarness();
    const { qos } = connect(harness, { backendUrl });
    await harness.run();
    const socket = harness.socket();
    const message = messageOf(vector) as Message;
    if (message.type === 'welcome') {
      socket.open();
      socket.say(message);
      qos.sendCustomEvent(null, 'standup', ['x']);
      expect(socket.of('event')).toHaveLength(1);
      return;
    }
    // Final is only what answers a hello.
    if (message.retry === false) socket.open();
    else socket.welcome();
    qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', 'standup');
    socket.say(message);
    await harness.run();
    if (message.type === 'bye') {
      expect(socket.closed).toBe(true);
      const reported =
        message.code === 'token_expired' ? ['success', 'authenticated'] : [message.csError, message.message];
      expect(harness.inits.at(-1)).toEqual(reported);
      await harness.run(120_000);
      expect(FakeSocket.all.length > 1).toBe(message.retry === true);
    } else if (message.type === 'nack') {
      expect(harness.inits.at(-1)).toEqual([message.csError, message.message]);
    } else expect(socket.closed).toBe(false);
  });

  it.each(load('good_').filter((v) => v.from === 'server' && v.endpoint === 'auth' && messageOf(v)?.type === 'error'))(
    'takes $name',
    async (vector) => {
      const message = messageOf(vector) as Message;
      const harness = startHarness(() => ({ status: 400, body: JSON.stringify(message) }));
      connect(harness, { backendUrl });
      await harness.run();
      expect(harness.inits).toEqual([[message.csError, message.message]]);
    },
  );

  it.each(load('fail_').filter((v) => v.from === 'server'))('survives $name', async (vector) => {
    const harness = startHarness();
    const { qos } = connect(harness, { backendUrl });
    await harness.run();
    const socket = harness.socket();
    socket.welcome();
    socket.onmessage?.({ data: vector.message ? JSON.stringify(vector.message) : text(vector.raw ?? '') });
    qos.sendCustomEvent(null, 'standup', ['x']);
    expect(socket.of('event')).toHaveLength(1);
  });
});
