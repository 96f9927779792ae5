// The messages of Janus's VideoRoom plugin, and the state of a room that follows from them.

/** A stream in a message: of the publisher itself, or of a subscription. */
export interface RoomStream {
  mid?: string;
  type?: string;
  active?: boolean;
  moderated?: boolean;
  feed_id?: number | string;
  feed_mid?: string;
  feed_display?: string;
  feed_description?: string;
}

/** A message of the plugin; any member may be missing. */
export interface RoomMessage {
  videoroom?: string;
  id?: number | string;
  display?: string;
  mid?: string;
  moderation?: string;
  leaving?: number | string;
  unpublished?: number | string;
  publishers?: { id?: number | string; streams?: RoomStream[] }[];
  streams?: RoomStream[];
}

/** What the handles of one page have received about a room: a subscription does not receive all of it. */
export interface Room {
  /** `ended` by publisher that left or unpublished; `server` by `publisher/mid` that a moderator muted. */
  reasons: Map<string, 'ended' | 'server'>;
  /** Each is called after a message. */
  listeners: Set<() => void>;
}

/** The rooms by conference. */
const rooms = new Map<string, Room>();

/** Returns the room of a conference; the listener is called after each message until the returned function has run. */
export function joinRoom(conferenceID: string, listener: () => void): [Room, leave: () => void] {
  const room = rooms.get(conferenceID) ?? { reasons: new Map(), listeners: new Set() };
  rooms.set(conferenceID, room);
  room.listeners.add(listener);
  const leave = () => {
    room.listeners.delete(listener);
    if (!room.listeners.size) rooms.delete(conferenceID);
  };
  return [room, leave];
}

/** Changes the room as a message says. */
export function receive(room: Room, { id, mid, moderation, leaving, unpublished, publishers }: RoomMessage): void {
  const moderate = (key: string, muted?: boolean) =>
    muted ? room.reasons.set(key, 'server') : room.reasons.delete(key);
  if (moderation) moderate(`${id}/${mid}`, moderation === 'muted');
  const gone = leaving ?? unpublished;
  if (gone) room.reasons.set(`${gone}`, 'ended');
  for (const { id, streams } of publishers ?? []) {
    room.reasons.delete(`${id}`);
    for (const { mid, moderated } of streams ?? []) moderate(`${id}/${mid}`, moderated);
  }
}
