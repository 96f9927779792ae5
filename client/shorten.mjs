// Writes short-names.json anew: npm run shorten [seconds]. Not part of the build, which takes the
// names as they are; worth a run after a change that adds members or moves much.
//
// It minifies once with a placeholder in the place of each name. Then it tries names for the
// placeholders, a few at a time, and keeps what does not make the compressed file longer.

import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { apart, checkNames, innerNames, minified, readNames, readSources } from './minify.mjs';

const seconds = Number(process.argv[2] ?? 60);
const maxLocals = 280;

const letters = [...'etnrisoalcufdpmghbywvkxSITMDENCPLAROjFUqzBHJGVWKQXYZ'];
const pairs = (seconds) => [...seconds].flatMap((second) => letters.map((first) => first + second));
const forMembers = [...letters, ...pairs('e')];
const forLocals = [...letters, '_', '$', ...pairs('etnris')].filter((name) => !/^(ie|of|as|is|in)$/.test(name));

const sources = readSources();
const before = readNames();
const members = Object.keys(before.members);
const others = [...apart(members, sources).values()].map((names) => names.map((name) => members.indexOf(name)));

/** Of each member, and of each local, the index of its name. */
let best = { members: firstMembers(), locals: firstLocals() };

/** As they are; a new member, or one that is in another's way by now, takes the first free name. */
function firstMembers() {
  const chosen = [];
  members.forEach((member, i) => {
    const taken = others[i].map((other) => chosen[other]);
    chosen[i] = [before.members[member], ...forMembers].find((name) => name && !taken.includes(name));
  });
  return chosen;
}

function firstLocals() {
  return [...new Set([...before.locals, ...forLocals])].slice(0, maxLocals);
}

const placeholder = (kind, i) => `${kind}${String(i).padStart(4, '0')}`;

/** The minified file in pieces: text, and the indexes of the member and the local between two texts. */
async function pieces() {
  const { code } = await minified({
    members: Object.fromEntries(members.map((name, i) => [name, placeholder('qqqq', i)])),
    locals: Array.from({ length: maxLocals }, (_, i) => placeholder('zzzz', i)),
  });
  // {a:a} becomes {a}: a key and its value are one piece.
  return code.split(/((?<=[{,])qqqq\d{4}:zzzz\d{4}(?=[,}=])|qqqq\d{4}|zzzz\d{4})/).map((text, i) => {
    if (i % 2 === 0) return text;
    return { member: /qqqq(\d+)/.exec(text)?.[1], local: /zzzz(\d+)/.exec(text)?.[1] };
  });
}

const file = await pieces();

function sizeWith(names) {
  const text = file.map((piece) => {
    if (typeof piece === 'string') return piece;
    const member = names.members[Number(piece.member)];
    const local = names.locals[Number(piece.local)];
    return member === local ? member : [member, local].filter(Boolean).join(':');
  });
  return gzipSync(text.join(''), { level: 9 }).length;
}

const below = (limit) => Math.floor(Math.random() * limit);
const oftenEarly = (list) => list[Math.floor(Math.random() * Math.random() * list.length)];
const swapped = (list, one, other) => list.map((name) => (name === one ? other : name === other ? one : name));

/** The names with one of them changed, or two exchanged everywhere. */
function varied({ members, locals }) {
  const kind = below(3);
  if (kind === 0) return { members, locals: swapped(locals, locals[below(maxLocals)], oftenEarly(forLocals)) };
  if (kind === 1) return { members: swapped(members, oftenEarly(forMembers), oftenEarly(forMembers)), locals };
  const i = below(members.length);
  const next = [...members];
  next[i] = oftenEarly(forMembers);
  for (const other of others[i]) if (next[other] === next[i]) next[other] = members[i];
  return { members: next, locals };
}

const fits = ({ members }) => members.every((name, i) => others[i].every((other) => members[other] !== name));

/** The shortest names for the functions that are used most: after a change they are in another order. */
function byUse({ members, locals }) {
  const uses = locals.map((_, i) => file.filter((piece) => Number(piece.local) === i).length);
  const functions = [...locals.keys()].slice(innerNames).sort((one, other) => uses[other] - uses[one]);
  const names = locals.slice(innerNames).sort((one, other) => one.length - other.length);
  return { members, locals: locals.map((name, i) => (i < innerNames ? name : names[functions.indexOf(i)])) };
}

if (sizeWith(byUse(best)) < sizeWith(best)) best = byUse(best);
let size = sizeWith(best);
console.log(`${size} bytes at first`);
for (const until = Date.now() + 1000 * seconds; Date.now() < until; ) {
  const next = varied(best);
  if (!fits(next)) continue;
  const nextSize = sizeWith(next);
  if (nextSize > size) continue;
  best = next;
  size = nextSize;
}

const names = { members: Object.fromEntries(members.map((name, i) => [name, best.members[i]])), locals: best.locals };
checkNames(names, sources);
writeFileSync('short-names.json', `${JSON.stringify(names, null, 2)}\n`);
console.log(`${size} bytes (gzip -9), without what the source map adds`);
