// Builds dist/: byte for byte the same from the same sources.
//   qos.min.js, qos.js  a global, an AMD module or a CommonJS module
//   qos.mjs             an ES module
//   qos.d.mts           types of the ES module
//   qos.d.ts            types of the others: CommonJS, and the global of a script
//   manifest.json       sizes and SRI hashes
// With --check it builds elsewhere and fails where dist/ is not what the sources make.

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { minify } from 'terser';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const committed = new URL('dist/', import.meta.url).pathname;
const checking = process.argv.includes('--check');
// Beside dist/, so that the paths in the source maps are the same.
const dist = checking ? join(mkdtempSync(new URL('dist-check-', import.meta.url).pathname), '/') : committed;
// Names of members that never leave the library: the minified file shortens them.
const internalNames = JSON.parse(readFileSync('internal-names.json', 'utf8'));
const licence = `/*! qos ${version} | Apache-2.0 */`;

const common = {
  bundle: true,
  target: 'es2022',
  charset: 'utf8',
  sourcemap: true,
  sourcesContent: true,
  legalComments: 'none',
  define: { __QOS_VERSION__: JSON.stringify(version), 'Number.NaN': 'NaN', 'Number.POSITIVE_INFINITY': 'Infinity' },
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } }, // what a constructor sets needs no declaration
};

const umd = {
  ...common,
  entryPoints: ['src/umd.ts'],
  format: 'iife',
  logOverride: { 'commonjs-variable-in-esm': 'silent' },
  banner: { js: licence },
};

if (!checking) {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
}
await build({ ...umd, outfile: `${dist}qos.js` });
await buildMinified();
await build({
  ...common,
  entryPoints: ['src/module.ts'],
  format: 'esm',
  outfile: `${dist}qos.mjs`,
  banner: { js: licence },
});

/**
 * The short name of each internal member. Two members share one where no source file has both:
 * all members of an object stand in the file that declares it. The more a name repeats, the less it takes.
 */
function shortNames() {
  const letters = [...'etnrisoalcufdpmghbywvkxSITMDENCPLAROjFUqzBHJGVWKQXYZ'];
  const free = [...letters, ...letters.map((letter) => `${letter}e`)];
  const words = readdirSync('src', { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join('src', name), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''))
    .map((source) => source.match(/\w+/g) ?? []);
  const files = words.map((list) => new Set(list));
  const uses = (name) => words.flat().filter((word) => word === name).length;
  const byUse = internalNames.map((name) => [name, uses(name)]).sort((a, b) => b[1] - a[1]);
  const short = new Map();
  for (const [name] of byUse) {
    const beside = files.filter((file) => file.has(name)).flatMap((file) => [...file].map((other) => short.get(other)));
    short.set(
      name,
      free.find((candidate) => !beside.includes(candidate)),
    );
  }
  return Object.fromEntries(short);
}

/** esbuild folds and renames first; terser then inlines and joins more of it than esbuild does. */
async function buildMinified() {
  const outfile = `${dist}qos.min.js`;
  const { outputFiles } = await build({
    ...umd,
    outfile,
    minify: true,
    mangleProps: new RegExp(`^(${internalNames.join('|')})$`),
    mangleCache: shortNames(),
    write: false,
  });
  const [content, folded] = ['.map', '.js'].map((end) => outputFiles.find(({ path }) => path.endsWith(end)).text);
  const { code, map } = await minify(folded, {
    ecma: 2020,
    compress: {
      passes: 6,
      hoist_funs: true, // functions side by side repeat more
      inline: 1, // bodies put in the place of calls repeat less
      unsafe_methods: true, // no member of ours is called with new
    },
    module: true, // all names are its own
    format: { comments: /^!/ },
    sourceMap: { content, filename: 'qos.min.js', url: 'qos.min.js.map', includeSources: true },
  });
  writeFileSync(outfile, `${code}\n`);
  writeFileSync(`${outfile}.map`, map);
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
for (const name of ['qos.min.js', 'qos.js', 'qos.mjs', 'qos.d.ts']) {
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
    `${name.padEnd(11)} ${String(bytes).padStart(7)} bytes ${String(gzipBytes).padStart(6)} gzip  ${integrity}`,
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
