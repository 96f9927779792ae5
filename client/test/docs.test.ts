// docs/library.md against the library: every operation, argument, enumeration and limit of
// the one is in the other.

import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { conference, inCall, type Library, load, tokens, watchForThrows } from './callers/app.ts';
import { backendUrl, FakePeerConnection, startHarness } from './harness.ts';

watchForThrows();

const text = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8');

/** The text under a heading, without what stands under the next of its level or above. */
function section(heading: string): string {
  const level = heading.indexOf(' ');
  const start = text.indexOf(`\n${heading}\n`);
  expect(start, heading).toBeGreaterThan(0);
  const rest = text.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

/** The cells of a section's table rows, without heads. */
function rows(part: string): string[][] {
  const lines = part.split('\n').filter((line) => /^\s*\| /.test(line) && !/^\s*\| -/.test(line));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const names = (cell: string) => [...cell.matchAll(/`([A-Za-z]+)`/g)].map(([, name]) => name);
const qos = load() as unknown as Record<string, unknown>;
const operations = Object.keys(qos).filter((name) => typeof qos[name] === 'function');
const enumerations = Object.keys(qos).filter((name) => typeof qos[name] === 'object');

const types = readFileSync(new URL('../src/types.ts', import.meta.url), 'utf8');

describe('operations', () => {
  it('are all there, and no other', () => {
    const headings = [...section('## Operations').matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(headings.sort()).toEqual(operations.sort());
  });

  it.each(operations)('%s: its arguments, each explained', (name) => {
    const part = section(`### ${name}`);
    const [call] = part.match(/`(\w+)\(([^)]*)\)`/) ?? [''];
    expect(call).toContain(`${name}(`);
    const given = call.slice(call.indexOf('(') + 1, -2);
    const listed = given.split(/, | \| /).filter(Boolean);
    const explained = rows(part).flatMap(([cell]) => names(cell ?? ''));
    if (name !== 'getTurnCredentials') expect(listed.filter((argument) => !explained.includes(argument))).toEqual([]);
    expect(explained.filter((argument) => !listed.includes(argument ?? ''))).toEqual([]);
  });
});

describe('enumerations', () => {
  const table = rows(section('## Enumerations'));

  it.each(enumerations)('%s: every value, and no other', (name) => {
    const row = table.find(([cell]) => names(cell ?? '').includes(name));
    expect(names(row?.[1] ?? '').sort()).toEqual(Object.keys(qos[name] as object).sort());
  });

  it('has no other', () => {
    const documented = table.slice(1).flatMap(([cell]) => names(cell ?? ''));
    expect(documented.sort()).toEqual(enumerations.sort());
  });
});

describe('callbacks', () => {
  it('every eventName', () => {
    const [, words] = rows(section('### on')).find(([cell]) => cell === '`eventName`') ?? [];
    const documented = names(words ?? '');
    expect(documented).toHaveLength(6);
    for (const name of documented)
      expect((load().on as Library['on'])(name, () => undefined).status, name).toBe('success');
    const said = load().on('nonsense', () => undefined).msg;
    for (const name of documented) expect(said).toContain(name);
  });

  it('every csError of the types', () => {
    const union = /type CsError =([^;]*);/.exec(types)?.[1] ?? '';
    const declaredErrors = [...union.matchAll(/'(\w+)'/g)].map(([, name]) => name);
    const documented = rows(section('## Callbacks'))
      .filter(([cell]) => /^`\w+`$/.test(cell ?? ''))
      .flatMap(([cell]) => names(cell ?? ''));
    expect(declaredErrors.length).toBeGreaterThan(5);
    expect(documented).toEqual(expect.arrayContaining(declaredErrors));
  });

  it('every member of the statistics that a track has', async () => {
    const page = await inCall();
    const seen: { mediaStreamTracks: object[] }[] = [];
    page.qos.on('stats', (stats: { mediaStreamTracks: object[] }) => seen.push(stats));
    page.pc.reports = [{ id: 'a', type: 'inbound-rtp', kind: 'audio', ssrc: 1, packetsReceived: 1, timestamp: 1 }];
    await page.harness.run(20_000);
    const documented = rows(section('### stats')).flatMap(([cell]) => names(cell ?? ''));
    expect(documented.sort()).toEqual(Object.keys(seen.at(-1)?.mediaStreamTracks[0] ?? {}).sort());
    for (const member of Object.keys(seen.at(-1) ?? {})) expect(section('### stats')).toContain(`\`${member}\``);
  });
});

describe('configuration', () => {
  beforeEach(() => {
    startHarness();
  });

  const value: Record<string, unknown> = { backendUrl, additionalIDs: {}, applicationVersion: '1', siteID: 'x' };

  it('every key is known, and its default is so', () => {
    const documented = rows(section('## Configuration')).slice(1);
    const keys = documented.flatMap(([cell]) => names(cell ?? '')) as string[];
    const config = Object.fromEntries(keys.map((key) => [key, value[key] ?? true]));
    expect(load().initialize('a', tokens, 'u', null, null, config)).toMatchObject({ status: 'success', msg: '' });
    const declaredKeys = [
      ...(/interface ConfigParams \{([\s\S]*?)^\}/m.exec(types)?.[1] ?? '').matchAll(/^ {2}(\w+)\?:/gm),
    ].map(([, key]) => key);
    expect(keys.sort()).toEqual(declaredKeys.sort());
  });

  it('every additional identifier is known', () => {
    const row = rows(section('## Configuration')).find(([cell]) => cell === '`additionalIDs`');
    const ids = names(row?.[2] ?? '');
    expect(ids).toHaveLength(9);
    const additionalIDs = Object.fromEntries(ids.map((id) => [id, 'x']));
    expect(load().initialize('a', tokens, 'u', null, null, { additionalIDs })).toMatchObject({ msg: '' });
  });
});

describe('limits', () => {
  type Page = Awaited<ReturnType<typeof inCall>>;
  const jsonOf = (n: number, rest: object = {}) => {
    const bare = JSON.stringify({ ...rest, x: '' }).length;
    return { ...rest, x: 'x'.repeat(n - bare) };
  };
  const details = { callType: 'inbound', role: 'agent' };
  const configured = (config: object) => load().initialize('a', tokens, 'u', null, null, config);

  /** Hands over n units of what a row names. */
  const hand: Record<string, (page: Page, n: number) => { status: string; msg: string }> = {
    AppID: (_, n) => load().initialize('x'.repeat(n), tokens, 'u'),
    AppSecret: (_, n) => load().initialize('a', 'x'.repeat(n), 'u'),
    userID: ({ qos }, n) => qos.addNewFabric(new FakePeerConnection(), 'x'.repeat(n), 'audio', conference),
    userName: ({ qos }, n) =>
      qos.addNewFabric(new FakePeerConnection(), { userName: 'é'.repeat(n), aliasName: 'a' }, 'audio', conference),
    aliasName: ({ qos }, n) =>
      qos.addNewFabric(new FakePeerConnection(), { userName: 'a', aliasName: 'é'.repeat(n) }, 'audio', conference),
    conferenceID: ({ qos }, n) => qos.addNewFabric(new FakePeerConnection(), 'bob', 'audio', 'x'.repeat(n)),
    usageLabel: ({ qos, pc }, n) => qos.associateMstWithUserID(pc, 'bob', conference, 1, 'x'.repeat(n)),
    eventData: ({ qos, pc }, n) => qos.sendFabricEvent(pc, 'audioMute', conference, jsonOf(n)),
    callAttributes: ({ qos, pc }, n) => qos.sendCallDetails(pc, conference, jsonOf(n, details)),
    events: ({ qos, pc }, n) => qos.sendCustomEvent(pc, conference, [jsonOf(n)]),
    'stats.name': ({ qos, pc }, n) => qos.sendCustomStats(pc, conference, [{ name: 'x'.repeat(n), value: 1 }]),
    comment: ({ qos }, n) => qos.sendUserFeedback(conference, { userID: 'a', overall: 5, comment: 'x'.repeat(n) }),
    applicationVersion: (_, n) => configured({ applicationVersion: 'é'.repeat(n) }),
    siteID: (_, n) => configured({ siteID: 'x'.repeat(n) }),
    additionalIDs: (_, n) => configured({ additionalIDs: { tenantID: 'x'.repeat(n) } }),
    applicationLog: ({ qos, pc }, n) => qos.reportError(pc, conference, 'applicationLog', 'x'.repeat(n)),
    'domError.message': ({ qos, pc }, n) => qos.reportError(pc, conference, 'createOffer', 'x'.repeat(n)),
    'domError.stack': ({ qos, pc }, n) =>
      qos.reportError(pc, conference, 'createOffer', { message: 'x', stack: 'x'.repeat(n) }),
    localSDP: ({ qos, pc }, n) => qos.reportError(pc, conference, 'createOffer', 'x', 'x'.repeat(n)),
  };

  /** What has a way to the wire of its own: how long it is there. */
  const sent: Record<string, (page: Page) => unknown> = {
    applicationLog: ({ of }) => of('log').at(-1)?.text,
    'domError.message': ({ of }) => of('error').at(-1)?.message,
    'domError.stack': ({ of }) => of('error').at(-1)?.stack,
    localSDP: ({ of }) =>
      of('sdp')
        .filter(({ error }) => error === of('error').at(-1)?.seq)
        .map(({ text }) => text)
        .join(''),
  };

  const table = rows(section('## Limits')).slice(1);

  it('has a row for each that is tried here, and no other', () => {
    expect(table.map(([cell]) => cell?.replaceAll('`', '')).sort()).toEqual(Object.keys(hand).sort());
  });

  it.each(table)('%s: %s, over it: %s', async (cell = '', limit = '', over = '') => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const page = await inCall();
    const name = cell.replaceAll('`', '');
    const n = Number.parseInt(limit, 10);
    expect(n).toBeGreaterThan(0);
    expect(hand[name]?.(page, n)).toMatchObject({ status: 'success', msg: '' });
    const answer = hand[name]?.(page, n + 1);
    if (over === 'failure')
      expect(answer).toMatchObject({ status: 'failure', msg: expect.stringContaining(String(n)) });
    else expect(answer?.status).toBe('success');
    if (over.startsWith('cut')) expect(answer?.msg).toContain(`cut to ${n}`);
    await page.harness.run();
    if (sent[name]) expect(sent[name](page)).toBe('x'.repeat(n));
  });
});

it('names what the older forms of calls are answered', () => {
  const old = load();
  for (const name of ['wrtcFuncNames', 'callStatsAPIReturnStatus']) {
    expect(section('## From the former service')).toContain(`\`${name}\``);
    expect(old).toHaveProperty(name);
  }
});
