// The transceivers of a fabric's streams, as far as the PeerConnection shows them.

import { attempt } from '../result.ts';
import type { Stream } from '../stats/normalise.ts';
import type { Fabric } from './state.ts';

const transceivers = (f: Fabric) => (f.pc as RTCPeerConnection).getTransceivers();

/** The transceiver of a stream; undefined where it is unknown. */
export const transceiverOf = (f: Fabric, { rtp }: Stream): RTCRtpTransceiver | undefined =>
  attempt(() => transceivers(f).find((one) => one.mid === rtp.mid));

/**
 * Returns whether a video is a screen, for the browsers that do not report it: by its usageLabel, by the hint
 * or the surface of its track, or by screenShareStart, which means the newest video if no track shows which.
 */
export function screensOf(f: Fabric): (stream: Stream) => boolean {
  let screens: RTCRtpTransceiver[] | undefined; // found for the first video that is sent
  const among = () => {
    screens ??= attempt(() => screensAmong(f), []);
    return screens;
  };
  return ({ rtp, ssrc, statsType }) =>
    /screen/i.test(f.associations.get(ssrc)?.usageLabel ?? '') ||
    (statsType === 'outbound-rtp' && among().some(({ mid }) => mid === rtp.mid));
}

function screensAmong(f: Fabric): RTCRtpTransceiver[] {
  const videos = transceivers(f).filter(({ sender }) => sender.track?.kind === 'video');
  const displays = videos.filter(({ sender }) => isDisplay(sender.track as MediaStreamTrack));
  return displays[0] || !f.sharing ? displays : videos.slice(-1);
}

/** A hint of motion means film, also on a screen. Firefox has mediaSource in place of displaySurface. */
function isDisplay(track: MediaStreamTrack): boolean {
  const { displaySurface, mediaSource } = track.getSettings() as Record<string, unknown>;
  return /detail|text|screen|window|browser|monitor/.test(track.contentHint || `${[displaySurface, mediaSource]}`);
}
