// A server of one of two kinds, which answers each message as a collector acknowledges it:
//   append    appends each message to the file of its connection
//   observer  gives each message, a ClientSample of five tracks, to observer-js, and drops its reports
//
// It writes its address first, and ends when its input does.

import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createObserver } from '@observertc/observer-js';
import { WebSocketServer } from 'ws';

const answer = '{"type":"ack","seq":1234}';
const [kind] = process.argv.slice(2);
const directory = await mkdtemp(join(tmpdir(), 'qos-compare-'));
const observer = createObserver({ defaultServiceId: 'compare', maxReports: 1000 });
let connections = 0;

/** By kind, what a connection does with a message. */
const consumers = {
  append: (number) => {
    const file = createWriteStream(join(directory, `${number}.jsonl`));
    return (message) => {
      file.write(message);
      file.write('\n');
    };
  },
  observer: (number) => {
    const call = observer.createObservedCall({ roomId: `room ${number}`, callId: `call ${number}`, appData: {} });
    const client = call.createClient({ clientId: `client ${number}`, mediaUnitId: 'compare', appData: {} });
    return (message) => client.accept(JSON.parse(message));
  },
};

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, () => {
  console.log(`127.0.0.1:${server.address().port}`);
});
server.on('connection', (socket) => {
  const consume = consumers[kind](connections++);
  socket.on('message', (message) => {
    consume(message);
    socket.send(answer);
  });
});

process.stdin.resume().on('end', async () => {
  await rm(directory, { recursive: true, force: true });
  process.exit();
});
