// Errors as a whole: what they have besides a name and a message, and SDPs in parts (API-01).

import { afterEach, describe, expect, it } from 'vitest';
import { conference, inCall, taken } from './callers/app.ts';
import { stopHarness } from './harness.ts';

afterEach(stopHarness);

type Page = Awaited<ReturnType<typeof inCall>>;

/** What the collector joins: the text of an SDP of the last error, by the offsets of its parts. */
async function joined({ of, harness }: Page, field: string): Promise<string> {
  await harness.run(); // as acknowledgements come
  const error: Record<string, unknown> = of('error').at(-1) ?? {};
  const parts = of('sdp').filter((part) => part.error === error.seq && part.field === field);
  let bytes = Buffer.alloc(0);
  for (const { offset, text, fabric } of parts) {
    expect([offset, fabric]).toEqual([bytes.length, error.fabric]);
    bytes = Buffer.concat([bytes, Buffer.from(String(text))]);
  }
  expect(error[`${field}Bytes`] ?? 0).toBe(bytes.length);
  return bytes.toString();
}

describe('errors as a whole (spec: API-01)', () => {
  it.each<[string, () => unknown, object]>([
    [
      'the stack of an Error',
      () => Object.assign(new Error('e'), { stack: 'Error: e\n    at f' }),
      { stack: 'Error: e\n    at f' },
    ],
    ['a code in words', () => Object.assign(new Error('e'), { code: 'EFAIL' }), { code: 'EFAIL' }],
    ['the code of a DOMException', () => new DOMException('e', 'NotFoundError'), { code: '8' }],
    ['no code of a DOMException', () => new DOMException('e', 'OperationError'), { code: '' }],
    [
      'a constraint',
      () => ({ name: 'OverconstrainedError', message: '', constraint: 'width' }),
      { constraintName: 'width' },
    ],
    ['its older name', () => ({ name: 'X', constraintName: 'height' }), { constraintName: 'height' }],
    [
      'further members',
      () => ({ name: 'X', status: 500, ok: false, text: 't', deep: { a: 1 }, none: null, f: () => 1 }),
      { name: 'X', message: '', details: '{"status":500,"ok":false,"text":"t"}' },
    ],
    ['no further members', () => new Error('e'), { details: undefined }],
  ])('%s', async (_, make, kept) => {
    const page = await inCall();
    taken(page.qos.reportError(page.pc, conference, 'getUserMedia', make()));
    expect({ details: undefined, ...page.of('error').at(-1) }).toMatchObject(kept);
  });

  it.each<[string, object, object]>([
    [
      'a name and a message',
      { name: 'N', message: 'm', status: 500 },
      { name: 'N', message: 'm', details: '{"status":500}' },
    ],
    ['a message alone', { message: 'm', status: 500 }, { name: '', message: 'm', details: '{"status":500}' }],
    ['neither', { status: 500, text: 't' }, { name: '', message: '{"status":500,"text":"t"}' }],
  ])('a circular object with %s', async (_, members, kept) => {
    const page = await inCall();
    const error: Record<string, unknown> = { ...members };
    error.self = { error };
    taken(page.qos.reportError(page.pc, conference, 'createOffer', error));
    expect(page.of('error').at(-1)).toMatchObject(kept);
  });

  it('an object whose members throw keeps the others', async () => {
    const page = await inCall();
    const error = { name: 'N', status: 500 };
    for (const member of ['message', 'code', 'further'])
      Object.defineProperty(error, member, {
        enumerable: true,
        get() {
          throw new Error('no');
        },
      });
    taken(page.qos.reportError(page.pc, conference, 'createOffer', error));
    expect(page.of('error').at(-1)).toMatchObject({
      name: 'N',
      message: 'it cannot be read',
      details: '{"status":500}',
    });
  });

  it('names what it cuts', async () => {
    const page = await inCall();
    const x = (n: number) => 'x'.repeat(n);
    const error = { name: x(129), message: x(1025), code: x(129), constraint: x(129), stack: x(4097), more: x(2048) };
    taken(
      page.qos.reportError(page.pc, conference, 'createOffer', error, x(131_073), x(131_073)),
      ...['name', 'code', 'constraintName'].map((name) => `domError.${name} was cut to 128 bytes`),
      'domError.message was cut to 1024 bytes',
      'domError.stack was cut to 4096 bytes',
      'domError was cut to 2048 bytes',
      ...['localSDP', 'remoteSDP'].map((name) => `${name} was cut to 131072 bytes`),
    );
    expect([(await joined(page, 'localSDP')).length, (await joined(page, 'remoteSDP')).length]).toEqual([
      131_072, 131_072,
    ]);
  });
});

describe('SDPs in parts (spec: API-01)', () => {
  const line = 'a=candidate:1 1 udp 2122260223 192.0.2.1 50000 typ host\r\n';
  const cases: [string, string][] = [
    ['lines', line.repeat(1800)],
    ['control characters, which JSON makes six of', '\u0001'.repeat(131_072)],
    ['quotes', '"\\'.repeat(60_000)],
    ['two bytes', 'é'.repeat(65_000)],
    ['three bytes', '日'.repeat(43_000)],
    ['surrogate pairs at odd places', `v${'👩'.repeat(32_000)}`],
    ['line separators', '\u2028\n\r\u0085'.repeat(9000)],
  ];

  it.each(cases)('of %s', async (_, sdp) => {
    const page = await inCall();
    taken(
      page.qos.reportError(page.pc, conference, 'createOffer', new Error('x'), sdp, { type: 'answer', sdp: 'v=0' }),
    );
    expect(page.of('error').at(-1)).not.toHaveProperty('localSDP');
    expect((await joined(page, 'localSDP')) === sdp).toBe(true);
    expect(await joined(page, 'remoteSDP')).toBe('v=0');
  });

  it('only where one frame has no room', async () => {
    const page = await inCall();
    const sdp = line.repeat(350); // 19,950 bytes
    taken(page.qos.reportError(page.pc, conference, 'createOffer', new Error('x'), sdp, sdp));
    expect(page.of('error').at(-1)).toMatchObject({ localSDP: sdp, remoteSDP: sdp });
    expect(page.of('sdp')).toEqual([]);
    taken(page.qos.reportError(page.pc, conference, 'createOffer', new Error('x'), line.repeat(900)));
    expect(await joined(page, 'localSDP')).toBe(line.repeat(900));
    expect(page.of('error').at(-1)).not.toHaveProperty('remoteSDPBytes');
  });

  it('without local addresses, where they are not collected (spec: STAT-05)', async () => {
    const page = await inCall({ collectIP: false });
    taken(page.qos.reportError(page.pc, conference, 'createOffer', new Error('x'), line.repeat(1800)));
    expect(await joined(page, 'localSDP')).toBe(line.replace('192.0.2.1', '0.0.0.0').repeat(1800));
  });

  it('of the conference, where there is no fabric', async () => {
    const page = await inCall();
    taken(page.qos.reportError(null, 'attempt', 'getUserMedia', new Error('x'), line.repeat(1800)));
    expect(await joined(page, 'localSDP')).toBe(line.repeat(1800));
    for (const part of page.of('sdp')) expect(part.conferenceID).toBe('attempt');
  });
});
