// Which script is the library's own, by the name of its file: the collector is taken to be
// where that file lies, so a file of another name must never be one of ours.

import { describe, expect, it } from 'vitest';
import { findBackend, ownFolder } from '../src/backend.ts';

const files = ['qos.js', 'qos.min.js', 'qos.mjs', 'qos.min.mjs'];
const folders = ['', 'static/', 'a/b.c/', 'qos.js/', 'my-qos.js/', '%20/', 'ü/'];
const tails = ['', '?', '?v=3', '?x=/other.js', '?x=/other/', '#', '#/x.js', '?v=1#/y/qos.map', '?a?b#c#d'];
const origins = ['https://q.example/', 'http://127.0.0.1:8480/', 'https://u@[::1]:8443/'];

describe('a file of ours (spec: LIB-03)', () => {
  const urls = origins.flatMap((origin) =>
    folders.flatMap((folder) => files.flatMap((file) => tails.map((tail) => [origin + folder, file + tail]))),
  );

  it.each(files)('%s, in any folder, with any query and fragment', (file) => {
    for (const [folder = '', name = ''] of urls)
      if (name.startsWith(file)) expect(ownFolder(folder + name), folder + name).toBe(new URL(folder).href);
  });

  it('names the back-end where backendUrl does not', () => {
    expect(findBackend(undefined, 'https://q.example/static/qos.min.mjs?v=3#x')).toBe('https://q.example/static/');
    expect(findBackend('https://a.example/p', 'https://q.example/qos.js')).toBe('https://a.example/p/');
  });
});

describe('a file of another (spec: LIB-03)', () => {
  const near = [
    'myqos.js',
    'my.qos.js',
    'my-qos.min.js',
    '_qos.js',
    '%71os.js',
    'qos',
    'qos.',
    'js',
    '.js',
    'qosjs',
    'qosxjs',
    'qos.js.map',
    'qos.min.js.map',
    'qos.jsx',
    'qos.mjsx',
    'qos.cjs',
    'qos.mmjs',
    'qos.ts',
    'qos.json',
    'qos.js.gz',
    'qos.min.js/',
    'qos.js/x',
    'qos.min.js/x',
    'qos.js/index.js',
    'qos/min.js',
    'qos.min/js',
    'qos..js',
    'qos.min.min.js',
    'qos.max.js',
    'qosxmin.js',
    'qos.minxjs',
    'qos.minjs',
    'qosmin.js',
    'qos-min.js',
    'qos.min.',
    'QOS.js',
    'qos.JS',
    'Qos.min.js',
    'qos.Min.js',
    'qos.js%20',
    'qos.js;v=1',
    'qos.js%3Fv',
    'qos.js,',
    'qos-1.0.js',
    'qos1.js',
    'index-3f2a.js',
    'vendor.js',
    '',
    '?qos.js',
    '#qos.js',
    'app.js?/qos.js',
    'app.js#/qos.min.js',
    'app.js?x=/qos.js#/qos.js',
  ];
  it.each(near)('%s', (name) => {
    for (const origin of origins)
      for (const folder of folders) {
        expect(ownFolder(origin + folder + name), origin + folder + name).toBeUndefined();
        expect(() => findBackend(undefined, origin + folder + name)).toThrow('set configParams.backendUrl');
      }
  });

  it.each([
    'file:///srv/qos.js',
    'blob:https://q.example/qos.js',
    'data:text/javascript,/qos.js',
    'ftp://q.example/qos.js',
    'chrome-extension://abcdef/qos.js',
    'about:blank',
    'qos.js',
    '/qos.js',
    './static/qos.min.js',
    'https:///',
    'no URL',
    '',
  ])('or of no http server: %s', (url) => {
    expect(ownFolder(url)).toBeUndefined();
  });

  it('or none', () => {
    expect(ownFolder()).toBeUndefined();
    expect(ownFolder(undefined)).toBeUndefined();
  });
});
