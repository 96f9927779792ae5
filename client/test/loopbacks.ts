// PeerConnections that reach each other through a relay whose path the test sets. Real ones are in the
// end-to-end tests.

import { vi } from 'vitest';

/** The path between the ends. */
export interface Path {
  /** From one end to the other, ms. */
  delayMs: number;
  /** Every so many messages is lost; 0 for none. */
  losesEvery: number;
  /** bit/s; Infinity for no limit. */
  bps: number;
  /** The protocols that pass. */
  passes: string[];
  /** Nothing passes any more. */
  dead: boolean;
  /** The URLs that a constructor refuses. */
  refuses?: RegExp;
  /** The error of a protocol that does not pass; undefined where it has none: by silence, or by an end without a candidate. */
  error?: [code: number, text: string] | 'silence' | 'none' | undefined;
  /** The stage that is the last. */
  endsAt?: 'relay' | 'ice';
  /** The answer to STUN. */
  stun: 'answers' | 'answersHost' | 'noName' | 'silence';
}

export interface World extends Path {
  ends: FakeEnd[];
  open(): number;
}

const ice = (urls: string) => (urls.startsWith('turns') ? 'tls' : urls.includes('transport=tcp') ? 'tcp' : 'udp');

export class FakeChannel {
  readyState = 'connecting';
  bufferedAmount = 0;
  onopen?: () => void;
  onmessage?: (event: { data: ArrayBuffer }) => void;
  /** When each message was sent, and its bytes. */
  sent: [number, number][] = [];
  private freeAt = 0;
  private count = 0;

  constructor(private readonly end: FakeEnd) {}

  send(data: Uint8Array | DataView | ArrayBuffer): void {
    const { world } = this.end;
    const bytes = data instanceof ArrayBuffer ? data : (data.buffer as ArrayBuffer);
    const now = performance.now();
    this.sent.push([now, bytes.byteLength]);
    this.freeAt = Math.max(this.freeAt, now) + (bytes.byteLength * 8000) / world.bps;
    this.bufferedAmount += bytes.byteLength;
    const lost = world.losesEvery && ++this.count % world.losesEvery === 0;
    setTimeout(() => (this.bufferedAmount -= bytes.byteLength), this.freeAt - now);
    setTimeout(
      () => {
        const peer = this.end.peer?.channel;
        if (!lost && !world.dead && peer?.readyState === 'open') peer.onmessage?.({ data: bytes });
      },
      this.freeAt - now + world.delayMs,
    );
  }
}

export class FakeEnd {
  connectionState = 'new';
  signalingState = 'stable';
  iceGatheringState = 'new';
  iceConnectionState = 'new';
  localDescription?: { end: FakeEnd };
  peer?: FakeEnd;
  channel = new FakeChannel(this);
  onicecandidate?: (event: object) => void;
  onicecandidateerror?: ((event: object) => void) | undefined = undefined;
  onicegatheringstatechange?: () => void;
  onconnectionstatechange?: () => void;
  oniceconnectionstatechange?: () => void;

  constructor(
    readonly world: World,
    readonly config: { iceServers: { urls: string[] }[]; iceTransportPolicy: string },
  ) {
    if (world.refuses?.test(String(config.iceServers[0]?.urls)))
      throw Object.assign(new Error('turn:user:secret@host'), { name: 'SyntaxError' });
    world.ends.push(this);
  }

  private get passes(): boolean {
    return this.world.passes.includes(ice(this.config.iceServers[0]?.urls[0] ?? ''));
  }

  createDataChannel = () => this.channel;

  async setLocalDescription() {
    this.localDescription = { end: this };
    if (this.config.iceTransportPolicy !== 'relay') return this.askStun();
    const { error } = this.world;
    if (!this.passes && error === 'silence') return;
    setTimeout(() => {
      if (this.passes) this.onicecandidate?.({ candidate: { candidate: 'relay' } });
      else if (Array.isArray(error)) this.onicecandidateerror?.({ errorCode: error[0], errorText: error[1] });
      this.iceGatheringState = 'complete';
      this.onicegatheringstatechange?.();
    }, 2 * this.world.delayMs);
  }

  private askStun() {
    this.onicecandidate?.({ candidate: { type: 'host', protocol: 'udp' } });
    const { stun, delayMs } = this.world;
    if (stun === 'silence') return;
    setTimeout(() => {
      if (stun === 'answers') this.onicecandidate?.({ candidate: { type: 'srflx', protocol: 'udp' } });
      if (stun === 'noName') this.onicecandidateerror?.({ errorCode: 701, errorText: '' });
      this.iceGatheringState = 'complete';
      this.onicegatheringstatechange?.();
    }, delayMs);
  }

  async setRemoteDescription({ end }: { end: FakeEnd }) {
    this.peer = end;
    if (this.peer.peer === this) setTimeout(() => [this, end].map((one) => one.connect()), 8 * this.world.delayMs);
  }

  addIceCandidate = async () => undefined;

  private connect() {
    if (this.connectionState !== 'new' || !this.passes || this.world.dead || this.world.endsAt === 'relay') return;
    this.iceConnectionState = 'connected';
    this.oniceconnectionstatechange?.();
    if (this.world.endsAt === 'ice') return;
    this.connectionState = 'connected';
    this.onconnectionstatechange?.();
    this.channel.readyState = 'open';
    this.channel.onopen?.();
  }

  close() {
    this.connectionState = this.signalingState = this.channel.readyState = 'closed';
  }
}

/** Gives the page its PeerConnections. */
export function startWorld(path: Partial<Path> = {}): World {
  const world: World = {
    delayMs: 20,
    losesEvery: 0,
    bps: Number.POSITIVE_INFINITY,
    passes: ['udp', 'tcp', 'tls'],
    dead: false,
    error: [701, 'TURN server unreachable'],
    stun: 'silence',
    ...path,
    ends: [],
    open: () => world.ends.filter(({ connectionState }) => connectionState !== 'closed').length,
  };
  vi.stubGlobal(
    'RTCPeerConnection',
    class extends FakeEnd {
      constructor(config: FakeEnd['config']) {
        super(world, config);
      }
    },
  );
  return world;
}
