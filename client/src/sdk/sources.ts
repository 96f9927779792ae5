// What is reported about the microphone, the camera and the screen of this page, each as a whole.

import { type EventOf, eventOf, type Stream } from './streams.ts';

/**
 * Reports a stream that this page sends, given what was reported before by label. True: it has ended, and nothing more is reported;
 * false: its pauses are reported here alone.
 */
export function reportSource(stream: Stream, known: Map<string, string>, send: EventOf): boolean | undefined {
  const { sent, label, reason } = stream;
  const isScreen = label === 'screen';
  if (!sent) return;
  if (reason === 'ended') {
    if (isScreen && known.delete(label)) send('screenShareStop');
    return true;
  }
  if (!isScreen && !/^[mc]/.test(label)) return;
  const now = isScreen ? label : reason;
  if ((known.get(label) ?? '') !== now) {
    known.set(label, now);
    send(isScreen ? 'screenShareStart' : eventOf(stream));
  }
  if (!isScreen) return false;
}
