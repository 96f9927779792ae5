// The package as npm makes it, installed where nothing else is. The browsers load it in the
// end-to-end tests.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const client = fileURLToPath(new URL('..', import.meta.url));
const tmp = mkdtempSync(join(tmpdir(), 'qos-package-'));
const application = join(tmp, 'application');
let packed: string[];

function run(cwd: string, command: string, ...args: string[]): string {
  const env = { ...process.env, npm_config_cache: join(tmp, 'cache'), npm_config_update_notifier: 'false' };
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

beforeAll(() => {
  const [made] = JSON.parse(run(client, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', tmp));
  packed = made.files.map(({ path }: { path: string }) => path);
  mkdirSync(application);
  writeFileSync(join(application, 'package.json'), '{ "name": "an-application", "private": true }');
  run(application, 'npm', 'install', '--offline', '--silent', '--ignore-scripts', join(tmp, made.filename));
});

afterAll(() => rmSync(tmp, { recursive: true }));

it('holds what is needed to use it, and no more (spec: LIB-02)', () => {
  const dist = ['manifest.json', 'package.json', 'qos.d.mts', 'qos.d.ts', 'qos.js', 'qos.min.js', 'qos.mjs'];
  const modules = ['qos-precall', 'qos-livekit', 'qos-janus'].map((name) => `${name}.mjs`);
  const types = modules.map((name) => name.replace('.mjs', '.d.mts'));
  const maps = ['qos.js.map', 'qos.min.js.map', 'qos.mjs.map', ...modules.map((name) => `${name}.map`)];
  const files = [...dist, ...modules, ...types, ...maps].map((name) => `dist/${name}`);
  expect(packed.sort()).toEqual(['LICENSE', 'README.md', 'package.json', ...files].sort());
});

it('carries the licence of the project', () => {
  expect(readFileSync(join(client, 'LICENSE'), 'utf8')).toBe(readFileSync(join(client, '../LICENSE'), 'utf8'));
});

it('depends on nothing', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'));
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
});

describe('in Node (spec: LIB-02, LIB-08)', () => {
  const version = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8')).version as string;
  const uses: [string, string, string][] = [
    ['require', 'cjs', "const qos = require('@qosrtc/client'); done(new qos(), qos(), qos)"],
    ['require of a file', 'cjs', "const qos = require('@qosrtc/client/dist/qos.min.js'); done(new qos(), qos(), qos)"],
    [
      'require of names',
      'cjs',
      "const { fabricUsage, initialize } = require('@qosrtc/client'); done({ fabricUsage, initialize, version: require('@qosrtc/client').version })",
    ],
    ['import', 'mjs', "import qos from '@qosrtc/client'; done(new qos(), qos(), qos)"],
    ['import of a file', 'mjs', "import qos from '@qosrtc/client/dist/qos.min.js'; done(new qos(), qos(), qos)"],
    [
      'import of names',
      'mjs',
      "import { fabricUsage, initialize, version } from '@qosrtc/client'; done({ fabricUsage, initialize, version })",
    ],
    ['import of everything', 'mjs', "import * as qos from '@qosrtc/client'; done(qos)"],
    [
      'import with the tests before calls',
      'mjs',
      "import qos from '@qosrtc/client'; import '@qosrtc/client/precall'; if (!globalThis[Symbol.for('qos.precall')].create) throw 1; done(qos)",
    ],
    [
      'import of an attachment',
      'mjs',
      "import qos from '@qosrtc/client'; import { attachLiveKit } from '@qosrtc/client/livekit'; import { attachJanus } from '@qosrtc/client/janus'; if (attachLiveKit(qos).status + attachJanus(qos).status !== 'failurefailure') throw 1; done(qos)",
    ],
    ['import on demand', 'cjs', "import('@qosrtc/client').then((qos) => done(qos, qos.default))"],
  ];

  it.each(uses)('%s', (_, end, code) => {
    const file = join(application, `use.${end}`);
    writeFileSync(
      file,
      `const done = (...all) => console.log(JSON.stringify(all.map((qos) => [qos.version, qos.fabricUsage.audio, qos.initialize('a', 'b', 'c').msg])));\n${code}\n`,
    );
    const said: [string, string, string][] = JSON.parse(run(application, 'node', file));
    expect(said.length).toBeGreaterThan(0);
    for (const [itsVersion, audio, msg] of said) {
      expect([itsVersion, audio]).toEqual([version, 'audio']);
      expect(msg).toContain('configParams.backendUrl');
    }
  });
});

describe('types', () => {
  /** What the compiler says of files in the application. */
  function compile(files: string[], ...options: string[]): string {
    const common = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', ''];
    try {
      return run(application, join(client, 'node_modules/.bin/tsc'), ...common, ...options, ...files);
    } catch (error) {
      return String((error as { stdout: string }).stdout);
    }
  }

  const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler', '--moduleDetection', 'legacy'];

  const required = `import qos = require('@qosrtc/client');
import { fabricUsage } from '@qosrtc/client';
const monitor: qos.Qos = new qos();
const answer: qos.Result = monitor.initialize('app', 'secret', 'alice');
export const said: [string, string, string] = [answer.msg, fabricUsage.audio, qos.version];
// @ts-expect-error the user is missing
qos().initialize('app', 'secret');
`;

  const script = `/// <reference types="@qosrtc/client/dist/qos.js" />
const monitor: qos.Qos = new qos();
monitor.addNewFabric(new RTCPeerConnection(), 'bob', monitor.fabricUsage.audio, 'c');
// @ts-expect-error nothing of that name
monitor.addFabric();
`;

  it('every operation used and misused: for bundlers, and for a script where it is a global', () => {
    cpSync(join(client, 'test/package/uses.ts'), join(application, 'uses.ts'));
    writeFileSync(join(application, 'script.ts'), script);
    expect(compile(['uses.ts', 'script.ts'], ...bundler)).toBe(''); // the declarations themselves too
  });

  it('for both kinds of module in Node', () => {
    cpSync(join(client, 'test/package/uses.ts'), join(application, 'uses.mts'));
    writeFileSync(join(application, 'uses.cts'), required);
    expect(compile(['uses.mts', 'uses.cts'], '--module', 'nodenext', '--skipLibCheck')).toBe('');
  });

  it('misuses that could be seen while they are typed', () => {
    cpSync(join(client, 'test/package/stricter.ts'), join(application, 'stricter.ts'));
    expect(compile(['stricter.ts'], ...bundler, '--skipLibCheck')).toBe('');
  });

  it('every operation has a comment that editors show', () => {
    const text = readFileSync(join(client, 'dist/qos.d.mts'), 'utf8');
    const operations = text.slice(text.indexOf('interface Operations'));
    const bare = [...operations.slice(0, operations.indexOf('\n}')).matchAll(/(\*\/)?\n {2}(\w+)\(/g)]
      .filter(([, comment]) => !comment)
      .map(([, , name]) => name);
    expect(bare).toEqual([]);
  });

  it('so has every member of what they take and tell', () => {
    const text = readFileSync(join(client, 'dist/qos.d.mts'), 'utf8');
    const members = [...text.matchAll(/(\*\/)?\n {2}(?:readonly )?(\w+)\??: /g)];
    expect(members.length).toBeGreaterThan(70);
    expect(members.filter(([, comment]) => !comment).map(([, , name]) => name)).toEqual([]);
    const exported = [...text.matchAll(/(\*\/)?\nexport (?:type|interface) (\w+)/g)];
    expect(exported.filter(([, comment]) => !comment).map(([, , name]) => name)).toEqual([]);
  });
});
