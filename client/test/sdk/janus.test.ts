// attachJanus() with a handle by hand. The end-to-end tests drive a real one.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { JanusHandle, JanusOptions } from '../../src/sdk/janus.types.ts';
import { addedBy, event, FakeConnection, FakeRtp, owner, recordingMonitor, run } from './fakes.ts';

const built = new URL('../../dist/qos-janus.mjs', import.meta.url).href;
const { attachJanus }: typeof import('../../src/sdk/janus.ts') = await import(
  process.env.QOS_BUILT ? built : '../../src/sdk/janus.ts'
);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const { detach } of attachments.splice(0)) detach(); // handles of one conference share its room
  vi.useRealTimers();
});

/** A handle: janus.js reads its callbacks at each call. */
class Handle {
  webrtcStuff: { pc: FakeConnection | null } = { pc: null };
  detached = false;
  messages: unknown[] = [];
  onmessage = (message: unknown) => void this.messages.push(message);
  onlocaltrack = () => undefined;
  onremotetrack = () => undefined;
  oncleanup = () => undefined;
  make(name: string): FakeConnection {
    const pc = new FakeConnection(name);
    this.webrtcStuff.pc = pc;
    return pc;
  }
  hangup(): void {
    this.webrtcStuff.pc = null;
    this.oncleanup();
  }
}

function transceive(pc: FakeConnection, direction: string, mid = '0', kind = 'video', rtp = 0): FakeRtp {
  const receiver = new FakeRtp(rtp);
  receiver.track.kind = kind;
  pc.transceivers.push({ direction, currentDirection: null, mid, receiver });
  return receiver;
}

const attachments: ReturnType<typeof attachJanus>[] = [];

function attach(monitor: Parameters<typeof attachJanus>[0], handle: Handle, options?: JanusOptions) {
  const attachment = attachJanus(monitor, handle as unknown as JanusHandle, 'standup', options);
  attachments.push(attachment);
  return attachment;
}

const added = (name: string, direction: string) => addedBy('janus', name, direction);

const video = (feed_id: number, mid = '0') => ({
  mid,
  type: 'video',
  feed_id,
  feed_mid: '1',
  feed_display: `user ${feed_id}`,
  active: true,
});
const audio = (feed_id: number, mid = '1') => ({ ...video(feed_id, mid), type: 'audio', feed_mid: '0' });

/** A handle that subscribes to sound and picture of publisher 7. */
async function subscribed(options?: JanusOptions) {
  const { monitor, taken } = recordingMonitor();
  const handle = new Handle();
  const attachment = attach(monitor, handle, options);
  handle.onmessage({ videoroom: 'attached', streams: [video(7), audio(7)] });
  const pc = handle.make('s');
  transceive(pc, 'recvonly', '0', 'video', 1);
  transceive(pc, 'recvonly', '1', 'audio', 2);
  handle.onremotetrack();
  await run();
  return { monitor, handle, attachment, taken };
}

it('hands over the connection of a publisher when its first track is added', async () => {
  const { monitor, taken } = recordingMonitor();
  const handle = new Handle();
  expect(attach(monitor, handle)).toMatchObject({ status: 'success', msg: '', message: '' });
  const pc = handle.make('p');
  transceive(pc, 'sendrecv');
  handle.onlocaltrack();
  Object.assign(pc.transceivers[0] as object, { direction: 'sendonly' });
  await run();
  expect([taken(), vi.getTimerCount()]).toEqual([[added('p', 'sendonly')], 0]);
});

it('finds a connection without callbacks, and one that exists', async () => {
  const { monitor, taken } = recordingMonitor();
  const handle = new Handle();
  Object.assign(handle, { onmessage: undefined, onlocaltrack: undefined, onremotetrack: undefined });
  attach(monitor, handle);
  await run(1000);
  const pc = handle.make('p');
  await run(1000);
  expect(taken()).toEqual([]);
  transceive(pc, 'sendrecv');
  await run(250);
  const other = new Handle();
  transceive(other.make('q'), 'recvonly');
  attach(monitor, other);
  expect([taken(), vi.getTimerCount()]).toEqual([[added('p', 'sendrecv'), added('q', 'receiveonly')], 0]);
});

it('ends the fabric at a hangup, and hands over the connection of the next negotiation', async () => {
  const { handle, taken } = await subscribed();
  taken();
  handle.hangup();
  transceive(handle.make('t'), 'recvonly', '0', 'video', 3);
  handle.onremotetrack();
  await run();
  expect(taken()).toEqual([
    event('s', 'fabricTerminated'),
    added('t', 'receiveonly'),
    owner('t', 'user 7', 3, 'camera'),
  ]);
  handle.detached = true;
  handle.hangup();
  await run(1000);
  expect([taken(), vi.getTimerCount()]).toEqual([[event('t', 'fabricTerminated')], 0]);
});

it('names the owner and the kind of each stream', async () => {
  const { taken } = await subscribed();
  expect(taken()).toEqual([
    added('s', 'receiveonly'),
    owner('s', 'user 7', 1, 'camera'),
    owner('s', 'user 7', 2, 'microphone'),
  ]);
  const feeds: object[] = [];
  const named = await subscribed({
    owner: (feed) => {
      feeds.push(feed);
      if (feed.type === 'audio') throw new Error('no user');
      return `of ${feed.id}`;
    },
  });
  expect(named.taken()).toEqual([
    added('s', 'receiveonly'),
    owner('s', 'of 7', 1, 'camera'),
    owner('s', 'user 7', 2, 'microphone'),
  ]);
  expect(feeds).toContainEqual({ id: 7, display: 'user 7', mid: '0', type: 'video' });
});

it('names the publisher of an older server', async () => {
  const { monitor, taken } = recordingMonitor();
  const handle = new Handle();
  attach(monitor, handle);
  handle.onmessage({ videoroom: 'attached', id: 9, display: '' });
  const pc = handle.make('s');
  transceive(pc, 'recvonly', '0', 'video', 1);
  transceive(pc, 'recvonly', '1', 'audio', 2);
  handle.onremotetrack();
  expect(taken()).toEqual([added('s', 'receiveonly'), owner('s', '9', 1, 'camera'), owner('s', '9', 2, 'microphone')]);
});

it('names screens by their description', async () => {
  const { handle, taken } = await subscribed();
  taken();
  const streams = [video(7), audio(7)].map((stream) => ({ ...stream, feed_description: 'My Screen' }));
  handle.onmessage({ videoroom: 'updated', streams });
  expect(taken()).toEqual([owner('s', 'user 7', 1, 'screen'), owner('s', 'user 7', 2, 'screen audio')]);
});

it('names the next owner of a slot', async () => {
  const { handle, taken } = await subscribed();
  taken();
  handle.onmessage({ videoroom: 'updated', streams: [video(8), { ...audio(7), active: false }] });
  expect(taken()).toEqual([
    event('s', 'videoPause', { ssrc: 1, reason: 'ended' }),
    owner('s', 'user 8', 1, 'camera'),
    event('s', 'videoResume', { ssrc: 1, reason: 'ended' }),
    event('s', 'audioMute', { ssrc: 2, reason: 'ended' }),
  ]);
});

it('pauses a stream that a moderator muted', async () => {
  const { handle, taken } = await subscribed();
  taken();
  const data = { ssrc: 1, reason: 'server' };
  handle.onmessage({ videoroom: 'event', id: 7, mid: '1', moderation: 'muted' });
  handle.onmessage({ videoroom: 'event', id: 7, mid: '1', moderation: 'muted' });
  expect(taken()).toEqual([event('s', 'videoPause', data)]);
  handle.onmessage({ videoroom: 'event', id: 7, mid: '1', moderation: 'unmuted' });
  expect(taken()).toEqual([event('s', 'videoResume', data)]);
});

it('applies what another handle of the conference receives', async () => {
  const { monitor, taken } = await subscribed();
  const publisher = new Handle();
  attach(monitor, publisher);
  const elsewhere = new Handle();
  attachJanus(monitor, elsewhere as unknown as JanusHandle, 'another');
  taken();
  elsewhere.onmessage({ videoroom: 'event', leaving: 7 });
  expect(taken()).toEqual([]);
  publisher.onmessage({ videoroom: 'event', unpublished: 7 });
  publisher.onmessage({ videoroom: 'event', leaving: 7 });
  publisher.onmessage({ videoroom: 'event', publishers: [{ id: 7 }] });
  expect(taken()).toEqual([
    event('s', 'videoPause', { ssrc: 1, reason: 'ended' }),
    event('s', 'audioMute', { ssrc: 2, reason: 'ended' }),
    event('s', 'videoResume', { ssrc: 1, reason: 'ended' }),
    event('s', 'audioUnmute', { ssrc: 2, reason: 'ended' }),
  ]);
});

it('sends the speaker if it is the local user, and the end of a room', async () => {
  const { handle, taken } = await subscribed();
  taken();
  handle.onmessage({ videoroom: 'joined', id: 1 });
  for (const id of [1, 1, 7, 1]) handle.onmessage({ videoroom: 'talking', id });
  handle.onmessage({ videoroom: 'destroyed' });
  handle.onremotetrack();
  expect(taken()).toEqual([
    event(null, 'dominantSpeaker'),
    event(null, 'dominantSpeaker'),
    event('s', 'fabricTerminated'),
  ]);
});

it.each([undefined, null, {}, { webrtcStuff: {} }])('is a failure for the handle %j', (handle) => {
  const { monitor } = recordingMonitor();
  const { status, msg } = attachJanus(monitor, handle as never, 'standup');
  expect([status, msg, vi.getTimerCount()]).toEqual(['failure', expect.stringContaining('handle.webrtcStuff.pc'), 0]);
});

it('calls the callbacks as before, and throws nothing of its own', async () => {
  const { monitor, handle } = await subscribed();
  monitor.sendFabricEvent = () => {
    throw new Error('broken');
  };
  const messages = [null, { streams: 'x' }, { publishers: [null] }, { videoroom: 'destroyed' }];
  for (const message of messages) handle.onmessage(message);
  expect(handle.messages.slice(1)).toEqual(messages);
  const other = new Handle();
  other.onmessage = () => {
    throw new Error("the application's");
  };
  const { monitor: another, taken } = recordingMonitor();
  attach(another, other);
  transceive(other.make('p'), 'sendonly');
  expect(() => other.onmessage({})).toThrow("the application's");
  expect(taken()).toEqual([added('p', 'sendonly')]);
});

it('attaches a handle once, and leaves nothing after detach()', async () => {
  const handle = new Handle();
  const { onmessage, oncleanup, onlocaltrack } = handle;
  const { monitor, taken } = recordingMonitor();
  const attachment = attach(monitor, handle);
  expect(attach(monitor, handle)).toBe(attachment);
  const pc = handle.make('p');
  transceive(pc, 'recvonly');
  handle.onmessage({ videoroom: 'attached', streams: [video(7)] });
  await run();
  expect(taken()).toEqual([added('p', 'receiveonly'), owner('p', 'user 7', 0, 'camera')]);
  handle.hangup();
  expect([taken(), vi.getTimerCount()]).toEqual([[event('p', 'fabricTerminated')], 1]);
  const late = handle.onmessage;
  attachment.detach();
  for (const videoroom of ['joined', 'talking', 'destroyed']) late({ videoroom, id: 1 });
  await run(2000);
  expect([handle.onmessage, handle.oncleanup, handle.onlocaltrack]).toEqual([onmessage, oncleanup, onlocaltrack]);
  expect([taken(), vi.getTimerCount()]).toEqual([[], 0]);
});
