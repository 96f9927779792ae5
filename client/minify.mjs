// Makes qos.min.js of the sources: esbuild bundles and folds, terser inlines and joins more of
// it than esbuild does. Both take names from short-names.json, which shorten.mjs writes: which
// letter stands for what is worth 2 % of the compressed file.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { minify } from 'terser';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The comment that each built file begins with. */
export const licence = `/*! qos ${version} | Apache-2.0 */`;

/** What all built files have in common. */
export const common = {
  bundle: true,
  target: 'es2022',
  charset: 'utf8',
  sourcemap: true,
  sourcesContent: true,
  legalComments: 'none',
  define: { __QOS_VERSION__: JSON.stringify(version), 'Number.NaN': 'NaN', 'Number.POSITIVE_INFINITY': 'Infinity' },
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } }, // what a constructor sets needs no declaration
};

/** A script, which is an AMD module and a CommonJS module too. */
export const umd = {
  ...common,
  entryPoints: ['src/umd.ts'],
  format: 'iife',
  logOverride: { 'commonjs-variable-in-esm': 'silent' },
  banner: { js: licence },
};

/**
 * The names of the minified file. members: by the name of a member that never leaves the library,
 * its short one. locals: the names of variables, the one that most scopes use first.
 */
export const readNames = () => JSON.parse(readFileSync('short-names.json', 'utf8'));

/** The sources without comments, by path; those of the modules for SDKs have no part in the minified file. */
export function readSources() {
  const paths = readdirSync('src', { recursive: true }).filter(
    (path) => path.endsWith('.ts') && !path.startsWith('sdk/'),
  );
  return new Map(
    paths.map((path) => [path, readFileSync(join('src', path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')]),
  );
}

/**
 * By member: those that must have another short name. Two may share one where no source file has
 * both and neither is optional: then the type checker sees each object that would have two members
 * of one name (test/short-names.test.ts has it look).
 */
export function apart(members, sources) {
  const files = [...sources.values()].map((source) => new Set(source.match(/\w+/g)));
  const optional = new Set([...sources.values()].flatMap((source) => source.match(/\w+(?=\?[:(])/g) ?? []));
  const mayMeet = (one, other) =>
    optional.has(one) || optional.has(other) || files.some((file) => file.has(one) && file.has(other));
  return new Map(members.map((one) => [one, members.filter((other) => other !== one && mayMeet(one, other))]));
}

/** Fails where two members, or two variables, cannot have the name that they share. */
export function checkNames({ members, locals }, sources) {
  if (new Set(locals).size < locals.length) throw new Error('short-names.json: a local name stands twice');
  const written = new Set([...sources.values()].flatMap((source) => source.match(/(?<=[\w)\]?]\.)\w+/g) ?? []));
  for (const [name, short] of Object.entries(members))
    if (written.has(short)) throw new Error(`short-names.json: ${name} is ${short}, which is a member by itself`);
  for (const [one, others] of apart(Object.keys(members), sources))
    for (const other of others)
      if (members[one] === members[other])
        throw new Error(`short-names.json: ${one} and ${other} may meet and are both ${members[one]}`);
}

/** How many of the names are for what functions have of their own; the others are for the functions themselves. */
export const innerNames = 40;

/**
 * The variables of the file have other names than those of its functions, which so begin with the
 * same letters each. terser names the variables of one scope after the other, the file's first.
 */
function namesByScope(locals) {
  let scopes = 0;
  return {
    get(n) {
      if (n === 0) scopes++;
      if (scopes === 1) return locals[innerNames + n] ?? `$${n}`;
      return n < innerNames ? locals[n] : `_${n}`;
    },
  };
}

/** Members that neither leave the modules for SDKs nor are an SDK's. */
const sdkMembers = /^(key|rtp|sent|label|userID|live|refresh|element|listeners)$/;

/** A minified file of its own and its source map: an ES module of the named entry. */
export async function minifiedModule(entry, filename) {
  const { outputFiles } = await build({
    ...common,
    entryPoints: [entry],
    format: 'esm',
    minify: true,
    mangleProps: sdkMembers,
    outfile: `dist/${filename}`,
    banner: { js: licence },
    write: false,
  });
  const [content, folded] = ['.map', '.mjs'].map((end) => outputFiles.find(({ path }) => path.endsWith(end)).text);
  return minify(folded, {
    ecma: 2020,
    compress: { passes: 6, pure_getters: true, unsafe: true, unsafe_methods: true, unsafe_arrows: true },
    module: true,
    format: { comments: /^!/ },
    sourceMap: { content, filename, url: `${filename}.map`, includeSources: true },
  });
}

/** The minified file and its source map. */
export async function minified({ members, locals }) {
  const { outputFiles } = await build({
    ...umd,
    outfile: 'dist/qos.min.js',
    minify: true,
    mangleProps: new RegExp(`^(${Object.keys(members).join('|')})$`),
    mangleCache: members,
    write: false,
  });
  const [content, folded] = ['.map', '.js'].map((end) => outputFiles.find(({ path }) => path.endsWith(end)).text);
  return minify(folded, {
    ecma: 2020,
    compress: {
      passes: 6,
      hoist_funs: true, // functions side by side repeat more
      inline: 1, // bodies put in the place of calls repeat less
      unsafe_methods: true, // no member of ours is called with new
      unsafe_arrows: true, // nor any function without this
    },
    module: true, // all names are its own
    mangle: { nth_identifier: namesByScope(locals) },
    format: { comments: /^!/ },
    sourceMap: { content, filename: 'qos.min.js', url: 'qos.min.js.map', includeSources: true },
  });
}
