// What applications report as an error, and as a log.

import { describe, expect, it, vi } from 'vitest';
import { conference, inCall, open, refused, stillWorks, taken, watchForThrows } from './app.ts';

watchForThrows();

const cyclic = () => {
  const error: Record<string, unknown> = { code: 7 };
  error.self = error;
  return error;
};

describe('errors in every form (spec: API-01)', () => {
  it.each<[string, () => unknown, { name?: string; message?: string | RegExp }]>([
    ['nothing', () => undefined, { name: '', message: '' }],
    ['null', () => null, { name: '', message: '' }],
    ['text', () => 'DevicesNotFoundError', { name: '', message: 'DevicesNotFoundError' }],
    ['an empty text', () => '', { name: '', message: '' }],
    ['an Error', () => new TypeError('bad sdp'), { name: 'TypeError', message: 'bad sdp' }],
    [
      'a DOMException',
      () => new DOMException('no camera', 'NotFoundError'),
      { name: 'NotFoundError', message: 'no camera' },
    ],
    [
      'a DOMException around an error',
      () => new DOMException(String(new Error('x'))),
      { name: 'Error', message: 'Error: x' },
    ],
    ['an object with name and message', () => ({ name: 'Own', message: 'own' }), { name: 'Own', message: 'own' }],
    ['an object with a name alone', () => ({ name: 'Own' }), { name: 'Own', message: '' }],
    ['an object without either', () => ({ code: 31005 }), { name: '', message: '{"code":31005}' }],
    [
      'an object of an SDK',
      () => ({ errorType: 'webrtc_error', endPointUrl: 'set_remote' }),
      { message: /webrtc_error/ },
    ],
    ['an event', () => new Event('icecandidateerror'), {}],
    ['a number', () => 488, { message: '488' }],
    ['false', () => false, { message: 'false' }],
    ['a list', () => ['a', { b: 1 }], {}],
    ['a function', () => () => undefined, {}],
    ['an object that points at itself', cyclic, {}],
    [
      'an object without a prototype',
      () => Object.assign(Object.create(null), { message: 'bare' }),
      { message: 'bare' },
    ],
    ['members that are no text', () => ({ name: 5, message: { deep: true } }), { name: '5' }],
    ['an error whose message is long', () => new Error('m'.repeat(5000)), { message: 'm'.repeat(1024) }],
    ['a frozen error', () => Object.freeze(new Error('cold')), { message: 'cold' }],
    ['an error with a cause', () => new Error('outer', { cause: new Error('inner') }), { message: 'outer' }],
  ])('%s', async (_, make, kept) => {
    const page = await inCall();
    const long = kept.message?.toString().length === 1024;
    taken(
      page.qos.reportError(page.pc, conference, 'setRemoteDescription', make()),
      ...(long ? ['domError.message was cut to 1024 bytes'] : []),
    );
    const error = page.of('error').at(-1);
    expect(error).toMatchObject({ fabric: 1, function: 'setRemoteDescription' });
    expect([typeof error?.name, typeof error?.message]).toEqual(['string', 'string']);
    if (kept.name !== undefined) expect(error?.name).toBe(kept.name);
    if (kept.message !== undefined) expect(error?.message).toMatch(kept.message instanceof RegExp ? kept.message : '');
    if (typeof kept.message === 'string') expect(error?.message).toBe(kept.message);
    await stillWorks(page);
  });

  it('every function, by the enumeration, as text, and by the older name of the enumeration', async () => {
    const page = await inCall();
    const { webRTCFunctions, wrtcFuncNames } = page.qos;
    for (const name of Object.keys(webRTCFunctions)) {
      taken(page.qos.reportError(page.pc, conference, webRTCFunctions[name], new Error('x')));
      taken(page.qos.reportError(page.pc, conference, wrtcFuncNames[name], new Error('x')));
      taken(page.qos.reportError(page.pc, conference, name));
    }
    expect(page.of('error')).toHaveLength(24);
    expect(page.of('log')).toHaveLength(6);
  });

  it.each<[string, unknown, string | undefined]>([
    ['text', 'v=0\r\n', 'v=0\r\n'],
    ['a description', { type: 'offer', sdp: 'v=0\r\n' }, 'v=0\r\n'],
    ['null', null, undefined],
    ['undefined', undefined, undefined],
    ['an empty text', '', undefined],
  ])('a description as %s', async (_, sdp, kept) => {
    const page = await inCall();
    taken(page.qos.reportError(page.pc, conference, 'createAnswer', new Error('x'), sdp, sdp));
    expect([page.of('error')[0]?.localSDP, page.of('error')[0]?.remoteSDP]).toEqual([kept, kept]);
  });

  it.each<[string, unknown]>([
    ['a description without text', { type: 'offer' }],
    ['the description of a rollback', { type: 'rollback', sdp: '' }],
    ['a number', 7],
    ['a list of lines', ['v=0']],
    ['a promise of one', Promise.resolve({ type: 'offer', sdp: 'v=0' })],
  ])('a description as %s is left out, and named', async (_, sdp) => {
    const page = await inCall();
    const answer = page.qos.reportError(page.pc, conference, 'createAnswer', new Error('x'), sdp, sdp);
    taken(answer, 'localSDP must be', 'remoteSDP must be', 'ignored');
    expect(Object.keys(page.of('error')[0] ?? {}).filter((name) => name.endsWith('SDP'))).toEqual([]);
    await stillWorks(page);
  });
});

describe('without a PeerConnection (spec: API-12)', () => {
  it.each([null, undefined])('%s: getUserMedia failed before there was a call', async (pc) => {
    const page = await open();
    taken(page.qos.reportError(pc, conference, 'getUserMedia', new DOMException('denied', 'NotAllowedError')));
    expect(page.of('error')[0]).toMatchObject({ conferenceID: conference, name: 'NotAllowedError' });
    await stillWorks(page);
  });

  it('a queue that is emptied after the fabric was added, with its PeerConnection or without', async () => {
    const page = await inCall();
    for (const pc of [undefined, null, page.pc])
      taken(page.qos.reportError(pc, conference, 'applicationLog', 'queued'));
    expect(page.of('log')).toHaveLength(3);
  });

  it('after the end, it still reaches the conference (spec: FAB-11)', async () => {
    const page = await inCall();
    taken(page.qos.sendFabricEvent(page.pc, 'fabricTerminated', conference));
    await page.harness.run(2000);
    taken(page.qos.reportError(page.pc, conference, 'applicationLog', 'the last lines'));
    taken(page.qos.reportError(page.pc, conference, 'iceConnectionFailure', 'late'));
    expect(page.of('log')[0]).toMatchObject({ conferenceID: conference, text: 'the last lines' });
  });

  it.each<[string, unknown[], string]>([
    ['no conference', [null, undefined, 'getUserMedia'], 'conferenceID'],
    ['an unknown function', [null, conference, 'replaceTrack'], 'wrtcFuncName'],
    ['the error in the place of the function', [null, conference, new Error('x')], 'wrtcFuncName'],
    ['function and conference exchanged', [null, 'getUserMedia', conference], 'wrtcFuncName'],
    ['nothing', [], 'conferenceID'],
  ])('%s is refused', async (_, args, argument) => {
    const page = await open();
    refused(page.qos.reportError(...args), argument);
    await stillWorks(page);
  });
});

describe('logs (spec: API-02, LIB-09)', () => {
  it.each<[string, unknown, string | RegExp]>([
    ['text', 'a line', 'a line'],
    ['an object', { level: 'warn', lines: ['a', 'b'] }, '{"level":"warn","lines":["a","b"]}'],
    ['a list of lines', ['a', 'b'], '["a","b"]'],
    ['an error', new Error('broken'), 'Error: broken'],
    ['text that is JSON already', '{"a":1}', '{"a":1}'],
    ['an empty text', '', ''],
    ['an object that points at itself', cyclic(), /./],
    ['a number', 7, '7'],
  ])('%s', async (_, log, text) => {
    const page = await inCall();
    taken(page.qos.reportError(page.pc, conference, 'applicationLog', log));
    const kept = page.of('log')[0]?.text;
    if (text instanceof RegExp) expect(kept).toMatch(text);
    else expect(kept).toBe(text);
    expect(page.of('error')).toEqual([]);
  });

  it.each(['applicationLog', 'applicationError'])('%s of what cannot be read says so', async (name) => {
    const page = await inCall();
    const thrower = () => {
      throw new Error('theirs');
    };
    const proxy = new Proxy({}, { get: thrower, getPrototypeOf: thrower, ownKeys: thrower });
    taken(page.qos.reportError(page.pc, conference, name, proxy));
    taken(page.qos.reportError(page.pc, conference, name, Object.assign(Object.create(null), { toJSON: thrower })));
    expect(page.of('log').map((log) => log.text)).toEqual(['it cannot be read', 'it cannot be read']);
    await stillWorks(page);
  });

  it('nothing is an empty log, not one of two quotes', async () => {
    const page = await inCall();
    taken(page.qos.reportError(page.pc, conference, 'applicationLog'));
    expect(page.of('log')[0]?.text).toBe('');
  });

  it('a batch of a whole meeting is cut, with a warning', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const page = await inCall();
    taken(
      page.qos.reportError(page.pc, conference, 'applicationLog', { log: 'x'.repeat(200_000) }),
      'domError was cut to 20480 bytes',
    );
    expect(String(page.of('log')[0]?.text)).toHaveLength(20_480);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('an application that logs from its own console wrapper is not called in circles', async () => {
    const page = await inCall();
    const said: unknown[] = [];
    vi.spyOn(console, 'warn').mockImplementation((text: unknown) => {
      said.push(text);
      page.qos.reportError(page.pc, conference, 'applicationLog', String(text));
    });
    taken(page.qos.reportError(page.pc, conference, 'applicationLog', 'x'.repeat(30_000)), 'was cut');
    expect(said).toHaveLength(1);
    expect(page.of('log')).toHaveLength(2);
  });
});
