// What applications hand over as a PeerConnection, and how they say what it is for.

import { describe, expect, it } from 'vitest';
import { FakePeerConnection } from '../harness.ts';
import { conference, inCall, open, refused, stillWorks, taken, watchForThrows } from './app.ts';

watchForThrows();

const attributes = { remoteEndpointType: 'server', fabricTransmissionDirection: 'sendonly' };

describe('optional arguments in any place (spec: FAB-01, FAB-04, FAB-10)', () => {
  it.each<[string, (heard: () => void) => unknown[], boolean, string[]]>([
    ['nothing', () => [], false, []],
    ['undefined', () => [undefined], false, []],
    ['null', () => [null], false, []],
    ['null, null', () => [null, null], false, []],
    ['the callback in the fifth place, as once', (heard) => [heard], true, []],
    ['the callback in both places', (heard) => [heard, heard], true, []],
    ['attributes', () => [attributes], false, []],
    ['attributes, callback', (heard) => [attributes, heard], true, []],
    ['undefined, callback', (heard) => [undefined, heard], true, []],
    ['null, callback', (heard) => [null, heard], true, []],
    ['empty attributes', () => [{}], false, []],
    ['attributes of which one is missing', () => [{ remoteEndpointType: 'server' }], false, []],
    [
      'attributes that are null',
      () => [{ remoteEndpointType: null, fabricTransmissionDirection: undefined }],
      false,
      [],
    ],
    [
      'attributes under other names',
      () => [{ endpointType: 'peer', transmissionDirection: 'sendrecv' }],
      false,
      ['fabricAttributes.endpointType', 'fabricAttributes.transmissionDirection'],
    ],
    ['the callback and attributes exchanged', (heard) => [heard, attributes], true, []],
    ['the callback in the fifth place, and more', (heard) => [heard, 'more', 7], true, []],
    ['attributes, callback and more', (heard) => [attributes, heard, 'more', 7], true, []],
  ])('%s', async (_, rest, hears, named) => {
    const page = await open();
    let heard = 0;
    const pc = new FakePeerConnection();
    taken(page.qos.addNewFabric(pc, 'bob', 'multiplex', conference, ...rest(() => heard++)), ...named);
    await page.harness.run(100);
    expect(heard).toBe(hears ? 1 : 0);
    const server = [rest(() => 0)].flat().includes(attributes);
    expect(page.of('fabric')[0]).toMatchObject(server ? attributes : { fabricTransmissionDirection: 'sendrecv' });
    await stillWorks(page);
  });

  it.each<[string, object, string]>([
    [
      'an unknown kind of end',
      { remoteEndpointType: 'sfu' },
      'remoteEndpointType must be one of peer, server, got a string',
    ],
    [
      'a kind of end that is an object',
      { remoteEndpointType: {} },
      'remoteEndpointType must be one of peer, server, got an object',
    ],
    [
      'a direction as WebRTC names it',
      { fabricTransmissionDirection: 'recvonly' },
      'fabricTransmissionDirection must be one of sendonly, receiveonly, sendrecv, inactive, got a string',
    ],
    ['a name of Object', { remoteEndpointType: 'toString' }, 'remoteEndpointType must be one of peer, server'],
  ])('%s is left out and named, the fabric stands (spec: FAB-04)', async (_, given, said) => {
    const page = await open();
    const answer = page.qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', conference, given);
    taken(answer, `fabricAttributes.${said}`, ': ignored');
    expect(page.of('fabric')[0]).toMatchObject({ remoteEndpointType: 'peer', fabricTransmissionDirection: 'sendrecv' });
    await stillWorks(page);
  });

  it('of attributes that are half right the right one is kept', async () => {
    const page = await open();
    const own: Record<string, unknown> = { remoteEndpointType: 'server', fabricTransmissionDirection: 'both' };
    own.self = own;
    const answer = page.qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', conference, own);
    taken(answer, 'fabricAttributes.fabricTransmissionDirection', 'fabricAttributes.self is unknown and ignored');
    expect(page.of('fabric')[0]).toMatchObject({
      remoteEndpointType: 'server',
      fabricTransmissionDirection: 'sendrecv',
    });
  });

  it('each usage, by the enumeration and as text (spec: FAB-03)', async () => {
    const page = await open();
    for (const usage of ['multiplex', 'audio', 'video', 'screen', 'data', 'unbundled']) {
      taken(page.qos.addNewFabric(new FakePeerConnection(), 'bob', page.qos.fabricUsage[usage], conference));
      taken(page.qos.addNewFabric(new FakePeerConnection(), 'bob', usage, conference));
    }
    expect(page.of('fabric')).toHaveLength(12);
  });
});

describe('too early, or mixed up (spec: FAB-02)', () => {
  it.each<[string, (pc: object) => unknown[], string]>([
    ['a contact that is not known yet', (pc) => [pc, undefined, 'multiplex', conference], 'remoteUserID'],
    ['a conference that is not known yet', (pc) => [pc, 'bob', 'multiplex', undefined], 'conferenceID'],
    ['an empty conference', (pc) => [pc, 'bob', 'multiplex', ''], 'conferenceID'],
    ['a fraction of a room', (pc) => [pc, 'bob', 'multiplex', 12.34], 'conferenceID'],
    ['a room object', (pc) => [pc, 'bob', 'multiplex', { id: 'room' }], 'conferenceID'],
    ['no PeerConnection yet', () => [undefined, 'bob', 'multiplex', conference], 'pc'],
    ['null', () => [null, 'bob', 'multiplex', conference], 'pc'],
    ['the promise of one', (pc) => [Promise.resolve(pc), 'bob', 'multiplex', conference], 'pc'],
    ['its id', () => ['pc-1', 'bob', 'multiplex', conference], 'pc'],
    ['a session that holds one', (pc) => [{ connection: pc }, 'bob', 'multiplex', conference], 'pc'],
    ['the class', () => [class RTCPeerConnection {}, 'bob', 'multiplex', conference], 'pc'],
    ['no usage', (pc) => [pc, 'bob', undefined, conference], 'fabricUsage'],
    ['the enumeration, not a member', (pc) => [pc, 'bob', { multiplex: 'multiplex' }, conference], 'fabricUsage'],
    ['another case', (pc) => [pc, 'bob', 'Multiplex', conference], 'fabricUsage'],
    ['user and usage exchanged', (pc) => [pc, 'multiplex', 'bob', conference], 'fabricUsage'],
    ['the user first', (pc) => ['bob', pc, 'multiplex', conference], 'pc'],
    ['nothing at all', () => [], 'pc'],
    ['one object with everything', (pc) => [{ pc, remoteUserID: 'bob', conferenceID: conference }], 'pc'],
    ['attributes as text', (pc) => [pc, 'bob', 'multiplex', conference, 'peer'], 'fabricAttributes'],
  ])('%s', async (_, args, argument) => {
    const page = await open();
    const heard: string[] = [];
    const given = args(new FakePeerConnection());
    refused(page.qos.addNewFabric(...given), argument);
    if (given.length === 4) {
      refused(
        page.qos.addNewFabric(...given, null, (err: string) => heard.push(err)),
        argument,
      );
      expect(heard).toEqual([]);
      await page.harness.run(10);
      expect(heard).toEqual(['failure']);
    }
    await stillWorks(page);
  });

  it('the conference is found out later, and the same PeerConnection is added then', async () => {
    const page = await open();
    const pc = new FakePeerConnection();
    refused(page.qos.addNewFabric(pc, 'bob', 'multiplex', undefined), 'conferenceID');
    taken(page.qos.addNewFabric(pc, 'bob', 'multiplex', conference));
    expect(page.of('fabric')).toHaveLength(1);
  });
});

describe('the same PeerConnection again (spec: FAB-10, FAB-09)', () => {
  it('for the same conference: once', async () => {
    const page = await inCall();
    const heard: string[] = [];
    const again = page.qos.addNewFabric(page.pc, 'bob', 'multiplex', conference, (err: string) => heard.push(err));
    taken(again, 'monitored already');
    taken(page.qos.addNewFabric(page.pc, 'another', 'audio', conference), 'monitored already');
    await page.harness.run(100);
    expect(page.of('fabric')).toHaveLength(1);
    expect(heard).toEqual(['success']);
  });

  it('for another conference: a fabric of its own', async () => {
    const page = await inCall();
    taken(page.qos.addNewFabric(page.pc, 'bob', 'multiplex', 'second room'));
    taken(page.qos.sendFabricEvent(page.pc, 'fabricTerminated', conference));
    await page.harness.run(2000);
    taken(page.qos.sendFabricEvent(page.pc, 'audioMute', 'second room'));
    expect(page.of('event').at(-1)).toMatchObject({ event: 'audioMute', fabric: 2 });
  });

  it('after it was terminated: a new fabric', async () => {
    const page = await inCall();
    taken(page.qos.sendFabricEvent(page.pc, 'fabricTerminated', conference));
    taken(page.qos.addNewFabric(page.pc, 'bob', 'multiplex', conference));
    await page.harness.run(2000);
    expect(page.of('fabric').map((message) => message.fabric)).toEqual([1, 2]);
    taken(page.qos.sendFabricEvent(page.pc, 'audioMute', conference));
    expect(page.of('event').at(-1)).toMatchObject({ event: 'audioMute', fabric: 2 });
  });

  it('is added again when all is over, by an application that adds it each time the channel is back: nothing happens', async () => {
    const page = await inCall();
    page.pc.set({ signalingState: 'closed', connectionState: 'closed', iceConnectionState: 'closed' });
    await page.harness.run(3000);
    const before = page.sent().length;
    const heard: string[] = [];
    for (const room of [conference, 'another']) {
      const answer = page.qos.addNewFabric(page.pc, 'bob', 'multiplex', room, (err: string) => heard.push(err));
      taken(answer, 'is monitored already');
    }
    await page.harness.run(3000);
    expect(page.sent()).toHaveLength(before); // no call that failed at once
    expect(heard).toEqual(['success', 'success']);
  });

  it('is not taken for another call of the meeting when its own is over', async () => {
    const page = await open();
    const [first, second] = [new FakePeerConnection(), new FakePeerConnection()];
    taken(page.qos.addNewFabric(first, 'bob', 'multiplex', conference));
    taken(page.qos.addNewFabric(second, 'carol', 'multiplex', conference));
    const say = (event: string) => page.qos.sendFabricEvent(first, event, conference);
    taken(say('fabricTerminated'));
    for (const laterMs of [0, 2000]) {
      await page.harness.run(laterMs);
      taken(say('fabricTerminated'), 'ended already');
      refused(say('audioMute'), 'the fabric has ended');
      refused(page.qos.associateMstWithUserID(first, 'bob', conference, 1, ''), 'the fabric has ended already');
      refused(page.qos.reportUserIDChange(first, conference, 'b2', 'remote'), 'the fabric has ended already');
      taken(page.qos.reportError(first, conference, 'signalingError', new Error('Busy')));
      expect(page.of('error').at(-1)).toMatchObject({ conferenceID: conference });
      expect(page.of('error').at(-1)).not.toHaveProperty('fabric');
    }
    expect(page.of('event').filter((message) => message.fabric === 2)).toHaveLength(1);
    taken(page.qos.sendFabricEvent(second, 'audioMute', conference));
    expect(page.of('event').at(-1)).toMatchObject({ event: 'audioMute', fabric: 2 });
  });

  it('for each participant of a meeting, under one conference', async () => {
    const page = await open();
    const pcs = ['bob', 'carol', 'dave'].map((user) => {
      const pc = new FakePeerConnection();
      taken(page.qos.addNewFabric(pc, user, 'multiplex', conference));
      return pc;
    });
    for (const pc of pcs) taken(page.qos.sendFabricEvent(pc, 'audioMute', conference));
    const muted = page.of('event').filter((message) => message.event === 'audioMute');
    expect(muted.map((message) => message.fabric)).toEqual([1, 2, 3]);
  });
});

describe('what stands for a PeerConnection (spec: FAB-10, API-12)', () => {
  const bound = (pc: FakePeerConnection) =>
    new Proxy(pc, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });

  const kinds: Record<string, () => object> = {
    'a proxy': () => bound(new FakePeerConnection()),
    'a subclass': () => new (class extends FakePeerConnection {})(),
    'an object that inherits from one': () => Object.create(new FakePeerConnection()) as object,
    'a frozen wrapper': () => {
      const pc = new FakePeerConnection();
      return Object.freeze({ pc, getStats: () => pc.getStats(), iceConnectionState: 'new' });
    },
    'a look-alike with getStats alone': () => ({ getStats: async () => new Map() }),
    'a look-alike without a prototype': () => Object.assign(Object.create(null), { getStats: async () => new Map() }),
    'a look-alike that is a function': () => Object.assign(() => undefined, { getStats: async () => new Map() }),
    'one with on… properties in place of listeners': () => ({
      getStats: async () => new Map(),
      oniceconnectionstatechange: null,
      iceConnectionState: 'checking',
    }),
    'one whose getStats throws': () => ({
      getStats: () => {
        throw new Error('not yet');
      },
    }),
    'one whose getStats answers nothing': () => ({ getStats: () => undefined }),
    'one whose getStats never answers': () => ({ getStats: () => new Promise(() => undefined) }),
    'one whose statistics are an array': () => ({ getStats: async () => [{ id: 'a', type: 'inbound-rtp', ssrc: 1 }] }),
    'one whose statistics are an object': () => ({ getStats: async () => ({ a: { id: 'a', type: 'codec' } }) }),
    'one that is closed': () => Object.assign(new FakePeerConnection(), { signalingState: 'closed' }),
  };

  it.each(Object.entries(kinds))('%s', async (_, make) => {
    const page = await open();
    const pc = make();
    const heard: string[] = [];
    taken(page.qos.addNewFabric(pc, 'bob', 'multiplex', conference, (err: string) => heard.push(err)));
    await page.harness.run(25_000);
    expect(heard).toEqual(['success']);
    taken(page.qos.reportError(pc, conference, 'createOffer', new Error('x')));
    await stillWorks(page);
  });

  it('the wrapper is added, the real one is named later, or the other way round', async () => {
    const page = await open();
    const pc = new FakePeerConnection();
    const wrapper = { peerconnection: pc, getStats: () => pc.getStats() };
    taken(page.qos.addNewFabric(pc, 'jitsi', 'multiplex', conference));
    taken(page.qos.sendFabricEvent(wrapper, 'audioMute', conference));
    taken(page.qos.reportError(wrapper, conference, 'setLocalDescription', new Error('x')));
    taken(page.qos.associateMstWithUserID(wrapper, 'bob', conference, 77, 'camera', 'largeVideo'));
    taken(page.qos.sendFabricEvent(wrapper, 'fabricTerminated', conference));
    await page.harness.run(2000);
    expect(page.of('event').at(-1)).toMatchObject({ event: 'fabricTerminated', fabric: 1 });
  });

  it('the application closes it first and says goodbye afterwards', async () => {
    const page = await inCall();
    page.pc.set({ signalingState: 'closed', connectionState: 'closed', iceConnectionState: 'closed' });
    await page.harness.run(2000);
    taken(page.qos.sendFabricEvent(page.pc, 'fabricTerminated', conference), 'ended already');
    expect(page.events().filter(([event]) => event === 'fabricTerminated')).toHaveLength(1);
    expect(page.pc.listenerCount).toBe(0);
    await stillWorks(page);
  });
});
