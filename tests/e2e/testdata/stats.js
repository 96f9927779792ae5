'use strict';
const sourceFps = 30;
const wait = (ms) => new Promise((later) => setTimeout(later, ms));

/** A picture that moves, so that it costs bits, in so many pixels. */
function camera(width = 320, height = 240) {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const ink = canvas.getContext('2d');
  let n = 0;
  const draw = () => {
    n++;
    ink.fillStyle = `hsl(${n % 360} 60% 50%)`;
    ink.fillRect(0, 0, width, height);
    ink.fillStyle = 'white';
    ink.fillRect((n * 5) % width, (n * 3) % height, 40, 40);
    ink.fillText(String(n), 10, 20);
  };
  draw();
  const timer = setInterval(draw, 1000 / sourceFps);
  const [track] = canvas.captureStream(sourceFps).getVideoTracks();
  track.addEventListener('halt', () => clearInterval(timer));
  return track;
}

let microphoneTrack;
/** The fake device; asked for once, as a window of Firefox may get it but once in front. */
async function microphone() {
  microphoneTrack ??= (await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks()[0];
  return microphoneTrack.clone();
}

/** Two ends in this page. With a relay nothing else is used. */
class Call {
  constructor(relay) {
    const config = relay ? { iceServers: [relay], iceTransportPolicy: 'relay' } : {};
    this.near = new RTCPeerConnection(config);
    this.far = new RTCPeerConnection(config);
    for (const [from, to] of [[this.near, this.far], [this.far, this.near]]) {
      from.onicecandidate = ({ candidate }) => {
        if (!candidate || to.signalingState === 'closed') return;
        const { candidate: text, usernameFragment, sdpMLineIndex } = candidate;
        to.addIceCandidate({ candidate: text, sdpMLineIndex: this.bridge ? 0 : sdpMLineIndex, usernameFragment }).catch(() => {});
      };
    }
    this.far.ontrack = ({ track, streams }) => {
      const screen = document.getElementById('screen');
      if (screen && track.kind === 'video' && streams[0]) screen.srcObject = streams[0];
    };
    this.tracks = [];
  }

  send(from, ...tracks) {
    const stream = new MediaStream(tracks);
    this.tracks.push(...tracks);
    return tracks.map((track) => from.addTrack(track, stream));
  }

  async negotiate(options) {
    await this.near.setLocalDescription(await this.near.createOffer(options));
    const { sdp } = this.near.localDescription;
    await this.far.setRemoteDescription({ type: 'offer', sdp: this.bridge ? this.bridge.offer(sdp) : sdp });
    await this.far.setLocalDescription(await this.far.createAnswer());
    const answer = this.far.localDescription.sdp;
    await this.near.setRemoteDescription({ type: 'answer', sdp: this.bridge ? this.bridge.answer(answer) : answer });
  }

  async connected() {
    while (![this.near, this.far].every((pc) => pc.connectionState === 'connected')) await wait(20);
  }

  end() {
    for (const track of this.tracks) {
      track.stop();
      track.dispatchEvent(new Event('halt'));
    }
    this.near.close();
    this.far.close();
  }
}

/**
 * Lets a browser take simulcast as a media server would: each layer becomes a media section
 * of its own, distinguished by the RID extension, which the far end takes for that of MIDs.
 */
class Bridge {
  constructor(...rids) {
    this.rids = rids;
  }

  offer(sdp) {
    const [head, section] = this.#parts(sdp);
    this.mid = /^a=mid:(.*)$/m.exec(section)[1].trim();
    this.midLine = /^a=extmap:.*sdes:mid\r?\n/m.exec(section)[0];
    this.ridLine = /^a=extmap:.*sdes:rtp-stream-id\r?\n/m.exec(section)[0];
    const plain = section
      .replace(/^a=(rid|simulcast|ssrc|ssrc-group|msid):?.*\r?\n/gm, '')
      .replace(/^a=extmap:.*sdes:(mid|repaired-rtp-stream-id)\r?\n/gm, '')
      .replace('sdes:rtp-stream-id', 'sdes:mid');
    const sections = this.rids.map((rid) => `${plain.replace(/^a=mid:.*$/m, `a=mid:${rid}`)}a=msid:${rid} ${rid}\r\n`);
    return head.replace(/^a=group:BUNDLE.*$/m, `a=group:BUNDLE ${this.rids.join(' ')}`) + sections.join('');
  }

  answer(sdp) {
    const [head, section] = this.#parts(sdp);
    const layers = this.rids.map((rid) => `a=rid:${rid} recv\r\n`).join('');
    return (
      head.replace(/^a=group:BUNDLE.*$/m, `a=group:BUNDLE ${this.mid}`) +
      section.replace(/^a=mid:.*$/m, `a=mid:${this.mid}`).replace(/^a=extmap:.*sdes:mid\r?\n/m, this.midLine + this.ridLine) +
      `${layers}a=simulcast:recv ${this.rids.join(';')}\r\n`
    );
  }

  /** What stands before the first media section, and that section. */
  #parts(sdp) {
    const [head, ...sections] = sdp.split(/^(?=m=)/m);
    return [head, sections[0]];
  }
}

/** A call with sound and picture both ways. */
async function ordinary(relay) {
  const call = new Call(relay);
  call.senders = call.send(call.near, await microphone(), camera());
  call.send(call.far, await microphone(), camera());
  return call;
}

/**
 * What is recorded: how a call begins, what is done in it (by second), and what is known of
 * it. A recording is of 12 s.
 */
const scenarios = {
  call: { begin: () => ordinary(), facts: { audio: true, video: true, fps: sourceFps, width: 320, height: 240 } },
  simulcast: {
    begin: async () => {
      const call = new Call();
      call.bridge = new Bridge('h', 'l');
      const track = camera(640, 360);
      call.tracks.push(track);
      call.near.addTransceiver(track, {
        direction: 'sendonly',
        streams: [new MediaStream([track])],
        sendEncodings: [{ rid: 'h', maxBitrate: 900_000 }, { rid: 'l', scaleResolutionDownBy: 2, maxBitrate: 200_000 }],
      });
      return call;
    },
    facts: { video: true, fps: sourceFps, layers: { h: 640, l: 320 } },
  },
  replaceTrack: {
    begin: () => ordinary(),
    at: {
      4: async (call) => {
        const other = camera(160, 120);
        call.tracks.push(other);
        await call.senders[1].replaceTrack(other);
      },
      7: (call) => call.senders[1].replaceTrack(null),
      9: (call) => call.senders[1].replaceTrack(call.tracks[1]),
    },
    facts: { audio: true, video: true, fps: sourceFps, changed: 4, silent: [7, 9] },
  },
  mute: {
    begin: () => ordinary(),
    at: {
      4: (call) => { for (const { track } of call.senders) track.enabled = false; },
      8: (call) => { for (const { track } of call.senders) track.enabled = true; },
    },
    facts: { audio: true, video: true, muted: [4, 8] },
  },
  renegotiate: {
    begin: () => ordinary(),
    at: {
      4: (call) => {
        call.added = call.send(call.near, camera(160, 120));
        return call.negotiate();
      },
      8: (call) => {
        call.near.removeTrack(call.added[0]);
        return call.negotiate();
      },
    },
    facts: { audio: true, video: true, fps: sourceFps, added: 4, removed: 8 },
  },
  iceRestart: {
    begin: () => ordinary(),
    at: { 5: (call) => call.negotiate({ iceRestart: true }) },
    facts: { audio: true, video: true, fps: sourceFps, restarted: 5 },
  },
  data: {
    begin: async () => {
      const call = new Call();
      const channel = call.near.createDataChannel('talk');
      call.far.ondatachannel = (event) => { call.channel = event.channel; }; // or it is collected, and closes
      const timer = setInterval(() => channel.readyState === 'open' && channel.send('x'.repeat(1000)), 100);
      call.near.addEventListener('halt', () => clearInterval(timer));
      return call;
    },
    facts: { audio: false, video: false },
  },
  oneWay: {
    begin: async () => {
      const call = new Call();
      call.send(call.near, await microphone(), camera());
      return call;
    },
    facts: { audio: true, video: true, fps: sourceFps, oneWay: true },
  },
  ended: {
    begin: () => ordinary(),
    at: { 5: (call) => { for (const { track } of call.senders) track.stop(); } },
    facts: { audio: true, video: true, ended: 5 },
  },
  loss: { begin: (relay) => ordinary(relay), facts: { audio: true, video: true, relay: 'udp', loss: 0.1 } },
  close: {
    begin: () => ordinary(),
    at: { 6: (call) => call.near.close() },
    facts: { audio: true, video: true, closed: 6 },
  },
};

/** Records both ends once a second. */
async function record(name, relay) {
  const { begin, at = {}, facts } = scenarios[name];
  const call = await begin(relay);
  const start = performance.now();
  const readings = { near: [], far: [] };
  const read = async (end) => {
    const reports = await call[end].getStats().then((all) => [...all.values()], () => null);
    readings[end].push({ t: Math.round(performance.now() - start), reports });
  };
  await call.negotiate();
  await call.connected();
  const begun = performance.now() - start;
  for (let second = 0; second <= 12; second++) {
    await wait(Math.max(0, start + begun + second * 1000 - performance.now()));
    await at[second]?.(call);
    await Promise.all([read('near'), read('far')]);
  }
  call.near.dispatchEvent(new Event('halt'));
  call.end();
  return { scenario: name, facts, begunMs: Math.round(begun), ...anonymous(readings) };
}

const left = new Set(['certificate', 'peer-connection']);
const names = /^(id|.+Id|trackIdentifier|label)$/;
const addresses = /^(address|ip|relatedAddress)$/;
const ports = /^(port|relatedPort)$/;

/** Takes out what tells machines and runs apart: identifiers, addresses, ports, the date. */
function anonymous({ near, far }) {
  const numbers = new Map();
  const number = (kind, value) => {
    const key = `${kind} ${value}`;
    if (!numbers.has(key)) numbers.set(key, [...numbers.keys()].filter((one) => one.startsWith(kind)).length + 1);
    return numbers.get(key);
  };
  const epoch = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const cell = (name, value) => {
    if (name === 'mid' || name === 'rid') return value;
    if (/ssrc$/i.test(name)) return 1000 + number('ssrc', value);
    if (addresses.test(name)) return value && `192.0.2.${number('address', value)}`;
    if (ports.test(name)) return 50_000 + number('port', value);
    if (/usernameFragment$/i.test(name)) return `ufrag${number('ufrag', value)}`;
    if (name === 'foundation') return String(number('foundation', value));
    if (typeof value === 'string' && names.test(name)) return `id${number('id', value)}`;
    if (typeof value === 'string' && /^[0-9A-Fa-f]{2}:/.test(value)) return undefined;
    if (typeof value === 'number' && value > 1e12 && value < 4e12) return Math.round(value - epoch + 1.7e12);
    return typeof value === 'number' ? Number(value.toPrecision(12)) : value;
  };
  const report = (one) =>
    Object.fromEntries(Object.entries(one).filter(([name]) => name !== 'url').map(([name, value]) => [name, cell(name, value)]));
  const clean = (list) =>
    list.map(({ t, reports }) => ({ t, reports: reports && reports.filter((one) => !left.has(one.type)).map(report) }));
  return { near: clean(near), far: clean(far) };
}

/** What the library reported and sent, beside the very reports that it got. */
const watched = { reported: [], sent: [], failed: '' };

/** A lossy call whose near end the library watches; no address of this machine is to be sent. */
async function watch(backend, room, relay) {
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (text) {
    watched.sent.push(String(text));
    return send.call(this, text);
  };
  await new Promise((loaded) =>
    document.head.append(Object.assign(document.createElement('script'), { src: '/dist/qos.min.js', onload: loaded })));
  const call = await ordinary(relay);
  watched.call = call;
  const answers = recordAnswers(call.near);
  watched.readings = answers.readings;
  const library = new qos();
  library.initialize('demo', 'demo-secret', 'ada', () => {}, (stats) => watched.reported.push(answers.measured(stats)),
    { backendUrl: backend, collectIP: false, disablePrecalltest: true });
  library.addNewFabric(call.near, 'grace', 'multiplex', room);
  await call.negotiate();
  await call.connected();
  let video;
  while (!video) {
    await wait(50);
    video = [...(await answers.ask()).values()].find((one) => one.type === 'outbound-rtp' && one.kind === 'video');
  }
  library.associateMstWithUserID(call.near, 'ada', room, video.ssrc, 'camera', 'screen');
  const { clientWidth, clientHeight } = document.getElementById('screen');
  watched.associated = { ssrc: video.ssrc, from: watched.readings.length, pixels: clientWidth * clientHeight * devicePixelRatio ** 2 };
  watched.host = await hostDescription();
  library.reportError(call.near, room, 'createOffer', new Error('reported'), watched.host, call.near.remoteDescription);
}

/** A description with candidates of this machine. */
async function hostDescription() {
  const call = new Call();
  call.near.createDataChannel('none');
  await call.near.setLocalDescription();
  while (call.near.iceGatheringState !== 'complete') await wait(20);
  const { type, sdp } = call.near.localDescription;
  call.end();
  return { type, sdp };
}
