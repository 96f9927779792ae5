// Nobody acts on another's fabric, and a rename reaches exactly whom it was said for.

import { describe, expect, it, vi } from 'vitest';
import { conference, inCall, load, open, refused, taken, tokens, watchForThrows, welcome } from './callers/app.ts';
import { FakePeerConnection } from './harness.ts';

watchForThrows();

/** Node has no RTCPeerConnection: what it has of native getters that know their own is a Map's. */
class Genuine extends Map {}
Object.defineProperty(
  Genuine.prototype,
  'signalingState',
  Object.getOwnPropertyDescriptor(Map.prototype, 'size') as PropertyDescriptor,
);
const members = (pc: FakePeerConnection) => ({
  getStats: () => pc.getStats(),
  iceConnectionState: 'new',
  connectionState: 'new',
});
const genuine = (Kind = Genuine): object => Object.assign(new Kind(), members(new FakePeerConnection()));

const foreign: Record<string, () => object> = {
  'a genuine one': () => genuine(),
  'one of a subclass': () => genuine(class extends Genuine {}),
  'one whose class has a getter of its own': () =>
    genuine(
      class extends Genuine {
        get signalingState() {
          return 'stable';
        }
      },
    ),
};

class Wrapper {
  readonly #inner = new FakePeerConnection();
  get signalingState() {
    return this.#inner.signalingState;
  }
}

const lookAlikes: Record<string, () => unknown> = {
  'a Proxy of a genuine one': () => new Proxy(genuine(), {}),
  'what inherits from a genuine one': () => Object.create(genuine()),
  'a wrapper with a private field': () => new Wrapper(),
  'a wrapper whose getter is bound': () =>
    Object.defineProperty({}, 'signalingState', { get: (() => 'stable').bind(null) }),
  'a look-alike': () => new FakePeerConnection(),
  'an empty object': () => ({}),
  'a revoked Proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
};

const none = 'pc is no fabric of this conferenceID, 0 fit';
const two = 'pc is no fabric of this conferenceID, 2 fit';

type InCall = Awaited<ReturnType<typeof inCall>>;

/** All that acts on a fabric. */
const actions: Record<string, (page: InCall, pc: unknown) => { status: string; msg: string; message: string }> = {
  audioMute: ({ qos }, pc) => qos.sendFabricEvent(pc, 'audioMute', conference),
  fabricTerminated: ({ qos }, pc) => qos.sendFabricEvent(pc, 'fabricTerminated', conference),
  dominantSpeaker: ({ qos }, pc) => qos.sendFabricEvent(pc, 'dominantSpeaker', conference),
  activeDeviceList: ({ qos }, pc) => qos.sendFabricEvent(pc, 'activeDeviceList', conference, []),
  'rename remote': ({ qos }, pc) => qos.reportUserIDChange(pc, conference, 'eve', 'remote'),
  'rename local': ({ qos }, pc) => qos.reportUserIDChange(pc, conference, 'eve', 'local'),
  associate: ({ qos }, pc) => qos.associateMstWithUserID(pc, 'eve', conference, 7, ''),
};

/** What belongs to the conference as well. */
const notes: Record<
  string,
  (page: InCall, pc: unknown, id?: string) => { status: string; msg: string; message: string }
> = {
  error: ({ qos }, pc, id = conference) => qos.reportError(pc, id, 'createOffer', 'x'),
  log: ({ qos }, pc, id = conference) => qos.reportError(pc, id, 'applicationLog', 'x'),
  callDetails: ({ qos }, pc, id = conference) => qos.sendCallDetails(pc, id, { callType: 'inbound', role: 'agent' }),
  customEvent: ({ qos }, pc, id = conference) => qos.sendCustomEvent(pc, id, 'x'),
};

const add = (page: InCall, id = conference, pc: object = new FakePeerConnection()) => {
  taken(page.qos.addNewFabric(pc, 'carol', 'multiplex', id));
  return pc;
};

describe('a genuine connection that is no fabric of the conference (spec: API-12)', () => {
  describe.each(Object.entries(foreign))('%s', (_, make) => {
    it.each(Object.entries(actions))('%s fails, and nothing is sent', async (__, act) => {
      const page = await inCall();
      const before = page.sent().length;
      refused(act(page, make()), none);
      await page.harness.run(2000);
      expect(page.sent()).toHaveLength(before);
    });

    it.each(Object.entries(notes))('%s is of the conference', async (__, say) => {
      const page = await inCall();
      taken(say(page, make()));
      expect(page.sent().at(-1)).toMatchObject({ conferenceID: conference });
      expect(page.sent().at(-1)).not.toHaveProperty('fabric');
    });
  });

  it.each(Object.entries(actions))('%s of a fabric of another conference', async (_, act) => {
    const page = await inCall();
    refused(act(page, add(page, 'elsewhere')), none); // it is no genuine one, but known
  });

  it.each(Object.entries(actions))('%s of one whose addNewFabric was refused', async (_, act) => {
    const page = await inCall();
    for (const pc of [genuine(), new FakePeerConnection()]) {
      refused(page.qos.addNewFabric(pc, '', 'multiplex', conference), 'remoteUserID');
      refused(act(page, pc), none);
      taken(page.qos.reportError(pc, conference, 'createOffer', 'x'));
      expect(page.of('error').at(-1)).toMatchObject({ conferenceID: conference });
    }
  });

  it('is a fabric like any other once it is added', async () => {
    const page = await inCall();
    const pc = genuine();
    refused(page.qos.addNewFabric(pc, '', 'multiplex', conference), 'remoteUserID');
    Object.assign(pc, { connectionState: 'closed' });
    taken(page.qos.addNewFabric(pc, 'carol', 'multiplex', conference)); // not "monitored already"
    expect(page.of('fabric')).toHaveLength(2);
    const open = add(page, conference, genuine());
    taken(page.qos.sendFabricEvent(open, 'audioMute', conference));
    expect(page.of('event').at(-1)).toMatchObject({ fabric: 3, event: 'audioMute' });
  });
});

describe('what stands for another (spec: API-12)', () => {
  describe.each(Object.entries(lookAlikes))('%s', (_, make) => {
    it.each(Object.entries(actions))('%s: the only fabric that fits', async (name, act) => {
      const page = await inCall();
      add(page, 'elsewhere');
      taken(act(page, make()));
      await page.harness.run(2000);
      const frame = page.of('event').at(-1);
      expect(frame).toMatchObject({ fabric: 1 });
      if (name in page.qos.fabricEvent) expect(frame).toMatchObject({ event: name });
    });

    it.each(Object.entries(actions))('%s: two that fit are one too many', async (__, act) => {
      const page = await inCall();
      add(page);
      const before = page.sent().length;
      refused(act(page, make()), two);
      await page.harness.run(2000);
      expect(page.sent()).toHaveLength(before);
    });

    it.each(Object.entries(notes))('%s: of the fabric if there is one, else of the conference', async (__, say) => {
      const page = await inCall();
      taken(say(page, make()));
      expect(page.sent().at(-1)).toMatchObject({ fabric: 1 });
      add(page);
      taken(say(page, make()));
      expect(page.sent().at(-1)).toMatchObject({ conferenceID: conference });
      taken(say(page, make(), 'of no fabric'));
      expect(page.sent().at(-1)).toMatchObject({ conferenceID: 'of no fabric' });
    });
  });

  it('the SSRC tells fabrics apart, before it is seen only where there is one (spec: API-03)', async () => {
    const page = await inCall();
    const other = add(page) as FakePeerConnection;
    const inbound = (ssrc: number) => ({
      id: `in ${ssrc}`,
      type: 'inbound-rtp',
      kind: 'audio',
      ssrc,
      packetsReceived: 1,
    });
    page.pc.reports = [inbound(7)];
    other.reports = [inbound(8), inbound(9)];
    await page.harness.run(10_000);
    const associate = (ssrc: number) => page.qos.associateMstWithUserID({}, 'eve', conference, ssrc, '');
    taken(associate(9));
    expect(page.of('event').at(-1)).toMatchObject({ fabric: 2, event: 'associateMstWithUserID' });
    taken(associate(7));
    expect(page.of('event').at(-1)).toMatchObject({ fabric: 1 });
    refused(associate(10), two);
    page.pc.reports.push(inbound(8));
    await page.harness.run(10_000);
    refused(associate(8), two);
    taken(page.qos.sendFabricEvent(other, 'fabricTerminated', conference));
    taken(associate(10));
    expect(
      page
        .of('event')
        .filter(({ event }) => event === 'associateMstWithUserID')
        .at(-1),
    ).toMatchObject({ fabric: 1 });
  });
});

describe('null and undefined (spec: API-12)', () => {
  it.each([null, undefined])('%s', async (nothing) => {
    const page = await inCall();
    for (const [name, act] of Object.entries(actions)) {
      if (name.startsWith('rename') || name === 'associate') refused(act(page, nothing), 'pc must be a PeerConnection');
      else if (name !== 'fabricTerminated') taken(act(page, nothing));
    }
    const reported = page.of('event').slice(-3);
    expect(reported.map(({ event, fabric, conferenceID }) => [event, fabric ?? conferenceID])).toEqual([
      ['audioMute', 1],
      ['dominantSpeaker', conference],
      ['activeDeviceList', conference],
    ]);
    for (const say of Object.values(notes)) {
      taken(say(page, nothing));
      expect(page.sent().at(-1)).toMatchObject({ conferenceID: conference });
    }
    add(page);
    refused(page.qos.sendFabricEvent(nothing, 'audioMute', conference), two);
    refused(page.qos.sendFabricEvent(nothing, 'fabricTerminated', conference), two);
    taken(page.qos.sendFabricEvent(page.pc, 'fabricTerminated', conference));
    taken(page.qos.sendFabricEvent(nothing, 'fabricTerminated', conference)); // the one that is left
    refused(page.qos.sendFabricEvent(nothing, 'fabricTerminated', conference), none);
  });
});

describe('errors without a fabric (spec: API-01, CONF-05)', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['a genuine one', genuine()],
    ['a look-alike', new FakePeerConnection()],
  ])('%s: an attempt', async (_, pc) => {
    const page = await open();
    taken(page.qos.reportError(pc, 'attempt', 'getUserMedia', 'no camera'));
    expect(page.of('error')).toMatchObject([
      { conferenceID: 'attempt', function: 'getUserMedia', message: 'no camera' },
    ]);
    expect(page.of('error')[0]?.conferenceAt).toBe(page.of('error')[0]?.at);
  });
});

/** Who is in the statistics of a conference now. */
async function users(page: InCall): Promise<Record<string, unknown[]>> {
  const seen: Record<string, unknown[]> = {};
  const take = ({
    conferenceID,
    mediaStreamTracks,
  }: {
    conferenceID: string;
    mediaStreamTracks: Record<string, unknown>[];
  }) => {
    seen[conferenceID] ??= [];
    for (const { statsType, userID, remoteUserID } of [...mediaStreamTracks].reverse()) // outbound first
      seen[conferenceID].push(statsType === 'outbound-rtp' ? userID : remoteUserID);
  };
  page.qos.on('stats', take);
  await page.harness.run(10_000);
  return seen;
}

const talking = (pc: FakePeerConnection, ssrc: number) => {
  let packets = 0;
  Object.defineProperty(pc, 'reports', {
    get: () => {
      packets += 100;
      const more = { kind: 'audio', timestamp: Date.now() };
      return [
        { ...more, id: 'out', type: 'outbound-rtp', ssrc, packetsSent: packets, bytesSent: packets * 100 },
        {
          ...more,
          id: 'in',
          type: 'inbound-rtp',
          ssrc: ssrc + 1,
          packetsReceived: packets,
          bytesReceived: packets * 100,
        },
      ];
    },
  });
  return pc;
};

/** Two fabrics of one conference and one of another, all with sound both ways. */
async function threeFabrics() {
  const page = await inCall();
  talking(page.pc, 10);
  const second = talking(new FakePeerConnection(), 20);
  const elsewhere = talking(new FakePeerConnection(), 30);
  add(page, conference, second);
  add(page, 'elsewhere', elsewhere);
  for (const pc of [second, elsewhere]) pc.connect();
  await page.harness.run(10_000);
  return { ...page, second, elsewhere };
}

const renames = (page: InCall) =>
  page
    .of('event')
    .filter(({ event }) => event === 'userIDChange')
    .map(({ fabric, data }) => [fabric, data]);

describe('the reach of a rename (spec: API-06)', () => {
  it('a remote one: the fabric alone', async () => {
    const page = await threeFabrics();
    taken(page.qos.reportUserIDChange(page.pc, conference, 'bob-2', 'remote'));
    expect(await users(page)).toEqual({
      [conference]: ['alice', 'bob-2', 'alice', 'carol'],
      elsewhere: ['alice', 'carol'],
    });
    expect(renames(page)).toEqual([[1, { userIDType: 'remote', newUserID: 'bob-2' }]]);
  });

  it('a local one: the participant in that conference, in fabrics that come later too', async () => {
    const page = await threeFabrics();
    taken(page.qos.reportUserIDChange(page.second, conference, 'alice-2', 'local'));
    const third = talking(new FakePeerConnection(), 40);
    add(page, conference, third);
    third.connect();
    await page.harness.run(10_000);
    expect(await users(page)).toEqual({
      [conference]: ['alice-2', 'bob', 'alice-2', 'carol', 'alice-2', 'carol'],
      elsewhere: ['alice', 'carol'],
    });
    expect(renames(page)).toEqual([[2, { userIDType: 'local', newUserID: 'alice-2' }]]);
  });

  it('in a conference that may be another one by now it is said again, so that store and callback agree', async () => {
    const page = await threeFabrics();
    taken(page.qos.reportUserIDChange(page.pc, conference, 'alice-2', 'local'));
    for (const pc of [page.pc, page.second]) taken(page.qos.sendFabricEvent(pc, 'fabricTerminated', conference));
    await page.harness.run(60_000);
    const again = talking(new FakePeerConnection(), 40);
    add(page, conference, again);
    again.connect();
    await page.harness.run(10_000);
    expect((await users(page))[conference]).toEqual(['alice-2', 'carol']);
    const data = { userIDType: 'local', newUserID: 'alice-2' };
    expect(renames(page)).toEqual([
      [1, data],
      [4, data],
    ]);
    expect(
      page
        .of('event')
        .filter(({ fabric }) => fabric === 4)
        .map(({ event }) => event)
        .slice(0, 2),
    ).toEqual(['fabricAdded', 'userIDChange']);
  });

  it('initialize() again for the same user keeps it, for another one it does not', async () => {
    const page = await threeFabrics();
    taken(page.qos.reportUserIDChange(page.pc, conference, 'alice-2', 'local'));
    taken(page.qos.initialize('demo', tokens, 'alice'));
    await welcome(page.harness);
    expect((await users(page))[conference]).toEqual(['alice-2', 'bob', 'alice-2', 'carol']);
    taken(page.qos.initialize('demo', tokens, 'dave'));
    await welcome(page.harness);
    add(page, conference, page.pc);
    await page.harness.run(10_000);
    expect((await users(page))[conference]).toEqual(['dave', 'carol']);
    expect(renames(page)).toEqual([]); // on the new session's connection
  });

  it('the names of the last 256 conferences are kept', async () => {
    const page = await inCall();
    const name = (n: number) => `room ${n}`;
    for (let n = 0; n < 257; n++) {
      const pc = new FakePeerConnection();
      add(page, name(n), pc);
      taken(page.qos.reportUserIDChange(pc, name(n), 'alice-2', 'local'));
      taken(page.qos.sendFabricEvent(pc, 'fabricTerminated', name(n)));
      page.harness.socket().say({ type: 'ack', seq: Number(page.of('event').at(-1)?.seq) });
    }
    await page.harness.run(5000);
    for (const n of [0, 1]) add(page, name(n), new FakePeerConnection());
    const [first, second] = page.of('fabric').slice(-2);
    const renamed = page.of('event').filter(({ event }) => event === 'userIDChange');
    expect([first?.conferenceID, second?.conferenceID]).toEqual(['room 0', 'room 1']);
    expect(renamed.filter(({ fabric }) => fabric === first?.fabric)).toEqual([]);
    expect(renamed.filter(({ fabric }) => fabric === second?.fabric)).toHaveLength(1);
  });

  it('the page comes back from the back/forward cache: names and streams are those of before', async () => {
    const target = new EventTarget();
    vi.stubGlobal('addEventListener', target.addEventListener.bind(target));
    const page = await inCall();
    talking(page.pc, 10);
    await page.harness.run(10_000);
    taken(page.qos.reportUserIDChange(page.pc, conference, 'alice-2', 'local'));
    taken(page.qos.reportUserIDChange(page.pc, conference, 'bob-2', 'remote'));
    taken(page.qos.associateMstWithUserID(page.pc, 'carol', conference, 11, 'camera', 'tag'));
    for (const type of ['pagehide', 'pageshow'])
      target.dispatchEvent(Object.assign(new Event(type), { persisted: true }));
    await welcome(page.harness);
    const fabric = page.of('fabric').at(-1);
    expect(fabric).toMatchObject({ fabric: 2, remoteUserID: 'bob-2', conferenceID: conference });
    expect(
      page
        .of('event')
        .filter(
          ({ fabric, event }) => fabric === 2 && ['userIDChange', 'associateMstWithUserID'].includes(String(event)),
        )
        .map(({ event, data }) => [event, data]),
    ).toEqual([
      ['userIDChange', { userIDType: 'local', newUserID: 'alice-2' }],
      ['associateMstWithUserID', { ssrc: 11, userID: 'carol', usageLabel: 'camera', associatedVideoTag: 'tag' }],
    ]);
    await page.harness.run(10_000);
    expect((await users(page))[conference]?.slice(-2)).toEqual(['alice-2', 'carol']);
  });

  it('another instance is another user', async () => {
    const page = await inCall();
    const other = new (load())();
    taken(other.initialize('demo', tokens, 'zoe'));
    refused(other.reportUserIDChange({}, conference, 'x', 'local'), none);
    refused(other.sendFabricEvent(page.pc, 'fabricTerminated', conference), none);
  });
});
