// attachLiveKit() with a room by hand. The end-to-end tests drive a real one.

import { ConnectionState, Room } from 'livekit-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LiveKitRoom } from '../../src/sdk/livekit.types.ts';
import { addedBy, Emitter, event, FakeConnection, FakeRtp, owner, recordingMonitor, run } from './fakes.ts';

const built = new URL('../../dist/qos-livekit.mjs', import.meta.url).href;
const { attachLiveKit }: typeof import('../../src/sdk/livekit.ts') = await import(
  process.env.QOS_BUILT ? built : '../../src/sdk/livekit.ts'
);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class Publication extends Emitter {
  isMuted = false;
  isEnabled = true;
  isSubscribed = true;
  track: object | undefined;
  constructor(
    readonly source: string,
    readonly rtp: FakeRtp,
    readonly kind = /microphone|audio/.test(source) ? 'audio' : 'video',
  ) {
    super();
    this.subscribe();
  }
  subscribe(): void {
    this.track = { sender: this.rtp, receiver: this.rtp, streamState: 'active', attachedElements: [] };
  }
}

class Participant {
  readonly trackPublications = new Map<string, Publication>();
  constructor(
    readonly identity: string,
    readonly isLocal = false,
  ) {}
  publish(source: string, rtp: number): Publication {
    const publication = new Publication(source, new FakeRtp(rtp));
    this.trackPublications.set(source, publication);
    return publication;
  }
}

class Engine extends Emitter {
  pcManager: { publisher: object; subscriber?: object } | undefined;
  /** Makes connections, as the SDK does in connect() and in a full reconnect. */
  make(publisher: string, subscriber?: string) {
    const [sends, receives] = [publisher, subscriber].map((name) => name && new FakeConnection(name));
    this.pcManager = { publisher: { _pc: sends }, ...(receives && { subscriber: { _pc: receives } }) };
    this.emit('transportsCreated');
    return sends as FakeConnection;
  }
}

class FakeRoom extends Emitter {
  state = 'disconnected';
  engine: Engine | undefined = new Engine();
  readonly localParticipant = new Participant('alice', true);
  readonly remoteParticipants = new Map<string, Participant>();
  devices: Record<string, string> = {};
  getActiveDevice = (kind: string) => this.devices[kind];
  set(state: string): void {
    this.state = state;
    this.emit('connectionStateChanged', state);
  }
  join(identity: string): Participant {
    const participant = new Participant(identity);
    this.remoteParticipants.set(identity, participant);
    return participant;
  }
}

const asRoom = (room: FakeRoom) => room as unknown as LiveKitRoom;

const added = (name: string, direction = 'sendrecv') => addedBy('livekit', name, direction);
const paused = (ssrc: number, reason: string, name = 'videoPause') => event('p', name, { ssrc, reason });
const resumed = (ssrc: number, reason: string) => paused(ssrc, reason, 'videoResume');

/** A connected room that was attached before. */
function connected() {
  const { monitor, taken } = recordingMonitor();
  const room = new FakeRoom();
  const attachment = attachLiveKit(monitor, asRoom(room), 'standup');
  const pc = room.engine?.make('p') as FakeConnection;
  room.set('connected');
  expect(taken()).toEqual([added('p')]);
  return { monitor, room, attachment, pc, taken };
}

it('hands over the connection when the SDK makes it', () => {
  const { monitor, taken } = recordingMonitor();
  const room = new FakeRoom();
  const { status, msg } = attachLiveKit(monitor, asRoom(room), 'standup');
  expect([status, msg, taken()]).toEqual(['success', '', []]);
  room.set('connecting');
  room.engine?.make('p');
  expect(taken()).toEqual([added('p')]);
});

it('hands over the connection of a room that is connected', async () => {
  const { monitor, taken } = recordingMonitor();
  const room = new FakeRoom();
  room.engine?.make('p');
  room.state = 'connected';
  room.localParticipant.publish('microphone', 1).isMuted = true;
  room.devices = { audioinput: 'a', videoinput: 'v' };
  room.join('bob').publish('camera', 2);
  expect(attachLiveKit(monitor, asRoom(room), 'standup').status).toBe('success');
  await run();
  const deviceList = [
    { kind: 'audioinput', deviceId: 'a' },
    { kind: 'videoinput', deviceId: 'v' },
  ];
  expect(taken()).toEqual([
    added('p'),
    event('p', 'audioMute'),
    owner('p', 'alice', 1, 'microphone'),
    owner('p', 'bob', 2, 'camera'),
    event(null, 'activeDeviceList', { deviceList }),
  ]);
});

it('hands over both connections of an older server', async () => {
  const { monitor, taken } = recordingMonitor();
  const room = new FakeRoom();
  attachLiveKit(monitor, asRoom(room), 'standup');
  room.engine?.make('p', 's');
  room.set('connected');
  room.localParticipant.publish('camera', 1);
  room.join('bob').publish('screen_share', 4);
  room.emit('trackSubscribed');
  await run();
  expect(taken()).toEqual([
    added('p', 'sendonly'),
    added('s', 'receiveonly'),
    owner('p', 'alice', 1, 'camera'),
    owner('s', 'bob', 4, 'screen'),
  ]);
});

it('follows a full reconnect, and a disconnect with a new connect', async () => {
  const { room, taken } = connected();
  const publication = room.join('bob').publish('camera', 5);
  room.emit('trackSubscribed');
  await run();
  expect(taken()).toEqual([owner('p', 'bob', 5, 'camera')]);
  room.set('reconnecting');
  Object.assign(publication.track as object, { receiver: new FakeRtp(6) });
  room.engine?.make('p2');
  room.set('connected');
  await run();
  expect(taken()).toEqual([event('p', 'fabricTerminated'), added('p2'), owner('p2', 'bob', 6, 'camera')]);

  room.remoteParticipants.clear();
  room.set('disconnected');
  room.engine = undefined;
  await run();
  expect(taken()).toEqual([event('p2', 'fabricTerminated')]);
  room.set('connecting');
  room.engine = new Engine();
  await run();
  room.engine.make('p3');
  expect(taken()).toEqual([added('p3')]);
});

it('names another owner of the same receiver', async () => {
  const { room, taken } = connected();
  const bob = room.join('bob').publish('camera', 9);
  room.emit('trackSubscribed');
  await run();
  bob.track = undefined;
  room.emit('trackUnsubscribed');
  Object.assign(room.join('carol').publish('camera', 0).track as object, { receiver: bob.rtp });
  room.emit('trackSubscribed');
  room.emit('trackMuted'); // bob is without a track still
  expect(taken()).toEqual([
    owner('p', 'bob', 9, 'camera'),
    paused(9, 'unsubscribed'),
    owner('p', 'carol', 9, 'camera'),
    resumed(9, 'unsubscribed'),
  ]);
});

it('names users that the application names, and identities where that throws', async () => {
  const { monitor, taken } = recordingMonitor();
  const room = new FakeRoom();
  room.state = 'connecting';
  const users: Record<string, () => string> = { bob: () => 'user-1' };
  attachLiveKit(monitor, asRoom(room), 'standup', { owner: ({ identity }) => users[identity]?.() as string });
  const { monitor: other, taken: takenToo } = recordingMonitor();
  const owners = () => {
    throw new Error('no user');
  };
  attachLiveKit(other, asRoom(room), 'standup', { owner: owners });
  room.engine?.make('p');
  room.join('bob').publish('camera', 1);
  room.emit('trackSubscribed');
  await run();
  expect(taken()).toEqual([added('p'), owner('p', 'user-1', 1, 'camera')]);
  expect(takenToo()).toEqual([added('p'), owner('p', 'bob', 1, 'camera')]);
});

it('pauses a received stream while one reason holds', async () => {
  const { room, taken } = connected();
  const publication = room.join('bob').publish('camera', 4);
  room.emit('trackSubscribed');
  await run();
  expect(taken()).toEqual([owner('p', 'bob', 4, 'camera')]);
  publication.isEnabled = false; // a tile that is out of view
  publication.emit('updateSettings');
  Object.assign(publication.track as object, { streamState: 'paused' });
  room.emit('trackStreamStateChanged');
  publication.isEnabled = true;
  publication.emit('updateSettings');
  expect(taken()).toEqual([paused(4, 'hidden')]);
  Object.assign(publication.track as object, { streamState: 'active' });
  room.emit('trackStreamStateChanged');
  expect(taken()).toEqual([resumed(4, 'hidden')]);
  publication.track = undefined;
  room.emit('trackUnsubscribed');
  publication.subscribe();
  room.emit('trackSubscribed');
  room.remoteParticipants.clear();
  room.emit('trackUnpublished');
  expect(taken()).toEqual([paused(4, 'unsubscribed'), resumed(4, 'unsubscribed'), paused(4, 'ended')]);
});

it('sends mutes of the microphone and the camera once for each connection', async () => {
  const { room, taken } = connected();
  const [microphone, camera] = [
    room.localParticipant.publish('microphone', 1),
    room.localParticipant.publish('camera', 2),
  ];
  room.emit('localTrackPublished');
  await run();
  taken();
  for (const muted of [true, false, true]) {
    microphone.isMuted = camera.isMuted = muted;
    room.emit(muted ? 'trackMuted' : 'trackUnmuted');
    room.emit(muted ? 'trackMuted' : 'trackUnmuted');
  }
  expect(taken()).toEqual([
    event('p', 'audioMute'),
    event('p', 'videoPause'),
    event('p', 'audioUnmute'),
    event('p', 'videoResume'),
    event('p', 'audioMute'),
    event('p', 'videoPause'),
  ]);
  room.localParticipant.trackPublications.delete('camera');
  room.emit('localTrackUnpublished');
  room.localParticipant.publish('camera', 3);
  room.emit('localTrackPublished');
  await run();
  expect(taken()).toEqual([event('p', 'videoResume'), owner('p', 'alice', 3, 'camera')]);
});

it('sends the start and the stop of a screen, and its mute', async () => {
  const { room, taken } = connected();
  const screen = room.localParticipant.publish('screen_share', 5);
  room.localParticipant.publish('screen_share_audio', 6);
  room.emit('localTrackPublished');
  await run();
  expect(taken()).toEqual([
    event('p', 'screenShareStart'),
    owner('p', 'alice', 5, 'screen'),
    owner('p', 'alice', 6, 'screen audio'),
  ]);
  screen.isMuted = true;
  room.emit('trackMuted');
  room.localParticipant.trackPublications.clear();
  room.emit('localTrackUnpublished');
  expect(taken()).toEqual([paused(5, 'muted'), event('p', 'screenShareStop')]);
});

it('sends the speaker, devices and errors', async () => {
  const { room, taken } = connected();
  const { localParticipant } = room;
  const bob = room.join('bob');
  for (const speakers of [
    [localParticipant],
    [localParticipant, bob],
    [],
    [localParticipant],
    [bob],
    [localParticipant],
  ])
    room.emit('activeSpeakersChanged', speakers);
  expect(taken()).toEqual([event(null, 'dominantSpeaker'), event(null, 'dominantSpeaker')]);
  room.devices = { audioinput: 'default', audiooutput: 'o' };
  room.emit('activeDeviceChanged', 'audiooutput', 'o');
  const error = new Error('NotAllowedError');
  room.emit('mediaDevicesError', error);
  expect(taken()).toEqual([
    event(null, 'activeDeviceList', { deviceList: [{ kind: 'audiooutput', deviceId: 'o' }] }),
    ['error', 'p', 'standup', 'getUserMedia', error],
  ]);
});

it.each<[string, (room: FakeRoom) => void]>([
  ['engine', (room) => delete (room as Partial<FakeRoom>).engine],
  ['pcManager', (room) => Object.assign(room.engine as Engine, { pcManager: undefined, manager: {} })],
  ['publisher', (room) => Object.assign(room.engine as Engine, { pcManager: { sender: {} } })],
  ['_pc', (room) => Object.assign(room.engine as Engine, { pcManager: { publisher: { connection: {} } } })],
])('is a failure where the SDK has no %s', (_, change) => {
  const { monitor, taken } = recordingMonitor();
  const room = new FakeRoom();
  change(room);
  room.state = 'connected';
  const { status, msg, message } = attachLiveKit(monitor, asRoom(room), 'standup');
  expect([status, msg]).toEqual(['failure', message]);
  expect(msg).toContain('room.engine.pcManager');
  expect([taken(), room.count, vi.getTimerCount()]).toEqual([[], 0, 0]);
});

it('is a failure before the SDK connects where the room has no engine', () => {
  const { monitor } = recordingMonitor();
  const room = new FakeRoom();
  delete (room as Partial<FakeRoom>).engine;
  expect(attachLiveKit(monitor, asRoom(room), 'standup').status).toBe('failure');
  room.engine = undefined; // as after a disconnect
  expect(attachLiveKit(monitor, asRoom(room), 'standup').status).toBe('success');
});

it('attaches to a Room of livekit-client', () => {
  const { monitor, taken } = recordingMonitor();
  const room = new Room();
  const { status, msg, detach } = attachLiveKit(monitor, room, 'standup');
  expect([status, msg]).toEqual(['success', '']);
  room.state = ConnectionState.Connecting;
  Object.assign(room.engine, { pcManager: { publisher: { _pc: new FakeConnection('p') } } });
  const emitter = room.engine as unknown as Emitter & { listenerCount(event: string): number };
  emitter.emit('transportsCreated');
  expect([taken(), emitter.listenerCount('transportsCreated')]).toEqual([[added('p')], 1]);
  detach();
  expect([emitter.listenerCount('transportsCreated'), room.listenerCount('trackMuted')]).toEqual([0, 0]);
});

it('reports each time that there is no connection after the SDK has connected', () => {
  const { monitor, taken } = recordingMonitor();
  const room = new FakeRoom();
  const callback = vi.fn(() => {
    throw new Error("the application's");
  });
  expect(attachLiveKit(monitor, asRoom(room), 'standup', { callback }).status).toBe('success');
  room.set('connecting');
  expect(callback.mock.calls).toEqual([]);
  for (const state of ['connected', 'reconnecting', 'connected']) room.set(state);
  const failure = ['failure', expect.stringContaining('pcManager')];
  expect(callback.mock.calls).toEqual([failure, failure]);
  expect(taken()).toEqual([]);
});

it('passes on the refusal of the monitor', () => {
  const { monitor } = recordingMonitor();
  const refusing = {
    ...monitor,
    addNewFabric: () => ({ status: 'failure', msg: 'initialize first', message: '' }) as const,
  };
  const room = new FakeRoom();
  room.state = 'connecting';
  room.engine?.make('p');
  expect(attachLiveKit(refusing, asRoom(room), 'standup')).toMatchObject({
    status: 'failure',
    msg: 'initialize first',
  });
});

it.each([undefined, null, {}, 'room'])('throws nothing for %s in place of a room or a monitor', (other) => {
  const { monitor } = recordingMonitor();
  expect(attachLiveKit(monitor, other as never, 'standup').status).toBe('failure');
  expect(attachLiveKit(other as never, asRoom(new FakeRoom()), 'standup').status).toBe('failure');
});

it('throws nothing into the SDK where the monitor or a member throws', async () => {
  const { monitor, room } = connected();
  monitor.sendFabricEvent = monitor.associateMstWithUserID = () => {
    throw new Error('broken');
  };
  room.join('bob').publish('camera', 1).isMuted = true;
  Object.defineProperty(room.join('carol'), 'trackPublications', { value: null });
  room.emit('trackMuted');
  room.remoteParticipants.delete('carol');
  room.emit('trackMuted');
  await run(3000);
  room.emit('activeSpeakersChanged', [room.localParticipant]);
  room.emit('activeSpeakersChanged');
  room.set('disconnected');
});

it('attaches a room once for each monitor', () => {
  const { monitor, room, attachment, taken } = connected();
  const { count } = room;
  expect(attachLiveKit(monitor, asRoom(room), 'standup')).toBe(attachment);
  expect([room.count, taken()]).toEqual([count, []]);
  attachment.detach();
  expect(room.count).toBe(0);
  attachment.detach();
  expect(attachLiveKit(monitor, asRoom(room), 'standup').msg).toBe('');
  expect(taken()).toEqual([added('p')]);
});

it('leaves no listener and no timer after detach(), and ends no fabric', async () => {
  const { room, attachment, taken } = connected();
  const { engine } = room;
  const publication = room.join('bob').publish('camera', 1);
  room.set('connected');
  expect([vi.getTimerCount(), publication.count]).toEqual([1, 1]);
  taken();
  attachment.detach();
  expect(vi.getTimerCount()).toBe(0);
  room.emit('trackMuted');
  await run(5000);
  expect([room.count, engine?.count, publication.count]).toEqual([0, 0, 0]);
  expect([vi.getTimerCount(), taken()]).toEqual([0, []]);
});

it('does nothing after a detach() by a listener of the same event', () => {
  const { monitor, taken } = recordingMonitor();
  const room = new FakeRoom();
  room.state = 'connecting';
  room.on('trackMuted', () => attachment.detach());
  const attachment = attachLiveKit(monitor, asRoom(room), 'standup');
  room.engine?.make('p');
  const publication = room.join('bob').publish('camera', 1);
  taken();
  room.emit('trackMuted');
  expect([room.engine?.count, publication.count, vi.getTimerCount()]).toEqual([0, 0, 0]);
  room.engine?.make('p2');
  expect(taken()).toEqual([]);
  room.listeners.clear();
  room.on('connectionStateChanged', () => again.detach());
  const again = attachLiveKit(monitor, asRoom(room), 'standup');
  expect(taken()).toEqual([added('p2'), owner('p2', 'bob', 1, 'camera')]);
  room.set('disconnected');
  expect([taken(), vi.getTimerCount()]).toEqual([[], 0]);
});
