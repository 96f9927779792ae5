// The WebSocket, and the watch over one that is silent.

import { parseLine } from '../auth.ts';
import { json, text } from '../result.ts';
import type { Session } from '../session/state.ts';
import { hello } from './hello.ts';
import { receive } from './receive.ts';
import { lost, safely, socketFailed } from './retry.ts';

const silenceMs = 12_000; // longer than a collector takes to acknowledge, or to answer that it cannot
const helloMs = 15_000;

/** Opens the WebSocket. */
export function open(s: Session): void {
  try {
    const ws = new WebSocket(`${s.info.base.replace(/^http/, 'ws')}ws`, 'qos');
    s.socket = ws;
    s.ready = false;
    watch(s, helloMs);
    ws.onopen = () => safely(s, () => ws.send(json(hello(s))));
    ws.onmessage = (event) => {
      watch(s, silenceMs);
      safely(s, () => receive(s, parseLine(event.data)));
    };
    // Where a policy forbids the connection, Chromium reports no close.
    ws.onclose = ws.onerror = () => lost(s);
  } catch (error) {
    socketFailed(s, text(error));
  }
}

function watch(s: Session, ms: number, overdue = false): void {
  s.overdue = overdue;
  s.watchdog(ms);
}

/** Ends a connection that is silent for two spans while an acknowledgement is expected. */
export function checkSilence(s: Session): void {
  const waiting = s.queue.cursor > 0;
  if (!s.ready || (waiting && s.overdue)) lost(s);
  else watch(s, silenceMs, waiting);
}
