// Bad input, as a table: a row for every argument of every operation, as docs/library.md has
// them. An operation or an argument without a row fails the test, so none can be forgotten.

import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Answer,
  conference,
  inCall,
  type Library,
  load,
  open,
  refused,
  stillWorks,
  tokens,
  watchForThrows,
  wellFormed,
} from './callers/app.ts';
import { backendUrl, FakePeerConnection } from './harness.ts';

watchForThrows();
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined)); // callbacks that throw are reported there

const bytes = (n: number) => 'x'.repeat(n);
const thrower = () => {
  throw new Error('a trap of the application');
};

/** A user object, a PeerConnection and so on whose own getters throw. */
const withGetter = (name: string, rest: object = {}) =>
  Object.defineProperty({ ...rest }, name, { get: thrower, enumerable: true });

/** What looks like a promise, and breaks. */
const thenable = () => Object.fromEntries([['then', thrower]]);

/** Everything that is of the wrong kind for most arguments. Made anew for each use. */
const kinds: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  'an empty string': () => '',
  zero: () => 0,
  'minus one': () => -1,
  'a fraction': () => 1.5,
  true: () => true,
  false: () => false,
  'a string': () => 'nonsense',
  'an empty list': () => [],
  'a list': () => ['a', 1],
  'an empty object': () => ({}),
  'a function': () => () => undefined,
  'a class': () => class {},
  'a symbol': () => Symbol('s'),
  'a bigint': () => 10n,
  'a date': () => new Date(0),
  'an invalid date': () => new Date(Number.NaN),
  'a regular expression': () => /x/,
  'a promise': () => Promise.resolve('x'),
  'a rejected promise that is handled': () => {
    const promise = Promise.reject(new Error('theirs'));
    promise.catch(() => undefined);
    return promise;
  },
  'a string object': () => new String('alice'),
  'a map': () => new Map([['a', 1]]),
  'a frozen object': () => Object.freeze({ a: 1 }),
  'an object without a prototype': () => Object.create(null),
  'a cyclic object': () => {
    const object: Record<string, unknown> = {};
    object.self = object;
    return object;
  },
  'a proxy that throws': () =>
    new Proxy(
      {},
      { get: thrower, has: thrower, ownKeys: thrower, getOwnPropertyDescriptor: thrower, getPrototypeOf: thrower },
    ),
  'a function that throws': () => thrower,
  'a function whose promise is a thenable that throws': () => () => thenable(),
  'a thenable that throws': () => thenable(),
  'a getter that throws': () => withGetter('x'),
  'a getter of then that throws': () => withGetter('then'),
  'toJSON that throws': () => ({ toJSON: thrower }),
  'toString that throws': () => ({ toString: thrower, valueOf: thrower, [Symbol.toPrimitive]: thrower }),
  'an iterator that throws': () => Object.assign([1, 2], { [Symbol.iterator]: thrower }),
  'a long list': () => Array.from({ length: 100_000 }, (_, n) => n),
  'a list of holes': () => new Array(5000),
  'a long text': () => bytes(2_000_000),
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  'a proxy of a function that throws': () => new Proxy(() => undefined, { get: thrower, apply: thrower }),
};

type Kind = keyof typeof kinds;

interface Row {
  operation: string;
  /** Arguments that make another case of the operation than the good ones do. */
  as?: Record<number, unknown>;
  /** The argument as messages name it. */
  argument: string;
  at: number;
  /** The kinds of the table that this argument takes; the message may then name what was ignored. */
  takes: readonly Kind[];
  /** Further values that are refused by name. */
  refuses?: Record<string, () => unknown>;
  /** Further values that are taken. */
  alsoTakes?: Record<string, () => unknown>;
}

const objects: Kind[] = [
  'an empty object',
  'a date',
  'an invalid date',
  'a regular expression',
  'a promise',
  'a rejected promise that is handled',
  'a string object',
  'a map',
  'a frozen object',
  'an object without a prototype',
  'a thenable that throws',
  'toString that throws',
];
const nothing: Kind[] = ['undefined', 'null'];
const anything = Object.keys(kinds);
const functions: Kind[] = [
  'a function',
  'a class',
  'a proxy of a function that throws',
  'a function that throws',
  'a function whose promise is a thenable that throws',
];
const fine: Kind[] = ['a string'];

const text = (limit: number, name = 'bytes'): Pick<Row, 'refuses' | 'alsoTakes'> => ({
  refuses: {
    [`${limit + 1} ${name}`]: () => bytes(limit + 1),
    'a lone surrogate': () => 'a\ud800',
    'the other surrogate': () => '\udc00b',
    'one byte too many, of wide characters': () => `${'é'.repeat(Math.floor(limit / 2))}${limit % 2 ? 'é' : 'x'}`,
  },
  alsoTakes: {
    [`${limit} ${name}`]: () => bytes(limit),
    'as many bytes of wide characters': () => 'é'.repeat(Math.floor(limit / 2)),
    'a character of four bytes': () => '😀',
    NUL: () => 'a\0b',
    'control characters': () => '\u0001\u001f\u007f\u2028',
    'what looks like JSON': () => '","x":1,"y":"',
  },
});

/** Whole numbers are IDs too, and a blank or NUL is in none (INIT-03). */
const numbers: Kind[] = ['zero', 'minus one', 'a bigint'];
const blank = {
  blanks: () => ' \t\n',
  'other white space': () => '\u00a0\u3000\ufeff',
  NUL: () => 'a\0b',
  'NUL alone': () => '\0',
};
const withoutNUL = (limit: number) => {
  const { NUL: _, ...rest } = text(limit).alsoTakes as Record<string, () => unknown>;
  return { ...rest, 'a blank inside': () => 'a b', 'a large number': () => 1e21, 'the least number': () => -(2 ** 53) };
};

const user = (name: string): Pick<Row, 'takes' | 'refuses' | 'alsoTakes'> => ({
  takes: [...fine, ...numbers],
  refuses: {
    ...text(256).refuses,
    ...blank,
    'an alias of blanks': () => ({ aliasName: '  ' }),
    'a name of blanks': () => ({ userName: '  ', aliasName: 'a' }),
    'an alias with NUL': () => ({ aliasName: 'a\0' }),
    'an alias that is a fraction': () => ({ aliasName: 0.5 }),
    'a number of 309 digits': () => Number.MAX_VALUE,
    'a name without an alias': () => ({ userName: 'Alice' }),
    'an alias of 129 characters': () => ({ aliasName: bytes(129) }),
    'an alias of 129 wide characters': () => ({ aliasName: '😀'.repeat(129) }),
    'a name of 129 characters': () => ({ userName: bytes(129), aliasName: 'a' }),
    [`a getter of ${name} that throws`]: () => withGetter('aliasName'),
  },
  alsoTakes: {
    ...withoutNUL(256),
    'an alias that is a number': () => ({ aliasName: 7 }),
    'a name that is a number': () => ({ userName: 7, aliasName: 'a' }),
    'names of 128 characters': () => ({ userName: bytes(128), aliasName: bytes(128) }),
    'names of 128 wide characters': () => ({ userName: '😀'.repeat(128), aliasName: '😀'.repeat(128) }),
    'a frozen object': () => Object.freeze({ userName: 'A', aliasName: 'a' }),
    'no prototype': () => Object.assign(Object.create(null), { userName: 'A', aliasName: 'a' }),
  },
});

const member = {
  takes: [] as Kind[],
  refuses: { 'a name of Object': () => 'toString', 'another case': () => 'AUDIO', 'with a blank': () => 'audio ' },
};
const id = {
  takes: [...fine, ...numbers],
  refuses: { ...text(256).refuses, ...blank },
  alsoTakes: withoutNUL(256),
};

/** A PeerConnection where the application has another, or none, means the conference. */
const anyPc = anything;
const notNothing = anything.filter((kind) => !nothing.includes(kind));

const data = (name: string): Pick<Row, 'refuses' | 'alsoTakes'> => ({
  refuses: {
    'one byte over the limit': () => ({ x: bytes(4096 - 7) }),
    'one byte over the limit, of wide characters': () => ({ x: `${'é'.repeat(2044)}x` }),
    [`a getter of ${name} that throws`]: () => withGetter('x'),
    'a bigint inside': () => ({ x: 1n }),
    'toJSON that throws': () => ({ toJSON: thrower }),
    'a cycle deep inside': () => {
      const deep: Record<string, unknown> = {};
      deep.a = { b: [{ c: deep }] };
      return deep;
    },
  },
  alsoTakes: {
    'as much as there may be': () => ({ x: bytes(4096 - 8) }),
    'frozen, and deep': () => Object.freeze({ a: Object.freeze([Object.freeze({ b: 1 })]) }),
    'a lone surrogate': () => ({ x: '\ud800' }),
    'what JSON leaves out': () => ({ f: () => 1, s: Symbol('s'), u: undefined }),
    'what JSON makes null': () => ({ x: Number.NaN, y: Number.POSITIVE_INFINITY }),
    'toJSON that answers nothing': () => ({ toJSON: () => undefined }),
    '__proto__ as a member': () => JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
  },
});

const table: Row[] = [
  {
    operation: 'initialize',
    argument: 'AppID',
    at: 0,
    ...text(256),
    takes: [...fine, 'zero', 'minus one'],
    refuses: { ...text(256).refuses, 'a number that has no digits of its own': () => 1e21 },
  },
  { operation: 'initialize', argument: 'AppSecret', at: 1, takes: [...fine, ...functions], ...text(1024) },
  { operation: 'initialize', argument: 'localUserID', at: 2, ...user('localUserID') },
  { operation: 'initialize', argument: 'csInitCallback', at: 3, takes: anything },
  { operation: 'initialize', argument: 'csStatsCallback', at: 4, takes: anything },
  {
    operation: 'initialize',
    argument: 'configParams',
    at: 5,
    takes: anything.filter((kind) => !/proxy$|proxy that|getter/.test(kind)),
    refuses: { 'a getter that throws': () => withGetter('siteID') },
  },
  {
    operation: 'addNewFabric',
    argument: 'pc',
    at: 0,
    takes: [],
    refuses: {
      'a getter that throws': () => withGetter('getStats'),
      'getStats that is no function': () => ({ getStats: 1 }),
    },
  },
  { operation: 'addNewFabric', argument: 'remoteUserID', at: 1, ...user('remoteUserID') },
  { operation: 'addNewFabric', argument: 'fabricUsage', at: 2, ...member },
  { operation: 'addNewFabric', argument: 'conferenceID', at: 3, ...id },
  {
    operation: 'addNewFabric',
    argument: 'fabricAttributes',
    at: 4,
    takes: [
      ...nothing,
      ...objects,
      ...functions,
      'a cyclic object',
      'a getter of then that throws',
      'toJSON that throws',
    ],
    refuses: { 'a getter that throws': () => withGetter('remoteEndpointType') },
    alsoTakes: {
      'frozen attributes': () => Object.freeze({ remoteEndpointType: 'server' }),
      'no prototype': () => Object.assign(Object.create(null), { remoteEndpointType: 'server' }),
      'a bigint for a member': () => ({ remoteEndpointType: 1n }),
      'a symbol for a member': () => ({ fabricTransmissionDirection: Symbol('s') }),
      ...data('fabricAttributes').refuses, // of unknown keys only the names are read
    },
  },
  { operation: 'addNewFabric', argument: 'pcCallback', at: 5, takes: anything },
  { operation: 'reportError', argument: 'pc', at: 0, takes: anyPc },
  { operation: 'reportError', argument: 'conferenceID', at: 1, ...id },
  { operation: 'reportError', argument: 'wrtcFuncName', at: 2, ...member },
  {
    operation: 'reportError',
    argument: 'domError',
    at: 3,
    takes: anything,
    alsoTakes: {
      'getters that throw': () => withGetter('message', { name: 'x' }),
      'a name that throws': () => withGetter('name'),
      'a long error': () => new Error(bytes(100_000)),
      'a lone surrogate': () => new Error('\udfff'),
    },
  },
  {
    operation: 'reportError',
    as: { 2: 'applicationLog' },
    argument: 'domError',
    at: 3,
    takes: anything,
    alsoTakes: {
      'getters that throw': () => withGetter('message', { name: 'x' }),
      'a log without a prototype': () => Object.assign(Object.create(null), { toJSON: thrower }),
      'a lone surrogate': () => '\ud800',
    },
  },
  {
    operation: 'reportError',
    argument: 'localSDP',
    at: 4,
    takes: anything,
    alsoTakes: { 'a getter that throws': () => withGetter('sdp'), 'a long one': () => bytes(100_000) },
  },
  {
    operation: 'reportError',
    argument: 'remoteSDP',
    at: 5,
    takes: anything,
    alsoTakes: { 'a getter that throws': () => withGetter('sdp') },
  },
  { operation: 'associateMstWithUserID', argument: 'pc', at: 0, takes: notNothing },
  { operation: 'associateMstWithUserID', argument: 'userID', at: 1, ...user('userID') },
  {
    operation: 'associateMstWithUserID',
    argument: 'conferenceID',
    at: 2,
    takes: [],
    refuses: { ...text(256).refuses, 'one that is unknown': () => 'nowhere' },
  },
  {
    operation: 'associateMstWithUserID',
    argument: 'ssrc',
    at: 3,
    takes: ['zero'],
    refuses: {
      'one too large': () => 2 ** 32,
      'one too large, as text': () => '4294967296',
      hexadecimal: () => '0x10',
      signed: () => '+1',
      'with a blank': () => ' 1',
    },
    alsoTakes: { 'the largest': () => 2 ** 32 - 1, 'the largest, as text': () => '4294967295' },
  },
  {
    operation: 'associateMstWithUserID',
    argument: 'usageLabel',
    at: 4,
    takes: ['a string', 'an empty string', 'a long text'],
    alsoTakes: {
      '21 bytes': () => bytes(21),
      '11 wide characters': () => 'é'.repeat(11),
      'a lone surrogate': () => '\ud800',
      '20 bytes': () => bytes(20),
      '10 wide characters': () => 'é'.repeat(10),
    },
  },
  {
    operation: 'associateMstWithUserID',
    argument: 'associatedVideoTag',
    at: 5,
    takes: anything,
    alsoTakes: {
      'an id that throws': () => withGetter('id'),
      'an id that is a symbol': () => ({ id: Symbol('x') }),
      'a long id': () => bytes(10_000),
      'sizes that throw': () => withGetter('clientWidth', { id: 'v' }),
    },
  },
  { operation: 'sendFabricEvent', argument: 'pc', at: 0, takes: anyPc },
  { operation: 'sendFabricEvent', argument: 'fabricEvent', at: 1, ...member },
  {
    operation: 'sendFabricEvent',
    argument: 'conferenceID',
    at: 2,
    takes: [],
    refuses: { ...text(256).refuses, 'one that is unknown': () => 'nowhere' },
  },
  { operation: 'sendFabricEvent', argument: 'eventData', at: 3, takes: [...nothing, ...objects], ...data('eventData') },
  {
    operation: 'sendFabricEvent',
    as: { 1: 'activeDeviceList' },
    argument: 'eventData',
    at: 3,
    takes: [
      ...nothing,
      ...objects,
      'an empty list',
      'a list',
      'a long list',
      'a list of holes',
      'an iterator that throws',
      'a cyclic object', // the four members of a device are looked at, no more
      'toJSON that throws',
    ],
    refuses: {
      'a getter of the list that throws': () => withGetter('deviceList'),
      'a getter of a device that throws': () => ({ deviceList: [withGetter('deviceId')] }),
      'a bigint inside': () => [{ deviceId: 1n }],
      'a proxy for the list': () => ({ deviceList: kinds['a proxy that throws']?.() }),
    },
    alsoTakes: {
      'a list of 4,294,967,295 holes': () => ({ deviceList: new Array(2 ** 32 - 1) }),
      'a number for the list': () => ({ deviceList: 7 }),
      'frozen devices': () => Object.freeze([Object.freeze({ deviceId: 'd' })]),
      'a long label': () => [{ deviceId: 'd', label: bytes(100_000) }],
      'a lone surrogate': () => [{ deviceId: '\ud800' }],
    },
  },
  { operation: 'reportUserIDChange', argument: 'pc', at: 0, takes: notNothing },
  {
    operation: 'reportUserIDChange',
    argument: 'conferenceID',
    at: 1,
    takes: [],
    refuses: { ...text(256).refuses, 'one that is unknown': () => 'nowhere' },
  },
  { operation: 'reportUserIDChange', argument: 'newUserID', at: 2, ...user('newUserID') },
  { operation: 'reportUserIDChange', argument: 'userIDType', at: 3, ...member },
  { operation: 'sendUserFeedback', argument: 'conferenceID', at: 0, ...id },
  {
    operation: 'sendUserFeedback',
    argument: 'feedback',
    at: 1,
    takes: [],
    refuses: {
      'a getter that throws': () => withGetter('overall', { userID: 'a' }),
      'a user that throws': () => ({ userID: withGetter('aliasName'), overall: 1 }),
      ...Object.fromEntries(
        [0, 6, 3.5, -1, Number.NaN, '0', '6', '', ' 5', '5 ', '1e0', null, true, [5], {}, 5n].map((score) => [
          `the score ${typeof score} ${String(score)}`,
          () => ({ userID: 'a', overall: score }),
        ]),
      ),
      'a score of the screen': () => ({ userID: 'a', overall: 5, screen: 9 }),
      'a comment that is a number': () => ({ userID: 'a', overall: 5, comment: 5 }),
      'a user of 257 bytes': () => ({ userID: bytes(257), overall: 5 }),
    },
    alsoTakes: {
      frozen: () => Object.freeze({ userID: 'a', overall: 5 }),
      'no prototype': () => Object.assign(Object.create(null), { userID: 'a', overall: '5' }),
      'a comment of 4097 bytes': () => ({ userID: 'a', overall: 5, comment: bytes(4097) }),
      'a comment that ends in half a character': () => ({ userID: 'a', overall: 5, comment: `x\ud83d` }),
      'a cycle that nobody asked for': () => {
        const feedback: Record<string, unknown> = { userID: 'a', overall: 5 };
        feedback.self = feedback;
        return feedback;
      },
    },
  },
  { operation: 'sendUserFeedback', argument: 'pcCallback', at: 2, takes: anything },
  { operation: 'on', argument: 'eventName', at: 0, ...member },
  { operation: 'on', argument: 'csEventCallback', at: 1, takes: functions },
  { operation: 'attachWifiStatsHandler', argument: 'getWifiStats', at: 0, takes: functions },
  { operation: 'sendCallDetails', argument: 'pc', at: 0, takes: anyPc },
  { operation: 'sendCallDetails', argument: 'conferenceID', at: 1, ...id },
  {
    operation: 'sendCallDetails',
    argument: 'callAttributes',
    at: 2,
    takes: [],
    refuses: {
      'a getter that throws': () => withGetter('callType', { role: 'agent' }),
      'one byte over the limit': () => ({ callType: 'inbound', role: 'agent', x: bytes(4096) }),
      cyclic: () => {
        const details: Record<string, unknown> = { callType: 'inbound', role: 'agent' };
        details.self = details;
        return details;
      },
    },
  },
  { operation: 'sendCustomEvent', argument: 'pc', at: 0, takes: anyPc },
  { operation: 'sendCustomEvent', argument: 'conferenceID', at: 1, ...id },
  {
    operation: 'sendCustomEvent',
    argument: 'events',
    at: 2,
    takes: ['a string', 'an empty string', 'an empty list', ...objects],
    refuses: { ...data('events').refuses, '1001 events': () => Array(1001).fill('x') },
    alsoTakes: {
      ...data('events').alsoTakes,
      '1000 events': () => Array(1000).fill('x'),
      'a lone surrogate in a name': () => [{ name: '\ud800' }],
    },
  },
  { operation: 'sendCustomStats', argument: 'pc', at: 0, takes: anyPc },
  { operation: 'sendCustomStats', argument: 'conferenceID', at: 1, ...id },
  {
    operation: 'sendCustomStats',
    argument: 'stats',
    at: 2,
    takes: ['an empty list'],
    refuses: {
      'a name of 65 bytes': () => [{ name: bytes(65), value: 1 }],
      'a value as text': () => [{ name: 'n', value: '1' }],
      'a bigint': () => [{ name: 'n', value: 1n }],
      '1001 of them': () => Array(1001).fill({ name: 'n', value: 1 }),
    },
    alsoTakes: {
      '1000 of them': () => Array(1000).fill({ name: 'n', value: 1 }),
      'a name of 64 bytes': () => [{ name: bytes(64), value: 1 }],
      'a list that is frozen': () => Object.freeze([Object.freeze({ name: 'n', value: -0 })]),
    },
  },
];

/** Takes no arguments, or is not there yet: only that nothing is thrown is asked. */
const withoutRows = [
  'startPrecallTests',
  'stopPrecallTests',
  'makePrecallTest',
  'getTurnCredentials',
  'setIdentifiers',
  'setProxyConfig',
  'resetWifiStatsHandler',
  'getSctResults',
];

/** Good arguments of each operation. */
function good(qos: Library, pc: object): Record<string, unknown[]> {
  return {
    initialize: ['demo', tokens, 'alice', null, null, { backendUrl }],
    addNewFabric: [new FakePeerConnection(), 'bob', 'multiplex', conference, {}, () => undefined],
    reportError: [null, conference, qos.webRTCFunctions.createOffer, new Error('x'), 'v=0', null],
    associateMstWithUserID: [pc, 'bob', conference, 4242, 'camera', 'tag'],
    sendFabricEvent: [pc, qos.fabricEvent.audioMute, conference, { a: 1 }],
    reportUserIDChange: [pc, conference, 'bob2', qos.userIDType.remote],
    sendUserFeedback: [conference, { userID: 'alice', overall: 5 }, () => undefined],
    on: ['stats', () => undefined],
    attachWifiStatsHandler: [async () => '{}'],
    sendCallDetails: [null, conference, { callType: 'inbound', role: 'agent' }],
    sendCustomEvent: [null, conference, [{ name: 'a' }]],
    sendCustomStats: [null, conference, [{ name: 'a', value: 1 }]],
  };
}

/** Calls an operation with one argument replaced. */
async function replaced(
  row: Row,
  values: Record<string, () => unknown>,
  judge: (answer: Answer, what: string) => void,
) {
  const page = await inCall();
  const qos = row.operation === 'initialize' ? (load()() as Library) : page.qos;
  for (const [what, make] of Object.entries(values)) {
    const args = Object.assign([...(good(page.qos, page.pc)[row.operation] ?? [])], row.as);
    args[row.at] = make();
    const operation = qos[row.operation as 'on'];
    judge(operation(...args), what);
    await page.harness.run(1);
  }
  await page.harness.run(25_000);
  await stillWorks(row.operation === 'initialize' ? await open(qos) : page);
}

it('has rows for every operation', async () => {
  const { qos } = await open();
  const operations = Object.entries(qos)
    .filter(([, value]) => typeof value === 'function')
    .map(([name]) => name);
  const rows = new Set(table.map((row) => row.operation));
  expect(operations.filter((name) => !rows.has(name)).sort()).toEqual([...withoutRows].sort());
  const arguments_ = good(qos, {});
  for (const name of rows)
    expect(
      table.filter((row) => row.operation === name && !row.as).map((row) => row.at),
      name,
    ).toEqual([...(arguments_[name] ?? []).keys()]);
});

it('has rows for every argument that is documented', () => {
  const text = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8');
  for (const name of new Set(table.map((row) => row.operation))) {
    const signature = new RegExp(`### ${name}\n\n\`${name}\\(([^)]*)\\)\``).exec(text)?.[1] ?? '';
    const documented = signature.split(', ').map((argument) => argument.replace(/ \|.*/, ''));
    const tried = table.filter((row) => row.operation === name && !row.as).map((row) => row.argument);
    expect(tried, name).toEqual(documented);
  }
});

it('the good arguments are good', async () => {
  const page = await inCall();
  for (const [name, args] of Object.entries(good(page.qos, page.pc))) {
    const qos = name === 'initialize' ? (new (load())() as Library) : page.qos;
    expect(wellFormed(qos[name as 'on'](...args)), name).toMatchObject({ status: 'success', msg: '' });
  }
});

describe('operations without rows throw nothing either', () => {
  it.each(['startPrecallTests', 'stopPrecallTests', 'makePrecallTest'] as const)('%s', async (name) => {
    const page = await inCall();
    for (const make of Object.values(kinds)) wellFormed(page.qos[name](make(), make()));
    wellFormed(page.qos.stopPrecallTests());
    await stillWorks(page);
  });

  it('getTurnCredentials: a promise, whatever it is given', async () => {
    const page = await inCall();
    const { getTurnCredentials } = page.qos as unknown as { getTurnCredentials: (...args: unknown[]) => unknown };
    for (const make of Object.values(kinds)) {
      const promise = getTurnCredentials(make(), make());
      expect(promise).toBeInstanceOf(Promise);
      (promise as Promise<unknown>).catch(() => undefined);
    }
    await stillWorks(page);
  });
});

/** What a row refuses and takes. */
function split(row: Row) {
  const ok = (kind: string) => row.takes.includes(kind);
  return {
    bad: { ...of(kinds, (kind) => !ok(kind)), ...row.refuses },
    good: { ...of(kinds, ok), ...row.alsoTakes },
  };
}

describe.each(table)('$operation: $argument $as (spec: LIB-05, LIB-07, FAB-02)', (row) => {
  const { bad, good } = split(row);

  it('refuses by name', async () => expect(await wronglyTaken(row, bad)).toEqual([]));
  it('takes, or names what it ignored', async () => expect(await wronglyRefused(row, good)).toEqual([]));
});

function of(values: Record<string, () => unknown>, wanted: (name: string) => boolean) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => wanted(name)));
}

async function wronglyTaken(row: Row, values: Record<string, () => unknown>): Promise<string[]> {
  const wrong: string[] = [];
  await replaced(row, values, (answer, what) => {
    try {
      refused(answer, row.argument);
    } catch {
      wrong.push(`${what}: ${answer.status} "${answer.msg}"`);
    }
  });
  return wrong;
}

async function wronglyRefused(row: Row, values: Record<string, () => unknown>): Promise<string[]> {
  const wrong: string[] = [];
  await replaced(row, values, (answer, what) => {
    if (wellFormed(answer).status !== 'success') wrong.push(`${what}: "${answer.msg}"`);
  });
  return wrong;
}
