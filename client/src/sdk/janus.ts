// Entry of qos-janus.mjs: reports the calls of a VideoRoom handle of janus.js.

import type { TransmissionDirection } from '../types.ts';
import { attachOnce, attempt } from './attach.ts';
import type { Connection } from './connections.ts';
import type { AttachJanus, JanusHandle, JanusOptions } from './janus.types.ts';
import { createReporter } from './reporter.ts';
import type { Stream } from './streams.ts';
import { joinRoom, type Room, type RoomMessage, type RoomStream, receive } from './videoroom.ts';

/** Milliseconds between two searches for a connection that janus.js has not made yet. */
const searchMs = 250;

/** janus.js reads these members of the handle at each call. */
const callbacks = 'iceState onremotetrack oncleanup';

type Callback = (this: unknown, ...args: unknown[]) => unknown;

/** The direction by the transceivers; undefined while there is neither one nor a description. */
function directionOf(pc: RTCPeerConnection): TransmissionDirection | undefined {
  const directions = `${pc.getTransceivers().map((one) => one.currentDirection ?? one.direction)}`;
  if (!directions) return pc.localDescription || pc.remoteDescription ? 'sendrecv' : undefined;
  const sends = /send/.test(directions);
  if (/recv/.test(directions)) return sends ? 'sendrecv' : 'receiveonly';
  return sends ? 'sendonly' : 'inactive';
}

function connectionsOf({ webrtcStuff: { pc } }: JanusHandle): Connection[] {
  const direction = pc && directionOf(pc);
  return pc && direction ? [[pc, direction]] : [];
}

/** The streams of a subscription, as its last message has them, and the publisher of all where it has none. */
interface Subscription {
  streams: RoomStream[];
  publisher?: RoomMessage;
}

function streamOf(
  { mid, receiver }: RTCRtpTransceiver,
  pc: RTCPeerConnection,
  { streams, publisher }: Subscription,
  room: Room,
  { owner }: JanusOptions,
): Stream[] {
  const {
    feed_id: id = publisher?.id,
    feed_mid = mid,
    feed_display: display = publisher?.display,
    feed_description = '',
    active,
  } = streams.find((one) => one.mid === mid) ?? {};
  if (id === undefined || !mid) return [];
  const kind = receiver.track.kind;
  const sound = kind === 'audio';
  const isScreen = /screen/i.test(feed_description);
  const known = room.reasons.get(`${id}`) ?? room.reasons.get(`${id}/${feed_mid}`);
  return [
    {
      key: `${mid}/${id}/${feed_mid}`,
      pc,
      rtp: receiver,
      kind,
      userID: attempt(() => owner?.({ id, display, mid, type: kind })) ?? (display || String(id)),
      label: isScreen ? (sound ? 'screen audio' : 'screen') : sound ? 'microphone' : 'camera',
      reason: active === false ? 'ended' : (known ?? ''),
    },
  ];
}

/** {@inheritDoc AttachJanus} */
export const attachJanus: AttachJanus = (monitor, handle, conferenceID, given) =>
  attachOnce(monitor, handle, (undo) => {
    const options = given ?? {};
    const stuff = handle?.webrtcStuff;
    if (!stuff || !('pc' in stuff)) return 'janus.js has no handle.webrtcStuff.pc';
    const [room, leave] = joinRoom(String(conferenceID), refresh);
    undo.push(leave);
    const subscription: Subscription = { streams: [] };
    let isOver = false;
    const reporter = createReporter(
      monitor,
      'janus',
      conferenceID,
      options,
      undo,
      () => (isOver ? [] : connectionsOf(handle)),
      () => {
        const { pc } = stuff;
        return pc ? pc.getTransceivers().flatMap((one) => streamOf(one, pc, subscription, room, options)) : [];
      },
    );
    let self: unknown;
    let speaker: unknown;
    let timer: ReturnType<typeof setTimeout> | undefined;

    /** Searches for the connection until there is one. */
    function refresh(): string | undefined {
      clearTimeout(timer);
      const refusal = reporter.refresh();
      if (!reporter.live.size && !handle.detached && undo.length) timer = setTimeout(refresh, searchMs);
      return refusal;
    }

    function speaks(id: unknown): void {
      if (id === self && id !== speaker) monitor.sendFabricEvent(null, 'dominantSpeaker', conferenceID);
      speaker = id;
    }

    function onMessage(message: RoomMessage): void {
      const { videoroom, id, streams } = message;
      if (videoroom === 'joined') self = id;
      if (videoroom === 'attached') subscription.publisher = message;
      if (streams?.some(({ feed_id }) => feed_id !== undefined)) subscription.streams = streams;
      receive(room, message);
      if (videoroom === 'talking') speaks(id);
      isOver ||= videoroom === 'destroyed';
      for (const listener of room.listeners) listener();
    }

    for (const name of callbacks.split(' ')) wrap(handle, name, undo, refresh);
    wrap(handle, 'onlocaltrack', undo, () => {
      // janus.js sets the direction of the transceiver behind this callback.
      clearTimeout(timer);
      timer = setTimeout(refresh);
    });
    wrap(handle, 'onmessage', undo, (message) => onMessage((message ?? {}) as RoomMessage));
    undo.push(() => clearTimeout(timer));
    return refresh() ?? '';
  });

/** Calls after behind a callback of the handle, until undo has run. */
function wrap(handle: object, name: string, undo: (() => void)[], after: (...args: unknown[]) => void): void {
  const members = handle as Record<string, Callback | undefined>;
  const callback = members[name];
  if (typeof callback !== 'function') return;
  const wrapper: Callback = function (...args) {
    try {
      return callback.apply(this, args);
    } finally {
      attempt(() => undo.length && after(...args));
    }
  };
  members[name] = wrapper;
  undo.push(() => {
    if (members[name] === wrapper) members[name] = callback;
  });
}
