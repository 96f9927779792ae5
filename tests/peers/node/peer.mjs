// Talks to the receiver as the npm package ws does. Prints what it saw as JSON.
import WebSocket from 'ws';

const { url, origin, hello, fabric, logs } = JSON.parse(process.argv[2]);
const saw = {};

/** Connects, and returns the socket with a function that awaits the next message. */
async function connect() {
  const ws = new WebSocket(url, 'qos', { origin, perMessageDeflate: true });
  const heard = [];
  let wake = () => {};
  ws.on('message', (data) => (heard.push(JSON.parse(data)), wake()));
  await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
  const next = async () => {
    while (!heard.length) await new Promise((resolve) => (wake = resolve));
    return heard.shift();
  };
  const acked = async (seq) => {
    for (;;) {
      const { type, seq: upTo } = await next();
      if (type === 'slow-down') continue; // on a busy machine
      if (type !== 'ack') throw new Error(type);
      if (upTo === seq) return;
    }
  };
  return { ws, next, acked, closed: new Promise((resolve) => ws.once('close', (code) => resolve(code))) };
}

const one = await connect();
saw.protocol = one.ws.protocol;
saw.extensions = one.ws.extensions;
one.ws.send(hello);
saw.welcome = (await one.next()).type;
one.ws.send(fabric);
one.ws.send(logs[0]);
await one.acked(1);
const pong = new Promise((resolve) => one.ws.once('pong', (data) => resolve(String(data))));
one.ws.send(logs[1].slice(0, 9), { fin: false }); // fragments, with a ping between them
one.ws.ping('between');
one.ws.send(logs[1].slice(9, 20), { fin: false });
one.ws.send(logs[1].slice(20), { fin: true });
saw.pong = await pong;
await one.acked(2);
one.ws.send(logs[2].padEnd(65_536)); // the largest message: its length has 64 bits
await one.acked(3);
one.ws.close(1000, 'done');
saw.closed = await one.closed;

const bad = await connect();
bad.ws.send(hello, { mask: false });
saw.unmasked = await bad.closed;
console.log(JSON.stringify(saw));
