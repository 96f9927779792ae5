// The built files, loaded in the ways that pages load them.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { QosConstructor } from '../src/index.ts';
import { sequence } from './harness.ts';

const dist = new URL('../dist/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, dist), 'utf8');
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const page = (more: object) =>
  createContext({
    console,
    setTimeout,
    clearTimeout,
    AbortController,
    TextEncoder,
    TextDecoder,
    URL,
    performance,
    crypto,
    fetch: () => new Promise(() => undefined),
    ...more,
  });

it.each(['qos.js', 'qos.min.js'])(
  '%s defines the global constructor, and nothing else (spec: LIB-01, LIB-03)',
  (name) => {
    const context = page({
      document: { currentScript: { src: `https://q.example/x/${name}` }, addEventListener: () => undefined },
    });
    const before = new Set(Object.keys(context));
    runInContext(read(name), context);
    expect(Object.keys(context).filter((key) => !before.has(key))).toEqual(['qos']);
    const qos = new (context.qos as QosConstructor)();
    expect(qos.version).toBe(version);
    expect(qos.initialize('demo', 'secret', 'alice').status).toBe('success');
  },
);

it('is found by AMD loaders and CommonJS, without dependencies (spec: LIB-02)', () => {
  const defined: unknown[][] = [];
  const define = Object.assign((...args: unknown[]) => defined.push(args), { amd: {} });
  const amd = page({ define });
  runInContext(read('qos.min.js'), amd);
  expect(amd.qos).toBeUndefined();
  const [dependencies, factory] = defined[0] ?? [];
  expect(dependencies).toEqual([]);
  expect((factory as () => QosConstructor)().version).toBe(version);

  const module = { exports: {} as QosConstructor };
  runInContext(read('qos.min.js'), page({ module, exports: module.exports }));
  expect(module.exports.fabricUsage.audio).toBe('audio');
  expect(module.exports.initialize('demo', 's', 'a').msg).toContain('set configParams.backendUrl');
});

describe('on a page that has RequireJS (spec: LIB-01, LIB-02, LIB-08)', () => {
  /** What one script makes: the type of the global, and how many modules it defines. */
  const run = (currentScript: object | null, loader: object) => {
    let modules = 0;
    const define = Object.assign(() => modules++, { amd: {} });
    const document = { currentScript, addEventListener: () => undefined };
    const context = page({ define, document, ...loader });
    runInContext(read('qos.min.js'), context);
    return [typeof context.qos, modules];
  };
  const requirejs = { requirejs: () => undefined };
  const src = 'https://q.example/qos.min.js';

  it.each<[string, object | null, object, [string, number]]>([
    ['a script tag is a script tag', { src: `${src}?v=1`, dataset: {} }, requirejs, ['function', 0]],
    ['a path is a module', { src, dataset: { requiremodule: 'qos' } }, requirejs, ['undefined', 1]],
    [
      'a bundle is what its maker made of it',
      { src: 'https://q.example/app.js', dataset: {} },
      requirejs,
      ['undefined', 1],
    ],
    ['so is one in the page itself', { src: '', dataset: {} }, requirejs, ['undefined', 1]],
    ['other loaders mark nothing', { src, dataset: {} }, {}, ['undefined', 1]],
    ['there may be no script to be seen', null, requirejs, ['undefined', 1]],
  ])('%s', (_, script, loader, made) => {
    expect(run(script, loader)).toEqual(made);
  });
});

it('qos.mjs exports every method and enumeration by name (spec: LIB-02, LIB-08)', async () => {
  const namespace: Record<string, unknown> = await import(new URL('qos.mjs', dist).href);
  const qos = namespace.default as QosConstructor;
  for (const [name, value] of Object.entries(qos)) expect(namespace[name]).toBe(value);
  expect(Object.keys(namespace).sort()).toEqual(['default', ...Object.keys(qos)].sort());
  const types = read('qos.d.mts');
  for (const name of Object.keys(qos)) expect(types).toContain(`export declare const ${name}:`);
});

it('patches nothing and listens to no unload', () => {
  for (const name of ['qos.js', 'qos.min.js', 'qos.mjs']) {
    expect(read(name)).not.toMatch(/\.prototype\.\w+\s*=(?!=)|(?:before)?unload['"]/);
  }
});

it('shortens only names that never leave the library', () => {
  const names = JSON.parse(readFileSync(new URL('../short-names.json', import.meta.url), 'utf8'));
  const internal = Object.keys(names.members);
  const vectors = new URL('../../protocol/testdata/', import.meta.url);
  const wire = readdirSync(vectors).map((name) => readFileSync(new URL(name, vectors), 'utf8'));
  const reports = (['chromium', 'firefox'] as const).flatMap((browser) => sequence(browser).readings);
  const statistics = new Set(reports.flatMap((reading) => reading.reports).flatMap(Object.keys));
  const types = read('qos.d.ts').replace(/\/\*[\s\S]*?\*\//g, '');
  const own = [globalThis, Object, Array, Map, Set, Promise, String, Number, Uint8Array, URL, AbortController];
  const taken = (name: string) =>
    wire.some((text) => text.includes(`"${name}":`) || text.includes(`"${name}\\":`)) ||
    statistics.has(name) ||
    new RegExp(`\\b${name}\\??[:(]`).test(types) ||
    own.some((object) => name in object || name in ((object as { prototype?: object }).prototype ?? {}));
  expect(taken('conferenceID') && taken('bytesReceived') && taken('siteID') && taken('then')).toBe(true);
  expect(internal.filter(taken)).toEqual([]);
});

it('has a manifest that is true', () => {
  const manifest = JSON.parse(read('manifest.json'));
  expect(manifest.version).toBe(version);
  for (const [name, { integrity }] of Object.entries<{ integrity: string }>(manifest.files)) {
    expect(integrity).toBe(`sha384-${createHash('sha384').update(read(name)).digest('base64')}`);
  }
});
