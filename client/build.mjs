// Builds dist/: byte for byte the same from the same sources.
//   qos.min.js, qos.js  a global, an AMD module or a CommonJS module
//   qos.mjs             an ES module
//   qos-precall.mjs     the ES module of pre-call tests, which the others load
//   qos.d.mts           types of the ES module
//   qos-precall.d.mts   types of the module of pre-call tests
//   qos-livekit.mjs     the ES module for applications with livekit-client, and qos-livekit.d.mts
//   qos-janus.mjs       the ES module for applications with janus.js, and qos-janus.d.mts
//   qos.d.ts            types of the others: CommonJS, and the global of a script
//   manifest.json       sizes and SRI hashes
// With --check it builds elsewhere and fails where dist/ is not what the sources make.

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { checkNames, common, licence, minified, minifiedModule, readNames, readSources, umd } from './minify.mjs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const committed = new URL('dist/', import.meta.url).pathname;
const checking = process.argv.includes('--check');
// Beside dist/, so that the paths in the source maps are the same.
const dist = checking ? join(mkdtempSync(new URL('dist-check-', import.meta.url).pathname), '/') : committed;

if (!checking) {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
}
await build({ ...umd, outfile: `${dist}qos.js` });
const names = readNames();
checkNames(names, readSources());
const { code, map } = await minified(names);
writeFileSync(`${dist}qos.min.js`, `${code}\n`);
writeFileSync(`${dist}qos.min.js.map`, map);
await build({
  ...common,
  entryPoints: ['src/module.ts'],
  format: 'esm',
  outfile: `${dist}qos.mjs`,
  banner: { js: licence },
});

await build({
  ...common,
  entryPoints: ['src/precall/entry.ts'],
  format: 'esm',
  minify: true,
  outfile: `${dist}qos-precall.mjs`,
  banner: { js: licence },
});
writeFileSync(`${dist}qos-precall.d.mts`, `${licence}\nexport {};\n`);

/** The types of a module for an SDK: its own, and those of each attachment. */
function writeTypes(sdk, name, type) {
  const own = ['attachment', `${sdk}.types`].map((file) => readFileSync(`src/sdk/${file}.ts`, 'utf8'));
  const imported = own[0].match(/import type (\{.*\}) from '..\/types.ts';/)[1];
  const text = own.join('\n').replace(/^(\/\/|import ).*\n+/gm, '');
  const end = own[1].indexOf(`export type ${type}`);
  const comment = own[1].slice(own[1].lastIndexOf('/**', end), end).trim();
  const declared = `${comment}\nexport declare const ${name}: ${type};\n`;
  writeFileSync(
    `${dist}qos-${sdk}.d.mts`,
    [licence, `import type ${imported} from './qos.mjs';`, text, declared].join('\n'),
  );
}

for (const [sdk, name, type] of [
  ['livekit', 'attachLiveKit', 'AttachLiveKit'],
  ['janus', 'attachJanus', 'AttachJanus'],
]) {
  const built = await minifiedModule(`src/sdk/${sdk}.ts`, `qos-${sdk}.mjs`);
  writeFileSync(`${dist}qos-${sdk}.mjs`, `${built.code}\n`);
  writeFileSync(`${dist}qos-${sdk}.mjs.map`, built.map);
  writeTypes(sdk, name, type);
}

// The published types stand alone: the public types, then the shape of the export. For a
// module that is one value, the types hang off its name.
const types = readFileSync('src/types.ts', 'utf8');
const shape = readFileSync('src/module.types.txt', 'utf8');
const shared = shape.slice(0, shape.indexOf('declare const qos:'));
writeFileSync(`${dist}qos.d.mts`, [licence, types, shape].join('\n'));
writeFileSync(
  `${dist}qos.d.ts`,
  [
    licence,
    'export = qos;',
    'export as namespace qos;',
    'declare const qos: qos.QosConstructor;',
    `declare namespace qos {\n${types}${shared}}`,
    '',
  ].join('\n'),
);
// The package is of ES modules, these files are not.
writeFileSync(`${dist}package.json`, '{ "type": "commonjs" }\n');

const files = {};
for (const name of [
  'qos.min.js',
  'qos.js',
  'qos.mjs',
  'qos-precall.mjs',
  'qos-livekit.mjs',
  'qos-janus.mjs',
  'qos.d.ts',
]) {
  const bytes = readFileSync(dist + name);
  files[name] = {
    bytes: bytes.length,
    gzipBytes: gzipSync(bytes, { level: 9 }).length,
    integrity: `sha384-${createHash('sha384').update(bytes).digest('base64')}`,
  };
}
writeFileSync(`${dist}manifest.json`, `${JSON.stringify({ version, files }, null, 2)}\n`);
for (const [name, { bytes, gzipBytes, integrity }] of Object.entries(files)) {
  console.log(
    `${name.padEnd(15)} ${String(bytes).padStart(7)} bytes ${String(gzipBytes).padStart(6)} gzip  ${integrity}`,
  );
}

if (checking) {
  const read = (folder) => readdirSync(folder).map((name) => [name, readFileSync(folder + name, 'utf8')]);
  const fresh = read(dist);
  const stale = fresh.filter(([name, content]) => new Map(read(committed)).get(name) !== content).map(([name]) => name);
  rmSync(dist, { recursive: true });
  if (stale.length || fresh.length !== read(committed).length) {
    console.error(`dist is not what the sources make (${stale.join(', ')}): run npm run build`);
    process.exit(1);
  }
}
