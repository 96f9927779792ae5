// Entry of qos-livekit.mjs: reports the calls of a Room of livekit-client.

import { attachOnce, attempt } from './attach.ts';
import type { Connection } from './connections.ts';
import type {
  AttachLiveKit,
  LiveKitOptions,
  LiveKitParticipant,
  LiveKitPublication,
  LiveKitRoom,
  LiveKitTrack,
} from './livekit.types.ts';
import { createReporter } from './reporter.ts';
import { reportSource } from './sources.ts';
import type { Stream } from './streams.ts';

/** What emits: the types of livekit-client name each event. */
interface Emitter {
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
}

/** A private class of livekit-client. */
interface Transport {
  /** The getter `pc` makes a new connection where there is none. */
  _pc?: RTCPeerConnection | null;
}

/** The private member `engine` of a Room: another object after each disconnect(). */
type Engine = Emitter & { pcManager?: { publisher?: Transport; subscriber?: Transport } };

/** The events of a room that are read. */
const changes =
  'connectionStateChanged trackSubscribed trackUnsubscribed trackUnpublished trackMuted trackUnmuted trackStreamStateChanged localTrackPublished localTrackUnpublished activeSpeakersChanged activeDeviceChanged mediaDevicesError';

const deviceKinds = ['audioinput', 'audiooutput', 'videoinput'] as const;

const created = 'transportsCreated';

const missing = 'livekit-client has no room.engine.pcManager';

const engineOf = (room: LiveKitRoom) => (room as { engine?: Engine }).engine;

/**
 * The connection that sends, and the one that receives: the same where there is no subscriber. A room that was left
 * may have its connections still.
 */
function transportsOf(room: LiveKitRoom) {
  const { publisher, subscriber } = (room.state !== 'disconnected' && engineOf(room)?.pcManager) || {};
  return [publisher?._pc, (subscriber ?? publisher)?._pc];
}

function connectionsOf(room: LiveKitRoom): Connection[] {
  const [sends, receives] = transportsOf(room);
  const all = [
    [sends, sends === receives ? 'sendrecv' : 'sendonly'],
    [receives, 'receiveonly'], // without effect for a connection that is handed over already
  ];
  return all.filter(([pc]) => pc) as Connection[];
}

function reasonOf(publication: LiveKitPublication, track?: LiveKitTrack): Stream['reason'] {
  if (publication.isMuted) return 'muted';
  if (!publication.isEnabled) return 'hidden';
  if (!track || !publication.isSubscribed) return 'unsubscribed';
  return track.streamState === 'paused' ? 'server' : '';
}

/** The source without `_share`: microphone, camera, screen, screen audio or unknown. */
const labelOf = (source: string) => source.replace('_share', '').replace('_', ' ');

/** A source of this page is muted if each of its publications is. */
const muteOf = ({ trackPublications }: LiveKitParticipant, source: string) =>
  [...trackPublications.values()].every((one) => one.source !== source || one.isMuted) ? 'muted' : '';

function streamsOf(room: LiveKitRoom, { owner }: LiveKitOptions, refresh: () => void): Stream[] {
  const [sends, receives] = transportsOf(room);
  return [room.localParticipant, ...room.remoteParticipants.values()].flatMap((participant) =>
    [...participant.trackPublications.values()].map((publication): Stream => {
      const track = publication.track as LiveKitTrack | undefined;
      const { isLocal: sent } = participant;
      const { kind, source } = publication;
      (publication as Emitter).off('updateSettings', refresh);
      (publication as Emitter).on('updateSettings', refresh);
      return {
        key: publication,
        pc: sent ? sends : receives,
        rtp: sent ? track?.sender : track?.receiver,
        sent,
        kind,
        userID: attempt(() => owner?.(participant)) ?? participant.identity,
        label: labelOf(source),
        reason: sent ? muteOf(participant, source) : reasonOf(publication, track),
        element: track?.attachedElements[0],
      };
    }),
  );
}

/** {@inheritDoc AttachLiveKit} */
export const attachLiveKit: AttachLiveKit = (monitor, room, conferenceID, given) =>
  attachOnce(monitor, room, (undo) => {
    const options = given ?? {};
    const emitter = room as Emitter;
    let engine: Engine | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let speaker: LiveKitParticipant | undefined;
    const reporter = createReporter(
      monitor,
      'livekit',
      conferenceID,
      options,
      undo,
      () => connectionsOf(room),
      () => streamsOf(room, options, refresh),
      reportSource,
    );

    /** Returns the fault, which is empty if there is none. */
    function refresh(): string {
      if (!undo.length) return '';
      engine?.off(created, refresh);
      engine = engineOf(room);
      engine?.on(created, refresh);
      const refusal = reporter.refresh() ?? '';
      return 'engine' in room && (room.state !== 'connected' || reporter.live.size) ? refusal : missing;
    }

    function sendDevices(): void {
      const deviceList = deviceKinds.map((kind) => ({ kind, deviceId: room.getActiveDevice(kind) }));
      // livekit-client has 'default' in place of a device that it has not opened yet.
      const used = deviceList.filter(({ deviceId }) => deviceId && deviceId !== 'default');
      if (used[0]) monitor.sendFabricEvent(null, 'activeDeviceList', conferenceID, { deviceList: used });
    }

    function connected(): void {
      sendDevices();
      if (refresh() === missing) options.callback?.('failure', missing);
    }

    const on: Record<string, (...args: never[]) => void> = {
      connectionStateChanged() {
        // A room that connects again makes its engine behind this event.
        clearTimeout(timer);
        timer = setTimeout(refresh);
        if (room.state === 'connected') connected();
        else reporter.refresh();
      },
      activeDeviceChanged: sendDevices,
      mediaDevicesError(error: unknown) {
        monitor.reportError(reporter.live.keys().next().value, conferenceID, 'getUserMedia', error);
      },
      activeSpeakersChanged([first]: LiveKitParticipant[]) {
        if (first?.isLocal && first !== speaker) monitor.sendFabricEvent(null, 'dominantSpeaker', conferenceID);
        speaker = first ?? speaker;
      },
    };
    for (const name of changes.split(' ')) {
      const listener = (...args: never[]) => attempt(() => undo.length && (on[name] ?? refresh)(...args));
      emitter.on(name, listener);
      undo.push(() => emitter.off(name, listener));
    }
    undo.push(() => {
      clearTimeout(timer);
      engine?.off(created, refresh);
      for (const { key } of streamsOf(room, {}, refresh)) (key as Emitter).off('updateSettings', refresh);
    });
    const fault = refresh();
    if (!fault && room.state === 'connected') sendDevices();
    return fault;
  });
