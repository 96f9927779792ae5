import { describe, expect, it } from 'vitest';
import { findBackend } from '../src/backend.ts';
import { type Config, readConfig } from '../src/config.ts';
import { guard, Invalid } from '../src/result.ts';
import * as check from '../src/validate.ts';

const long = (n: number) => 'x'.repeat(n);

describe('user ids (spec: INIT-03)', () => {
  it.each([
    ['a string', 'alice', 'alice'],
    ['256 bytes', long(256), long(256)],
    ['an object', { userName: 'Alice', aliasName: 'a' }, { userName: 'Alice', aliasName: 'a' }],
    [
      '128 wide characters',
      { userName: '😀'.repeat(128), aliasName: 'a' },
      { userName: '😀'.repeat(128), aliasName: 'a' },
    ],
  ])('takes %s', (_, given, kept) => {
    expect(check.requireUserID('userID', given)).toEqual(kept);
  });

  it('puts aliasName in the place of a missing userName, and says so', () => {
    const { msg } = guard(() => {
      expect(check.requireUserID('localUserID', { aliasName: 'a' })).toEqual({ userName: 'a', aliasName: 'a' });
    });
    expect(msg).toBe('localUserID.userName is missing, aliasName was taken');
  });

  it.each([
    ['nothing', undefined, 'userID must be a non-empty string of at most 256 bytes, got nothing'],
    ['null', null, 'userID must be a non-empty string of at most 256 bytes, got null'],
    ['an empty string', '', 'userID must be a non-empty string of at most 256 bytes, got an empty string'],
    ['a fraction', 7.5, 'userID must be a non-empty string of at most 256 bytes, got a number'],
    ['blanks', ' ', 'userID must not be blank or contain NUL'],
    ['NUL', 'a\0', 'userID must not be blank or contain NUL'],
    ['an array', ['a'], 'userID must be a non-empty string of at most 256 bytes, got an array'],
    ['257 bytes', long(257), 'userID must be at most 256 bytes, got 257'],
    ['129 two-byte characters', 'é'.repeat(129), 'userID must be at most 256 bytes, got 258'],
    ['a real name alone', { userName: 'Alice' }, /^userID.aliasName must be a non-empty string/],
    [
      '129 characters',
      { userName: 'A', aliasName: long(129) },
      'userID.aliasName must be at most 128 characters, got 129',
    ],
  ])('refuses %s (spec: FAB-02)', (_, given, message) => {
    expect(() => check.requireUserID('userID', given)).toThrow(message);
    expect(() => check.requireUserID('userID', given)).toThrow(Invalid);
  });
});

describe('other arguments', () => {
  it('takes scores as integers or their strings (spec: API-07)', () => {
    expect(check.requireInteger('overall', 5, 1, 5)).toBe(5);
    expect(check.requireInteger('overall', '1', 1, 5)).toBe(1);
    for (const bad of [0, 6, 3.5, '0', '3.5', '', 'x', Number.NaN, {}, true]) {
      expect(() => check.requireInteger('overall', bad, 1, 5)).toThrow('overall must be an integer from 1 to 5');
    }
    expect(() => check.requireInteger('overall', undefined, 1, 5)).toThrow('got nothing');
  });

  const requireSSRC = (value: unknown) => check.requireInteger('ssrc', value, 0, 4_294_967_295);

  it('takes an SSRC as a number or a decimal string (spec: API-03)', () => {
    expect(requireSSRC(0)).toBe(0);
    expect(requireSSRC('4294967295')).toBe(4_294_967_295);
    for (const bad of [-1, 1.5, 2 ** 32, '4294967296', '0x1', '', null, Number.NaN]) {
      expect(() => requireSSRC(bad)).toThrow('ssrc must be an integer');
    }
  });

  it('takes objects up to a limit (spec: API-05)', () => {
    expect(check.requireData('eventData', { a: 1, f: () => 1 })).toEqual({ a: 1 });
    expect(() => check.requireData('eventData', { a: long(4090) })).toThrow(
      'eventData must be at most 4096 bytes of JSON, got 4098',
    );
    const loop: Record<string, unknown> = {};
    loop.loop = loop;
    expect(() => check.requireData('eventData', loop)).toThrow(/^eventData cannot be read: .*circular/i);
    expect(() => check.requireData('eventData', [1])).toThrow('eventData must be an object, got an array');
  });

  it('cuts at whole characters', () => {
    expect(check.cutBytes('aé', 2)).toBe('a');
    expect(check.cutBytes('aé', 3)).toBe('aé');
    expect(check.cutBytes('😀😀', 7)).toBe('😀');
    expect(check.cut('x', '😀😀😀', 2, 'characters')).toBe('😀😀');
  });
});

describe('configParams (spec: INIT-04)', () => {
  const read = (params: unknown) => {
    let config: Config | undefined;
    const { msg } = guard(() => {
      config = readConfig(params);
    });
    return { config, notes: msg ? msg.split('; ') : [] };
  };

  it('has defaults', () => {
    for (const params of [undefined, null, {}]) {
      expect(read(params)).toEqual({
        config: { collectLegacyStats: true, collectIP: true }, // the others are off
        notes: [],
      });
    }
  });

  it('cuts what is too long, drops wrong types, ignores unknown keys, and names each', () => {
    const { config, notes } = read({
      applicationVersion: long(31),
      siteID: long(300),
      collectIP: 'no',
      colour: 1,
      additionalIDs: { customerID: 'c', tenantID: long(257), pbxID: 5, shoe: 'x' },
    });
    expect(config?.applicationVersion).toHaveLength(30);
    expect(config?.siteID).toHaveLength(256);
    expect(config?.collectIP).toBe(true);
    expect(config?.additionalIDs).toEqual({ customerID: 'c', tenantID: long(256) });
    expect(notes).toEqual([
      'applicationVersion was cut to 30 characters',
      'siteID was cut to 256 bytes',
      'collectIP must be a boolean, got a string: ignored',
      'colour is unknown and ignored',
      'additionalIDs.tenantID was cut to 256 bytes',
      'additionalIDs.pbxID must be a string, got a number: ignored',
      'additionalIDs.shoe is unknown and ignored',
    ]);
  });
});

describe('the back-end (spec: LIB-03)', () => {
  it.each([
    ['https://q.example/static/qos.min.js', 'https://q.example/static/'],
    ['https://q.example/qos.js?v=3#x', 'https://q.example/'],
    ['http://localhost:8480/qos.mjs', 'http://localhost:8480/'],
  ])('is the folder of %s', (script, base) => {
    expect(findBackend(undefined, script)).toBe(base);
  });

  it('is backendUrl where that is given', () => {
    expect(findBackend('https://a.example/p', 'https://q.example/qos.js')).toBe('https://a.example/p/');
    expect(findBackend('https://a.example/p/?x=1', undefined)).toBe('https://a.example/p/');
    expect(() => findBackend('ftp://a.example', undefined)).toThrow('backendUrl must be an http or https URL');
  });

  it.each([
    ['https://a.example', 'https://a.example/'],
    ['https://a.example/p//', 'https://a.example/p//'],
    ['https://a.example/p?x=/y', 'https://a.example/p/'],
    ['https://a.example/p/#/x?y', 'https://a.example/p/'],
    ['http://127.0.0.1:8480//p', 'http://127.0.0.1:8480//p/'],
  ])('%s is the base %s', (given, base) => {
    expect(findBackend(given, undefined)).toBe(base);
  });

  it.each([undefined, '', 'https://app.example/assets/index-3f2a.js', 'file:///home/qos.min.js'])(
    'is not guessed from %s',
    (script) => {
      expect(() => findBackend(undefined, script)).toThrow('set configParams.backendUrl');
    },
  );
});
