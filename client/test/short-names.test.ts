// Members that share a short name in qos.min.js never meet on one object.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Names {
  members: Record<string, string>;
  locals: string[];
}

const root = new URL('../', import.meta.url).pathname;
const { checkNames, readNames, readSources } = (await import(new URL('../minify.mjs', import.meta.url).href)) as {
  checkNames(names: Names, sources: Map<string, string>): void;
  readNames(): Names;
  readSources(): Map<string, string>;
};
const names = readNames();
const sources = readSources();

/** A source with each member renamed, and whatever else has that name; texts stay, but for T['member']. */
function renamed({ members }: Names, source: string): string {
  const short = (word: string) => (Object.hasOwn(members, word) ? `${members[word]}_` : word);
  return source.replace(
    /(?<=\w\[)'\w+'(?=])|('(?:[^'\\\n]|\\.)*')|(?<!\bmeta\.)\b\w+/g,
    (found, text?: string) => text ?? found.replace(/\w+/, short),
  );
}

/**
 * What the type checker says to sources with members named as in the minified file. An object
 * that has two of one name is an error there, and so is one that is taken for another, for a
 * member that it has by name alone.
 */
function complaints(names: Names, texts: Map<string, string>): string {
  const folder = mkdtempSync(join(root, 'short-names-'));
  for (const [path, text] of texts) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), renamed(names, text));
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../tsconfig.json', include: ['**/*.ts'] }));
  try {
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the short names of members', { timeout: 60_000 }, () => {
  it('never meet on one object', () => {
    expect(() => checkNames(names, sources)).not.toThrow();
    expect(complaints(names, sources)).toBe('');
  });

  const inner = 'export interface Inner { one: number }\nexport const inner: Inner = { one: 1 };\n';

  it('are found out where a type of two files has both', () => {
    const texts = new Map([
      ['inner.ts', inner],
      [
        'other.ts',
        "import { inner } from './inner.ts';\nexport const both: { two: string } & typeof inner = { ...inner, two: '' };\n",
      ],
    ]);
    expect(complaints({ members: { one: 'a', two: 'b' }, locals: [] }, texts)).toBe('');
    expect(complaints({ members: { one: 'a', two: 'a' }, locals: [] }, texts)).toContain('other.ts(2');
  });

  it.each<[string, Names, string[]]>([
    ['in one file', { members: { one: 'a', two: 'a' }, locals: [] }, ['const x = { one: 1, two: 2 };']],
    [
      'of an optional one',
      { members: { one: 'a', two: 'a' }, locals: [] },
      ['interface A { one?: 1 }', 'const x = { two: 2 };'],
    ],
    ['with a member that keeps its name', { members: { one: 'id' }, locals: [] }, ['const x = y.id;']],
    ['of variables', { members: {}, locals: ['a', 'b', 'a'] }, []],
  ])('are refused by the build: %s', (_, clashing, texts) => {
    const files = new Map(texts.map((text, i) => [`${i}.ts`, text]));
    expect(() => checkNames(clashing, files)).toThrow(/^short-names\.json: /);
  });

  it('may be shared by files that have nothing of each other', () => {
    const files = new Map([
      ['a.ts', 'const x = { one: 1 };'],
      ['b.ts', 'const x = { two: 2 };'],
    ]);
    expect(() => checkNames({ members: { one: 'a', two: 'a' }, locals: ['a', 'b'] }, files)).not.toThrow();
  });
});
