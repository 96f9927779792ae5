// Session descriptions on the conference page: by sections, in words, and compared.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageModule } from './module.ts';

const { changes, diff, inWords, linesOf, sections } = await pageModule('sdp.js');

type Line = [kind: string, line: string];

const sdp = [
  'v=0',
  'o=- 42 3 IN IP4 127.0.0.1',
  'a=group:BUNDLE 0 1',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 9',
  'a=mid:0',
  'a=sendrecv',
  'a=rtpmap:111 opus/48000/2',
  'a=fmtp:111 minptime=10;useinbandfec=1',
  'a=candidate:1 1 udp 2122260223 192.0.2.0 50000 typ srflx raddr 10.0.0.0 rport 5000',
  'a=setup:actpass',
  'm=video 0 UDP/TLS/RTP/SAVPF 96',
  'a=mid:1',
  'a=inactive',
  'a=later:thing',
];

describe('sections', () => {
  it('are the session and each m-line, with what they are', () => {
    expect(sections(`${sdp.join('\r\n')}\r\n`)).toEqual([
      { title: 'Session', lines: sdp.slice(0, 3) },
      { title: 'audio · mid 0 · sends and receives', lines: sdp.slice(3, 10) },
      { title: 'video · mid 1 · inactive · rejected', lines: sdp.slice(10) },
    ]);
  });

  it('have each line of any text once', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parts: { lines: string[] }[] = sections(text);
        expect(parts.flatMap(({ lines }) => lines)).toEqual(linesOf(text));
      }),
    );
  });
});

describe('words', () => {
  it.each([
    [1, 'session 42, version 3'],
    [2, 'one transport for the sections 0 1'],
    [3, 'audio over UDP/TLS/RTP/SAVPF: opus, 9'],
    [5, 'this end sends and receives'],
    [6, 'payload type 111: opus, 48000 Hz, 2 channels'],
    [7, 'parameters of opus (payload type 111)'],
    [8, 'ICE candidate: srflx udp 192.0.2.0 port 50000, from 10.0.0.0'],
    [9, 'offers either DTLS role'],
    [10, 'video, rejected over UDP/TLS/RTP/SAVPF: 96'],
    [12, 'this end is inactive'],
    [13, ''],
  ])('line %i', (i, words) => {
    expect(inWords(sdp)[i]).toBe(words);
  });

  it.each(['a=toString', 'a=constructor'])('are not known of %s, which every object has', (line) => {
    expect(inWords([line])).toEqual(['']);
  });

  it('name no role that every object has', () => {
    expect(inWords(['a=setup:toString'])).toEqual(['DTLS role']);
  });

  it('are there for any line', () => {
    const start = fc.constantFrom(
      'm=',
      'o=',
      'c=',
      'b=AS:',
      'a=',
      'a=candidate:',
      'a=rtpmap:',
      'a=fmtp:',
      'a=extmap:',
      'a=rid:',
      'a=setup:',
      'a=constructor',
      'a=rtcp-fb:',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(start, fc.string())), (lines) => {
        for (const words of inWords(lines.map(([a, b]) => a + b))) expect(typeof words).toBe('string');
      }),
    );
  });
});

describe('a difference', () => {
  const of = (kind: string) => (all: Line[]) =>
    all.filter(([one]) => one === 'same' || one === kind).map(([, line]) => line);
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });

  it('has both texts, and as many equal lines as there can be', () => {
    const longest = (a: string[], b: string[]): number => {
      const row = new Array(b.length + 1).fill(0);
      for (const line of a) {
        let corner = 0;
        for (let j = 1; j <= b.length; j++) {
          const above = row[j];
          row[j] = line === b[j - 1] ? corner + 1 : Math.max(above, row[j - 1]);
          corner = above;
        }
      }
      return row[b.length];
    };
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const all = diff(a, b);
        expect(of('removed')(all)).toEqual(a);
        expect(of('added')(all)).toEqual(b);
        expect(all.filter(([kind]: Line) => kind === 'same')).toHaveLength(longest(a, b));
      }),
    );
  });

  it('of very long texts is all lines', () => {
    const a = Array.from({ length: 3000 }, (_, i) => `a${i}`);
    const b = ['first', ...a.slice(0, 1500), ...Array.from({ length: 3000 }, (_, i) => `b${i}`)];
    const all = diff(a, b);
    expect(of('removed')(all)).toEqual(a);
    expect(of('added')(all)).toEqual(b);
  });

  it('shows three lines around each change', () => {
    const lines = Array.from({ length: 20 }, (_, i) => `${i}`);
    const other = lines.map((line, i) => (i === 10 ? 'x' : line));
    expect(changes(diff(lines, other))).toEqual([
      ['left out', 7],
      ...['7', '8', '9'].map((line) => ['same', line]),
      ['removed', '10'],
      ['added', 'x'],
      ...['11', '12', '13'].map((line) => ['same', line]),
      ['left out', 6],
    ]);
    expect(changes(diff(lines, lines))).toEqual([['left out', 20]]);
  });
});
