// What applications send as an event, and with what data.

import { describe, expect, it } from 'vitest';
import { FakePeerConnection } from '../harness.ts';
import { conference, inCall, open, refused, stillWorks, taken, watchForThrows } from './app.ts';

watchForThrows();

const plain = [
  'fabricHold',
  'fabricResume',
  'audioMute',
  'audioUnmute',
  'videoPause',
  'videoResume',
  'screenShareStart',
  'screenShareStop',
  'dominantSpeaker',
];

describe('every event (spec: API-04, API-05)', () => {
  it.each<[string, unknown[], object]>([
    ['without data', [], {}],
    ['with undefined', [undefined], {}],
    ['with null', [null], {}],
    ['with an empty object', [{}], {}],
    ['with data', [{ by: 'user', at: 12 }], { by: 'user', at: 12 }],
    ['with data that JSON leaves out', [{ a: 1, f: () => 1, u: undefined }], { a: 1 }],
    ['with a date in it', [{ when: new Date(0) }], { when: '1970-01-01T00:00:00.000Z' }],
    ['with frozen data', [Object.freeze({ a: Object.freeze([1]) })], { a: [1] }],
    ['with data and a callback', [{ a: 1 }, () => undefined], { a: 1 }],
    [
      'with an instance of a class',
      [
        new (class Mute {
          by = 'me';
        })(),
      ],
      { by: 'me' },
    ],
  ])('%s', async (_, rest, kept) => {
    const page = await inCall();
    for (const name of plain) taken(page.qos.sendFabricEvent(page.pc, name, conference, ...rest));
    expect(page.events().slice(-plain.length)).toEqual(plain.map((name) => [name, kept]));
    await stillWorks(page);
  });

  it.each<[string, unknown]>([
    ['text', 'audio'],
    ['a number', 7],
    ['true', true],
    ['a list', [1, 2]],
    ['a function', () => undefined],
  ])('%s for data is refused by name', async (_, data) => {
    const page = await inCall();
    refused(page.qos.sendFabricEvent(page.pc, 'audioMute', conference, data), 'eventData');
    await stillWorks(page);
  });
});

describe('events that there are not, or not for applications', () => {
  it('the set-up, sent when the callback of the fabric says success (spec: FAB-06)', async () => {
    const page = await open();
    const pc = new FakePeerConnection();
    page.qos.addNewFabric(pc, 'bob', 'multiplex', conference, () => {
      for (const name of ['fabricSetup', 'fabricSetupFailed'])
        refused(page.qos.sendFabricEvent(pc, page.qos.fabricEvent[name], conference), name);
    });
    await page.harness.run(100);
    expect(page.events().map(([event]) => event)).not.toContain('fabricSetup');
    await stillWorks(page);
  });

  it.each(['fabricStats', 'AudioMute', 'mute', '', 'constructor', '__proto__', 'toString'])(
    '%j is refused',
    async (name) => {
      const page = await inCall();
      refused(page.qos.sendFabricEvent(page.pc, name, conference), 'fabricEvent');
      await stillWorks(page);
    },
  );

  it.each<[string, unknown[], string]>([
    ['event and PeerConnection exchanged', ['audioMute', new FakePeerConnection(), conference], 'fabricEvent'],
    ['event and conference exchanged', [new FakePeerConnection(), conference, 'audioMute'], 'fabricEvent'],
    ['an undefined member', [new FakePeerConnection(), undefined, conference], 'fabricEvent'],
    ['no conference', [new FakePeerConnection(), 'audioMute'], 'conferenceID'],
    ['no PeerConnection, another conference', [null, 'audioMute', 'nowhere'], 'pc is no fabric of this conferenceID'],
    ['a conference that is unknown', [new FakePeerConnection(), 'audioMute', 'nowhere'], 'conferenceID'],
    ['nothing', [], 'fabricEvent'],
  ])('%s', async (_, args, argument) => {
    const page = await inCall();
    refused(page.qos.sendFabricEvent(...args), argument);
    await stillWorks(page);
  });
});

describe('the whole conference (spec: API-12)', () => {
  it.each(['dominantSpeaker', 'activeDeviceList'])('%s without a PeerConnection', async (name) => {
    const page = await inCall();
    for (const pc of [null, undefined]) taken(page.qos.sendFabricEvent(pc, name, conference));
    expect(page.of('event').at(-1)).toMatchObject({ event: name, conferenceID: conference });
  });

  it('with the first PeerConnection of the meeting, whichever is there', async () => {
    const page = await inCall();
    taken(page.qos.sendFabricEvent(page.pc || null, 'dominantSpeaker', conference));
    expect(page.of('event').at(-1)).toMatchObject({ event: 'dominantSpeaker', fabric: 1 });
  });
});

describe('devices (spec: API-04)', () => {
  const device = { deviceId: 'default', kind: 'audioinput', label: 'Headset', groupId: 'g' };
  const empty = { deviceList: [] };

  it.each<[string, unknown, object]>([
    ['as documented', { deviceList: [device] }, { deviceList: [device] }],
    ['a bare list', [device], { deviceList: [device] }],
    ['a map by kind', { deviceList: { audioinput: device, audiooutput: [device] } }, { deviceList: [device, device] }],
    ['what enumerateDevices() gave', { deviceList: [Object.create(device) as object] }, { deviceList: [device] }],
    ['a device that is missing', { deviceList: [undefined, null, device] }, { deviceList: [device] }],
    ['an empty list', { deviceList: [] }, empty],
    ['null in its place', { deviceList: null }, empty],
    ['nothing', undefined, empty],
    ['names alone', { deviceList: ['Headset', 'Camera'] }, { deviceList: [{ label: 'Headset' }, { label: 'Camera' }] }],
    ['a bare list of names', ['Headset', device], { deviceList: [{ label: 'Headset' }, device] }],
    [
      'a map to names',
      { deviceList: { audioinput: 'Headset', videoinput: 'Camera' } },
      {
        deviceList: [
          { kind: 'audioinput', label: 'Headset' },
          { kind: 'videoinput', label: 'Camera' },
        ],
      },
    ],
    [
      'a bare map to names, lists of names and devices without a kind',
      {
        audioinput: ['Headset', 'Desk'],
        audiooutput: { deviceId: 'x', label: 'Speaker' },
        videoinput: [{ label: 'Camera' }],
      },
      {
        deviceList: [
          { kind: 'audioinput', label: 'Headset' },
          { kind: 'audioinput', label: 'Desk' },
          { kind: 'audiooutput', deviceId: 'x', label: 'Speaker' },
          { kind: 'videoinput', label: 'Camera' },
        ],
      },
    ],
    [
      'a bare map to devices, which know their kind',
      { mic: device, speaker: [device] },
      { deviceList: [device, device] },
    ],
    ['one device alone', device, { deviceList: [device] }],
    ['one device in place of the list', { deviceList: device }, { deviceList: [device] }],
    ['one name in place of the list', { deviceList: 'Headset' }, { deviceList: [{ label: 'Headset' }] }],
    [
      'kinds without a device',
      { audioinput: device, videoinput: null, audiooutput: '', x: [] },
      { deviceList: [device] },
    ],
    ['lists in a list', [[device], ['Headset']], { deviceList: [device, { label: 'Headset' }] }],
    ['what is no device', [7, true, device], { deviceList: [device] }],
  ])('%s', async (_, data, kept) => {
    const page = await inCall();
    const answer = page.qos.sendFabricEvent(page.pc, 'activeDeviceList', conference, data);
    expect(answer.status).toBe('success');
    expect(page.events().at(-1)).toEqual(['activeDeviceList', kept]);
    await stillWorks(page);
  });
});

describe('devices that are too many, or none (spec: API-04)', () => {
  const device = (n: number) => ({ deviceId: `id ${n}`, kind: 'audioinput', label: 'é'.repeat(60), groupId: 'g' });
  const send = async (data: unknown) => {
    const page = await inCall();
    const answer = page.qos.sendFabricEvent(page.pc, 'activeDeviceList', conference, data);
    const [event, kept] = page.events().at(-1) as [string, { deviceList: object[] }];
    await stillWorks(page);
    return { answer, event, list: kept.deviceList };
  };

  it.each([100, 100_000])('%d devices: as many as there is room for, and the answer says how many', async (count) => {
    const { answer, event, list } = await send({ deviceList: Array.from({ length: count }, (_, n) => device(n)) });
    expect(event).toBe('activeDeviceList');
    taken(answer, `eventData.deviceList was cut to ${list.length} devices`);
    expect(list.length).toBeGreaterThan(15);
    expect(list).toEqual(list.map((_, n) => device(n)));
    expect(Buffer.byteLength(JSON.stringify({ deviceList: list }))).toBeLessThanOrEqual(4096);
  });

  it('a list of holes', async () => {
    taken((await send({ deviceList: new Array(2 ** 32 - 1) })).answer);
  });

  it.each(['Headset', 7, true, () => undefined])('%s is refused', async (data) => {
    const page = await inCall();
    refused(page.qos.sendFabricEvent(page.pc, 'activeDeviceList', conference, data), 'eventData');
    expect(page.events().map(([event]) => event)).not.toContain('activeDeviceList');
    await stillWorks(page);
  });
});

describe('after the end (spec: FAB-08, FAB-11)', () => {
  it('goodbye twice, and a mute after it', async () => {
    const page = await inCall();
    taken(page.qos.sendFabricEvent(page.pc, 'fabricTerminated', conference));
    taken(page.qos.sendFabricEvent(page.pc, 'fabricTerminated', conference), 'ended already');
    refused(page.qos.sendFabricEvent(page.pc, 'audioMute', conference), 'fabric');
    await page.harness.run(2000);
    refused(page.qos.sendFabricEvent(page.pc, 'audioMute', conference), 'fabric');
    refused(page.qos.associateMstWithUserID(page.pc, 'bob', conference, 1, ''), 'fabric');
    refused(page.qos.reportUserIDChange(page.pc, conference, 'b2', 'remote'), 'fabric');
    expect(page.events().filter(([event]) => event === 'fabricTerminated')).toHaveLength(1);
    await stillWorks(page);
  });

  it('goodbye, and closed in the same turn', async () => {
    const page = await inCall();
    taken(page.qos.sendFabricEvent(page.pc, 'fabricTerminated', conference));
    page.pc.set({ signalingState: 'closed', connectionState: 'closed', iceConnectionState: 'closed' });
    page.pc.failing = true;
    await page.harness.run(2000);
    expect(page.of('event').at(-1)).toMatchObject({ event: 'fabricTerminated', data: { reason: 'application' } });
  });

  it('goodbye before anything else was said', async () => {
    const page = await open();
    refused(page.qos.sendFabricEvent(new FakePeerConnection(), 'fabricTerminated', conference), 'conferenceID');
    await stillWorks(page);
  });
});
