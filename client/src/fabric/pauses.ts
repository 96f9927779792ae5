// What is expected of streams: their pauses, which the application reports or the page's own objects show, and the limits
// of their encodings. A stream is paused while there is a reason. Each change is recorded once.

import { attempt } from '../result.ts';
import { emit } from './emit.ts';
import type { Fabric, Source } from './state.ts';
import { givenOf, givenTo, sourcesOf } from './users.ts';

/** By track that was seen live: whether it has ended by itself. A stop() of the page fires no event. */
const endings = new WeakMap<MediaStreamTrack, boolean>();

function watch(track: MediaStreamTrack): void {
  if (endings.has(track) || track.readyState === 'ended') return;
  endings.set(track, false);
  track.addEventListener('ended', () => endings.set(track, true));
}

/** Why nothing can be expected of what a sender sends; undefined where something can, or nothing is known. */
function choiceOfSender(track: MediaStreamTrack | null, encoding: Encoding): string | undefined {
  if (!track) return 'noTrack';
  watch(track);
  if (track.readyState === 'ended') return endings.get(track) === false ? 'stopped' : undefined;
  if (track.enabled === false) return 'disabled';
  if (track.muted) return 'system';
  return encoding?.active === false ? 'inactive' : undefined;
}

/** What the page has set for the encoding of a sent stream. */
type Encoding = { active?: boolean; maxFramerate?: number | undefined; maxBitrate?: number } | undefined;

const fewFrames = 12; // a second: more are no limit that anybody would notice

/** The encoding of a sent stream. That of a received one means nothing. */
function encodingOf({ transceiver, rid, rtpEnd }: Source): Encoding {
  const encodings = transceiver?.sender.getParameters().encodings ?? [];
  const encoding: Encoding = encodings.find((one) => one.rid === rid) ?? encodings[0];
  const frameRate = rtpEnd?.track?.getSettings?.().frameRate;
  return frameRate && frameRate <= fewFrames ? { ...encoding, maxFramerate: frameRate } : encoding;
}

/** What the page itself has chosen about a stream. */
function choiceOf({ transceiver, isSent }: Source, encoding: Encoding): string | undefined {
  if (!transceiver) return;
  const { direction, currentDirection, sender } = transceiver;
  const way = isSent ? 'send' : 'recv';
  if (!direction.includes(way) || currentDirection?.includes(way) === false) return 'direction';
  return isSent ? choiceOfSender(sender.track, encoding) : undefined;
}

/** Records whether a stream is paused, if that changed. It returns the encoding that was read. */
export function updatePause(f: Fabric, source: Source): Encoding {
  const { ssrc, mediaType, isSent, pauseData } = source;
  const encoding = attempt(() => encodingOf(source));
  const isMuted = isSent && (f.muted.has(mediaType) || f.muted.has('fabric'));
  const reason = isMuted ? undefined : attempt(() => choiceOf(source, encoding)); // the application said it
  const now = givenTo(f, source).pause ?? (reason ? { reason } : undefined);
  if (!now !== !pauseData) {
    const [begins, ends] = mediaType === 'audio' ? ['audioMute', 'audioUnmute'] : ['videoPause', 'videoResume'];
    emit(f, (now ? begins : ends) as string, { ...(now ?? pauseData), ssrc });
    source.pauseData = now;
  }
  return encoding;
}

/** Records the limits of a stream, if they changed. Applications limit all sound that they send. */
function updateLimits(f: Fabric, source: Source, encoding: Encoding): void {
  const { ssrc, mediaType, isSent } = source;
  const { maxFramerate, maxBitrate } = (isSent && mediaType === 'video' && encoding) || {};
  const limits = `${[maxFramerate, maxBitrate]}`;
  if (limits !== (source.limits ?? ',')) emit(f, 'limitsChange', { ssrc, maxFramerate, maxBitrate });
  source.limits = limits;
}

/**
 * Pauses the streams that a track, a sender or a receiver has and will have; undefined ends their pause. Nothing is
 * recorded of those that are paused already, or are not.
 */
export function pause(f: Fabric, source: object, data: object | undefined): void {
  givenOf(f, source).pause = data;
  for (const one of sourcesOf(f, source)) updatePause(f, one);
}

/** Records what changed since the last reading, and forgets streams that ended. A paused one may return and be resumed. */
export function updateSources(f: Fabric): void {
  for (const [key, source] of f.sources)
    if (source.pauseData || f.monitor.knownStreams.has(key)) updateLimits(f, source, updatePause(f, source));
    else f.sources.delete(key);
}
