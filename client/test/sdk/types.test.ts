// The objects of the SDKs can be attached as they are: the type checker compiles this file.

import type { JanusJS } from 'janus-gateway';
import type { RemoteParticipant, Room } from 'livekit-client';
import { expectTypeOf, it } from 'vitest';
import type { AttachJanus, JanusHandle } from '../../src/sdk/janus.types.ts';
import type { AttachLiveKit, LiveKitParticipant, LiveKitRoom } from '../../src/sdk/livekit.types.ts';
import type { Operations } from '../../src/types.ts';

it('takes what the SDKs make', () => {
  expectTypeOf<Room>().toExtend<LiveKitRoom>();
  expectTypeOf<RemoteParticipant>().toExtend<LiveKitParticipant>();
  expectTypeOf<JanusJS.PluginHandle>().toExtend<JanusHandle>();
  expectTypeOf<Parameters<AttachLiveKit>>().toExtend<[object, object, unknown, unknown?]>();
  const uses = (
    liveKit: AttachLiveKit,
    janus: AttachJanus,
    monitor: Operations,
    room: Room,
    handle: JanusJS.PluginHandle,
  ) => {
    liveKit(monitor, room, 'standup', { owner: ({ identity }) => identity, callback: null });
    janus(monitor, handle, 7, { owner: ({ id, display }) => display ?? id });
    // @ts-expect-error a handle is no room
    liveKit(monitor, handle, 'standup');
    // @ts-expect-error the conference is missing
    janus(monitor, handle);
  };
  expectTypeOf(uses).toBeFunction();
});
