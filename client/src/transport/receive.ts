// Messages of the collector, by WebSocket or in the answer to a POST.

import { type Message, refused } from '../auth.ts';
import { acknowledge, refuse } from '../queue.ts';
import { reportOnce } from '../session/results.ts';
import { measureEvery } from '../session/schedule.ts';
import type { Session } from '../session/state.ts';
import { welcomed } from './hello.ts';
import { lost, reconnect } from './retry.ts';
import { hold, pump } from './send.ts';

/** Does what a message asks for; null is one that could not be read. */
export function receive(s: Session, message: Message | null): void {
  const seq = Number(message?.seq);
  switch (message?.type) {
    case 'welcome':
      welcomed(s, message);
      break;
    case 'ack':
      acked(s, seq);
      break;
    case 'nack': {
      const { csError, message: msg } = refused(message);
      refuse(s.queue, seq, csError, msg);
      reportOnce(s, csError, msg);
      break;
    }
    case 'slow-down':
      if (message.statsIntervalMs) measureEvery(s, Number(message.statsIntervalMs));
      hold(s, refused(message).waitMs, true);
      break;
    case 'bye':
      dismissed(s, message);
  }
}

function acked(s: Session, seq: number): void {
  if (acknowledge(s.queue, seq)) {
    s.attempts = 0;
    reportOnce(s, 'success', 'connected');
  }
  pump(s);
}

/** The collector ends the connection. */
function dismissed(s: Session, bye: Message): void {
  const refusal = refused(bye);
  s.socketRefusals = 0; // a refusal proves that WebSockets reach the collector
  // The token of the hello is over, and its successor is here already.
  if (refusal.reasonCode === 'token_expired' && s.sessionToken && s.sessionToken !== s.helloToken)
    reconnect(s, refusal.waitMs);
  else lost(s, refusal);
}
