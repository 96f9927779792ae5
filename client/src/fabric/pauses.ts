// What is expected of streams: their pauses, which the application reports or the page's own objects show, and the limits
// of their encodings. A stream is paused while there is a reason. Each change is recorded once.

import { attempt, json } from '../result.ts';
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
function choiceOfSender(sender: RTCRtpSender, rid: unknown): string | undefined {
  const { track } = sender;
  if (!track) return 'noTrack';
  watch(track);
  if (track.readyState === 'ended') return endings.get(track) === false ? 'stopped' : undefined;
  if (track.enabled === false) return 'disabled';
  if (track.muted) return 'system';
  return encodingOf(sender, rid)?.active === false ? 'inactive' : undefined;
}

function encodingOf(sender: RTCRtpSender, rid: unknown): RTCRtpEncodingParameters | undefined {
  const { encodings } = sender.getParameters();
  return encodings.find((one) => one.rid === rid) ?? encodings[0];
}

/** The limits of the encoding of sent video, as JSON. */
function limitsOf({ isSent, mediaType, transceiver, rid }: Source): string | undefined {
  const encoding = isSent && mediaType === 'video' && transceiver ? encodingOf(transceiver.sender, rid) : undefined;
  const { maxFramerate, maxBitrate, scaleResolutionDownBy: scale } = encoding ?? {};
  return json({ maxFramerate, maxBitrate, scaleResolutionDownBy: scale === 1 ? undefined : scale });
}

/** What the page itself has chosen about a stream. */
function choiceOf({ transceiver, rid, isSent }: Source): string | undefined {
  if (!transceiver) return;
  const { direction, currentDirection, sender } = transceiver;
  const way = isSent ? 'send' : 'recv';
  if (!direction.includes(way) || currentDirection?.includes(way) === false) return 'direction';
  return isSent ? choiceOfSender(sender, rid) : undefined;
}

/** Records whether a stream is paused, if that changed. */
export function updatePause(f: Fabric, source: Source): void {
  const { ssrc, mediaType, isSent, paused } = source;
  const isMuted = isSent && (f.muted.has(mediaType) || f.muted.has('fabric'));
  const reason = isMuted ? undefined : attempt(() => choiceOf(source), undefined); // the application said it
  const now = givenTo(f, source).pause ?? (reason ? { reason } : undefined);
  if (!now === !paused) return;
  const [begins, ends] = mediaType === 'audio' ? ['audioMute', 'audioUnmute'] : ['videoPause', 'videoResume'];
  emit(f, (now ? begins : ends) as string, { ...(now ?? paused), ssrc });
  source.paused = now;
}

/**
 * Pauses the streams that a track, a sender or a receiver has and will have; undefined ends their pause. Nothing is
 * recorded of those that are paused already, or are not.
 */
export function pause(f: Fabric, source: object, data: object | undefined): void {
  givenOf(f, source).pause = data;
  for (const one of sourcesOf(f, source)) updatePause(f, one);
}

/** Records what changed since the last reading. */
export function updateSources(f: Fabric): void {
  for (const source of f.sources.values()) {
    updatePause(f, source);
    const limits = attempt(() => limitsOf(source), undefined) ?? '{}';
    if (limits !== (source.limits ?? '{}')) emit(f, 'encodingChange', { ssrc: source.ssrc, ...JSON.parse(limits) });
    source.limits = limits;
  }
}
