// One stay in a room: the signalling socket, and a PeerConnection for as long as somebody
// else is there.

/**
 * options: room, user, stream, monitor, rtc (RTCConfiguration), codec (of video, or '').
 * Events: 'state' (something to show changed), 'remote' (detail: MediaStream or null),
 * 'ended' (detail: why).
 */
export class Call extends EventTarget {
  #options;
  #socket;
  #role = '';
  #work = Promise.resolve(); // signalling is handled one message after the other
  #candidates = []; // those that came before the description they belong to
  #closed = false;
  pc = null;
  remoteUser = '';

  constructor(options) {
    super();
    this.#options = options;
  }

  get role() {
    return this.#role;
  }

  connect() {
    const { room, user } = this.#options;
    const query = new URLSearchParams({ room, user });
    this.#socket = new WebSocket(`${location.origin.replace('http', 'ws')}/signal?${query}`);
    this.#socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      this.#work = this.#work.then(() => this.#handle(message)).catch((error) => this.#fail(error));
    };
    this.#socket.onclose = () => {
      this.#work = this.#work.then(() => this.#lostSignalling());
    };
  }

  /** Ends the call for good. */
  hangUp(why = 'you hung up') {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    this.#endFabric();
    this.#socket.close();
    this.#emit('ended', why);
  }

  /** Tells the library what the user did. */
  event(name, data) {
    return this.#options.monitor.call('sendFabricEvent', this.pc, name, this.#options.room, data);
  }

  reportError(name, error) {
    const { monitor, room } = this.#options;
    return monitor.call('reportError', this.pc, room, name, error, this.pc?.localDescription, this.pc?.remoteDescription);
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #send(data) {
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send(JSON.stringify({ type: 'signal', data }));
    }
  }

  async #handle(message) {
    if (this.#closed) {
      return;
    }
    switch (message.type) {
      case 'joined':
        this.#role = message.role;
        this.#emit('state');
        break;
      case 'peer':
        await this.#meet(message.user);
        break;
      case 'signal':
        await this.#signalled(message.data);
        break;
      case 'left':
        this.#endFabric();
        break;
      case 'error':
        this.hangUp(message.message);
        break;
    }
  }

  #lostSignalling() {
    if (!this.#closed && !this.pc) {
      this.hangUp('the signalling connection was lost');
    } // a call that is up goes on without it
  }

  #fail(error) {
    console.error(error);
    this.hangUp(`the call failed: ${error.message}`);
  }

  async #meet(remoteUser) {
    const { room, stream, monitor, rtc, codec } = this.#options;
    this.remoteUser = remoteUser;
    const pc = new RTCPeerConnection(rtc);
    this.pc = pc;
    monitor.call('addNewFabric', pc, remoteUser, 'multiplex', room, {
      remoteEndpointType: 'peer',
      fabricTransmissionDirection: 'sendrecv',
    });
    pc.onicecandidate = ({ candidate }) => candidate && this.#send({ candidate });
    pc.ontrack = ({ streams }) => this.#emit('remote', streams[0]);
    pc.onconnectionstatechange = () => this.#stateChanged(pc);
    for (const track of stream.getTracks()) {
      pc.addTrack(track, stream);
    }
    preferCodec(pc, codec);
    this.#emit('state');
    if (this.#role === 'offerer') {
      await this.#describe('createOffer');
    }
  }

  #stateChanged(pc) {
    if (pc !== this.pc) {
      return;
    }
    if (pc.connectionState === 'failed') {
      this.reportError('iceConnectionFailure', new Error('the connection failed'));
    }
    this.#emit('state');
  }

  // Each stage of the negotiation reports its own failure, as the library asks for.
  async #stage(name, work) {
    try {
      return await work();
    } catch (error) {
      this.reportError(name, error);
      throw error;
    }
  }

  async #describe(create) {
    const pc = this.pc;
    const description = await this.#stage(create, () => pc[create]());
    await this.#stage('setLocalDescription', () => pc.setLocalDescription(description));
    this.#send({ description: pc.localDescription });
  }

  async #signalled({ description, candidate }) {
    const pc = this.pc;
    if (!pc) {
      return; // a late word of somebody who has left
    }
    if (description) {
      await this.#stage('setRemoteDescription', () => pc.setRemoteDescription(description));
      if (description.type === 'offer') {
        await this.#describe('createAnswer');
      }
      const early = this.#candidates.splice(0);
      await Promise.all(early.map((one) => this.#stage('addIceCandidate', () => pc.addIceCandidate(one))));
    } else if (!pc.remoteDescription) {
      this.#candidates.push(candidate);
    } else {
      await this.#stage('addIceCandidate', () => pc.addIceCandidate(candidate));
    }
  }

  #endFabric() {
    if (!this.pc) {
      return;
    }
    this.event('fabricTerminated');
    this.pc.close();
    this.pc = null;
    this.remoteUser = '';
    this.#candidates = [];
    this.#emit('remote', null);
    this.#emit('state');
  }
}

function preferCodec(pc, codec) {
  if (!codec) {
    return;
  }
  const wanted = `video/${codec}`.toLowerCase();
  const { codecs } = RTCRtpReceiver.getCapabilities('video');
  const first = codecs.filter((one) => one.mimeType.toLowerCase() === wanted);
  const rest = codecs.filter((one) => one.mimeType.toLowerCase() !== wanted);
  for (const transceiver of pc.getTransceivers()) {
    if (transceiver.sender.track?.kind === 'video') {
      transceiver.setCodecPreferences([...first, ...rest]);
    }
  }
}
