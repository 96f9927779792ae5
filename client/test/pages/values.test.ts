// How the values that conferences are counted by read, and the searches that find them (spec: DASH-01).

import { describe, expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { attributeName, attributeValue, kinds } = await pageModule('values.js');
const { describe: describeEntry, reasonText } = await pageModule('entries.js');

describe('a value', () => {
  it('reads the same in counts and in facts', () => {
    expect(kinds.browsers.name('firefox 144')).toBe('Firefox 144');
    expect(attributeValue('browserVersion', 'firefox 144')).toBe('Firefox 144');
    expect(kinds.causes.name('senderUplink')).toBe("Sender's network");
    expect(kinds.outcomes.name('totallyFailed')).toBe('Totally failed');
    expect(kinds.outcomes.name('someNewOne')).toBe('Some new one');
    expect(kinds.issues.name('highPacketLoss')).not.toBe('highPacketLoss');
    expect([attributeName('os'), attributeValue('os', 'macos')]).toEqual(['Operating system', 'macOS']);
    expect(attributeValue('localAddress', '192.0.2.0')).toBe('192.0.2.0/24');
    expect([attributeName('new'), attributeValue('new', 'firefox')]).toEqual(['new', 'firefox']);
  });

  it('of a user stays as it is', () => {
    for (const of of ['sites', 'versions', 'errors']) expect(kinds[of].name('<b>a</b>')).toBe('<b>a</b>');
    expect(attributeValue('siteID', 'firefox 144')).toBe('firefox 144');
  });

  it('reads as text if its name is that of a member of every object', () => {
    expect(kinds.causes.name('constructor')).toBe('Constructor');
    expect(kinds.outcomes.name('toString')).toBe('To string');
    expect(attributeValue('os', 'toString')).toBe('toString');
    expect(reasonText('constructor')).toBe('constructor');
    expect(describeEntry({ kind: 'event', name: 'toString' }).title).toBe('To string');
  });

  it('leads to the conferences with it, where a search finds just those', () => {
    const search = (of: string, value: string) => kinds[of].search(value);
    expect(search('browsers', 'firefox 144')).toEqual({ fact: 'browserVersion:firefox 144' });
    expect(search('browsers', 'other')).toEqual({ fact: 'browser:other' });
    expect(search('browsers', 'firefox')).toBeNull();
    expect(search('errors', 'createOffer')).toEqual({ function: 'createOffer' });
    expect(search('sites', 'a b')).toEqual({ site: 'a b' });
    expect(search('labels', 'bad')).toEqual({ quality: 'bad' });
  });
});
