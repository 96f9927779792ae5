import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  backendUrl,
  connect,
  type Door,
  FakePeerConnection,
  FakeSocket,
  makeQos,
  never,
  startHarness,
  stopHarness,
  throttled,
  token,
} from './harness.ts';

afterEach(stopHarness);

const conference = 'standup';
const add = (qos: ReturnType<typeof connect>['qos'], pc: FakePeerConnection) =>
  qos.addNewFabric(pc, 'bob', 'multiplex', conference);
const lines = (body: string) => body.split('\n').map((line) => JSON.parse(line));

describe('connecting', () => {
  it('logs in over POST and says hello first (spec: INIT-02, INIT-08)', async () => {
    const harness = startHarness();
    connect(harness, { backendUrl, applicationVersion: '2.3', siteID: 'hq', additionalIDs: { tenantID: 't1' } });
    expect(harness.inits).toEqual([]);
    await harness.run();
    expect(harness.posts.map((p) => [p.url, JSON.parse(p.body)])).toEqual([
      [`${backendUrl}/auth`, { type: 'jwt', appID: 'demo', userID: 'alice', jwt: 'jwt' }],
    ]);
    expect(harness.posts[0]?.init).toMatchObject({ method: 'POST', credentials: 'omit' });
    // Text without headers is text/plain in UTF-8: no preflight.
    expect(new Request('https://q.example', harness.posts[0]?.init).headers.get('content-type')).toBe(
      'text/plain;charset=UTF-8',
    );
    expect(harness.inits).toEqual([['success', 'authenticated']]);
    const socket = harness.socket();
    expect([socket.url, socket.protocol]).toEqual(['wss://qos.example.org/prefix/ws', 'qos']);
    socket.welcome();
    const [hello] = socket.messages;
    expect(hello).toMatchObject({
      type: 'hello',
      versions: [1],
      token: 'T',
      acked: 0,
      library: '0.1.0',
      applicationVersion: '2.3',
      siteID: 'hq',
      additionalIDs: { tenantID: 't1' },
    });
    expect(hello?.session).toMatch(/^S\d+$/);
  });

  it('keeps what was called before the login, with the times of the calls, on the clock of the server (spec: INIT-07)', async () => {
    const harness = startHarness((url) => (url.endsWith('/auth') ? token(Date.now() + 60_000) : { body: '' }));
    let answer: (() => void) | undefined;
    const qos = makeQos()();
    qos.initialize(
      'demo',
      (_f, callback) => {
        answer = () => callback(null, 'jwt');
      },
      'alice',
    );
    const called = Date.now();
    add(qos, new FakePeerConnection());
    await harness.run(3000);
    answer?.();
    await harness.run();
    harness.socket().welcome({ at: Date.now() + 60_000 });
    const [fabric] = harness.socket().of('fabric');
    const [event] = harness.socket().of('event');
    expect(fabric).toMatchObject({
      fabric: 1,
      addedAt: called + 60_000,
      conferenceID: conference,
      remoteUserID: 'bob',
    });
    expect(event).toMatchObject({
      seq: 1,
      at: called + 60_000,
      event: 'fabricAdded',
      data: { alreadyConnected: false },
    });
  });

  it('resumes: announces context again and sends what was not acknowledged, byte for byte', async () => {
    const harness = startHarness();
    const { qos } = connect(harness, { backendUrl });
    await harness.run();
    const first = harness.socket();
    first.welcome();
    add(qos, new FakePeerConnection());
    qos.sendFabricEvent(null, 'dominantSpeaker', conference);
    qos.sendUserFeedback(conference, { userID: 'alice', overall: 5 });
    first.say({ type: 'ack', seq: 1 });
    first.drop();
    expect(harness.inits.filter(([e]) => e !== 'success')).toEqual([]);
    await harness.run(2000);
    const second = harness.socket();
    expect(second).not.toBe(first);
    second.welcome({ acked: 1 });
    expect(second.messages[0]).toMatchObject({ type: 'hello', acked: 1, session: first.messages[0]?.session });
    const numbered = (s: FakeSocket) => s.texts.filter((t) => t.includes('"seq":'));
    expect(numbered(second)).toEqual(numbered(first).slice(1));
  });

  it('backs off with jitter up to a minute and reports an outage once (spec: INIT-05)', async () => {
    const harness = startHarness((url) => (url.endsWith('/auth') ? token() : new Error('no network')));
    vi.spyOn(Math, 'random').mockReturnValue(0.999);
    connect(harness, { backendUrl });
    await harness.run();
    for (let i = 0; i < 2; i++) {
      harness.socket().drop();
      await harness.run(5000);
    }
    expect(harness.inits).toEqual([
      ['success', 'authenticated'],
      ['wsChannelFailure', 'no WebSocket'],
    ]);
    expect(FakeSocket.all).toHaveLength(3);
    harness.socket().welcome();
    await harness.run();
    expect(harness.inits.at(-1)).toEqual(['success', 'connected']);
    expect(harness.inits).toHaveLength(3);
  });

  it('goes through the POST door where WebSockets are refused', async () => {
    const posted: string[] = [];
    const door: Door = (url, body) => {
      if (url.endsWith('/auth')) return token();
      posted.push(body);
      const seqs = lines(body)
        .map((m) => m.seq)
        .filter(Boolean);
      const answers = [
        { type: 'welcome', version: 1, at: Date.now(), acked: 0, statsIntervalMs: 10_000, windowFrames: 256 },
      ];
      const ack = { type: 'ack', seq: Math.max(0, ...seqs), at: Date.now() };
      return { body: [...answers, ack].map((m) => JSON.stringify(m)).join('\n') };
    };
    const harness = startHarness(door);
    const { qos } = connect(harness, { backendUrl });
    const reported: string[] = [];
    await harness.run();
    for (let i = 0; i < 3; i++) {
      harness.socket().drop();
      await harness.run(8000);
    }
    const sockets = FakeSocket.all.length;
    qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', conference, null, (err) => reported.push(err));
    await harness.run(6000);
    expect(reported).toEqual(['success']);
    expect(FakeSocket.all).toHaveLength(sockets);
    const [hello, fabric, event] = lines(posted.find((b) => b.includes('fabricAdded')) ?? '');
    expect([hello.type, fabric.type, event.type]).toEqual(['hello', 'fabric', 'event']);
    expect(harness.inits.map(([e]) => e)).toEqual(['success', 'wsChannelFailure', 'success']);
  });

  it('notices a connection that has gone silent', async () => {
    const harness = startHarness();
    const { qos } = connect(harness, { backendUrl });
    await harness.run();
    harness.socket().welcome();
    await harness.run(100_000);
    expect(FakeSocket.all).toHaveLength(1); // silence is fine while nothing is expected
    add(qos, new FakePeerConnection());
    await harness.run(11_000);
    expect(FakeSocket.all).toHaveLength(1); // a collector may take 10 s to say that it cannot
    // In time for the conference not to end: 24 s, and a second of back-off at most.
    await harness.run(14_500);
    expect(FakeSocket.all).toHaveLength(2);
  });

  it('keeps the clock of the server when that of the page is set (spec: SRV-03)', async () => {
    const harness = startHarness();
    const { qos } = connect(harness, { backendUrl });
    await harness.run();
    const first = harness.socket();
    first.acking = true;
    first.welcome();
    const start = Date.now();
    add(qos, new FakePeerConnection());
    await harness.run(2000);
    let ahead = 0; // of the page, against the server
    for (const step of [3_600_000, -7_200_000]) {
      ahead += step;
      vi.setSystemTime(Date.now() + step);
      qos.sendFabricEvent(null, 'dominantSpeaker', conference);
      await harness.run(1000);
      const socket = harness.socket();
      expect(socket).not.toBe(first);
      socket.acking = true;
      socket.welcome({ at: Date.now() - ahead });
      await harness.run(1000);
      const [event] = socket.of('event');
      expect(event).toMatchObject({ event: 'dominantSpeaker', at: Date.now() - ahead - 2000 });
    }
    expect(Date.now() - ahead - start).toBe(6000);
  });
});

describe('what the collector says', () => {
  async function online(harness = startHarness()) {
    const { qos } = connect(harness, { backendUrl });
    await harness.run(1); // no page is welcomed in its first millisecond
    const socket = harness.socket();
    socket.welcome();
    await harness.run();
    return { harness, qos, socket };
  }

  it('slow-down: nothing for a while, then from the last acknowledged number; another interval', async () => {
    const { harness, qos, socket } = await online();
    const pc = new FakePeerConnection();
    add(qos, pc);
    const before = socket.texts.length;
    socket.say({ type: 'slow-down', retryAfterMs: 2000, statsIntervalMs: 20_000 });
    qos.sendFabricEvent(pc, 'audioMute', conference);
    await harness.run(1900);
    expect(socket.texts).toHaveLength(before);
    await harness.run(200);
    expect(socket.texts.slice(before).map((t) => JSON.parse(t).seq)).toEqual([1, 2]);
    socket.acking = true;
    socket.say({ type: 'ack', seq: 2 });
    await harness.run(60_000);
    const at = socket.of('stats').map((m) => Number(m.at));
    expect(at.length).toBeGreaterThanOrEqual(2);
    expect(Number(at[1]) - Number(at[0])).toBe(20_000);
  });

  it('measures every 20 s however often the interval changes (spec: SRV-04)', async () => {
    const { harness, qos, socket } = await online();
    socket.acking = true;
    add(qos, new FakePeerConnection());
    const start = Date.now();
    for (let i = 0; i < 30; i++) {
      socket.say({ type: 'slow-down', retryAfterMs: 0, statsIntervalMs: i % 2 ? 10_000 : 20_000 });
      await harness.run(4000);
    }
    const at = [start, ...socket.of('stats').map((m) => Number(m.at)), Date.now()];
    const gaps = at.slice(1).map((ms, i) => ms - Number(at[i]));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(20_000);
    expect(gaps.length).toBeLessThan(14); // slowed all the same
  });

  it('a frame that nobody can read: a skip takes its place (spec: SRV-03)', async () => {
    const { harness, qos, socket } = await online();
    const unreadable = { type: 'nack', code: 'malformed', csError: 'csProtoError', message: 'not JSON' };
    add(qos, new FakePeerConnection());
    qos.sendFabricEvent(null, 'dominantSpeaker', conference);
    const numbered = (from: FakeSocket) => from.messages.filter((m) => m.seq).map((m) => `${m.type} ${m.seq}`);
    const again = async () => {
      harness.socket().say(unreadable);
      harness.socket().drop();
      await harness.run(4500);
      harness.socket().welcome();
    };
    await again(); // it may have been an announcement
    expect(harness.socket().texts.slice(1)).toEqual(socket.texts.slice(1));
    await again();
    expect(numbered(harness.socket()).slice(0, 2)).toEqual(['skip 1', 'event 2']);
    expect(harness.socket().of('skip')[0]).toMatchObject({ from: 1, lost: [{ fabric: 1, stats: 0, events: 1 }] });
    harness.socket().say({ type: 'ack', seq: 2 });
    await again();
    expect(harness.socket().of('skip')).toEqual([]);
  });

  it('nack: the frame is lost, everything else goes on (spec: SRV-02)', async () => {
    const { harness, qos, socket } = await online();
    const reported: string[] = [];
    qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', conference, (err, msg) =>
      reported.push(`${err} ${msg}`),
    );
    socket.say({ type: 'nack', seq: 1, code: 'field_value', csError: 'csProtoError', message: 'no' });
    socket.say({ type: 'ack', seq: 1 });
    await harness.run();
    expect(reported).toEqual(['csProtoError no']);
    expect(harness.inits.at(-1)).toEqual(['csProtoError', 'no']);
    qos.sendFabricEvent(null, 'dominantSpeaker', conference);
    expect(socket.of('event').at(-1)).toMatchObject({ seq: 2 });
  });

  it('bye token_expired: logs in again and goes on with the same session', async () => {
    const { harness, socket } = await online();
    socket.say({
      type: 'bye',
      code: 'token_expired',
      csError: 'authError',
      message: 'expired',
      retry: true,
      retryAfterMs: 1000,
    });
    await harness.run(900);
    expect(harness.posts).toHaveLength(1);
    await harness.run(1200);
    expect(harness.posts).toHaveLength(2);
    harness.socket().welcome();
    expect(harness.socket().messages[0]?.session).toBe(socket.messages[0]?.session);
  });

  it('takes the session that its first token names, and the newest where another one begins (spec: AUTH-02)', async () => {
    let logins = 0;
    const { harness, qos, socket } = await online(
      startHarness(() => token(Date.now(), { session: `session ${++logins}` })),
    );
    expect(socket.messages[0]?.session).toBe('session 1');
    await harness.run(0.95 * 7_200_000 + 1000);
    expect(logins).toBe(2);
    socket.drop();
    await harness.run(2000);
    harness.socket().welcome();
    expect(harness.socket().messages[0]).toMatchObject({ type: 'hello', session: 'session 1' });
    qos.initialize('demo', (_f, callback) => callback(null, 'jwt'), 'carol', null, null, { backendUrl });
    await harness.run();
    harness.socket().welcome();
    expect(harness.socket().messages[0]).toMatchObject({ type: 'hello', session: `session ${logins}` });
    expect(logins).toBeGreaterThan(2);
  });

  it('a token that is known no more: one fresh login, then it is final (spec: AUTH-06, AUTH-07)', async () => {
    const { harness, qos, socket } = await online();
    const refusal = { type: 'bye', code: 'auth_failed', csError: 'authError', message: 'who?', retry: false };
    add(qos, new FakePeerConnection());
    const refuse = async () => {
      harness.socket().open();
      harness.socket().say(refusal);
      await harness.run(2000);
    };
    await refuse();
    expect(harness.posts).toHaveLength(2);
    expect(harness.inits.map(([e]) => e)).toEqual(['success']);
    harness.socket().welcome();
    expect(harness.socket().of('event')[0]).toEqual(socket.of('event')[0]);
    await refuse(); // a second change of keys
    expect(harness.posts).toHaveLength(3);
    await refuse();
    expect(harness.posts).toHaveLength(3);
    expect(harness.inits.at(-1)).toEqual(['authError', 'who?']);
    const sockets = FakeSocket.all.length;
    await harness.run(300_000);
    expect([FakeSocket.all.length, harness.posts.length]).toEqual([sockets, 3]);
  });

  it('bye without retry: stays away until initialize() comes again (spec: INIT-06)', async () => {
    const { harness, qos, socket } = await online();
    add(qos, new FakePeerConnection());
    socket.drop();
    await harness.run(1000);
    harness.socket().open();
    const bye = {
      type: 'bye',
      code: 'version_unsupported',
      csError: 'csProtoError',
      message: 'version 1',
      retry: false,
    };
    harness.socket().say(bye);
    await harness.run(300_000);
    expect(FakeSocket.all).toHaveLength(2);
    expect(harness.inits.at(-1)).toEqual(['csProtoError', 'version 1']);
    qos.initialize(
      'demo',
      (_f, callback) => callback(null, 'jwt2'),
      'alice',
      (e, m) => harness.inits.push([e, m]),
      null,
      { backendUrl },
    );
    await harness.run();
    harness.socket().welcome();
    await harness.run();
    expect(harness.socket().of('event')[0]).toMatchObject({ seq: 1, event: 'fabricAdded' });
    expect(harness.inits.at(-1)).toEqual(['success', 'authenticated']);
  });

  it.each(['hello_expected', 'malformed', 'too_many', 'frame_too_large'])(
    'a bye %s silences nobody, though an older collector means it so (spec: SRV-04)',
    async (code) => {
      vi.spyOn(Math, 'random').mockReturnValue(0.999);
      const { harness, qos, socket } = await online();
      add(qos, new FakePeerConnection());
      socket.say({ type: 'bye', code, csError: 'csProtoError', message: 'no', retry: false });
      for (const waitMs of [1000, 2000, 4000]) {
        const before = FakeSocket.all.length;
        await harness.run(waitMs - 100);
        expect(FakeSocket.all).toHaveLength(before); // with back-off
        await harness.run(100);
        expect(FakeSocket.all).toHaveLength(before + 1);
        if (code === 'hello_expected') harness.socket().open();
        else harness.socket().welcome();
        harness.socket().say({ type: 'bye', code, csError: 'csProtoError', message: 'no', retry: false });
      }
      expect(qos.sendFabricEvent(null, 'dominantSpeaker', conference).status).toBe('success');
      await harness.run(8000);
      harness.socket().welcome();
      expect(
        harness
          .socket()
          .of('event')
          .map((m) => m.seq),
      ).toEqual([1, 2]);
      await harness.run();
      const reported = ['success', 'csProtoError'];
      const outages = code === 'hello_expected' ? 1 : 4; // a welcome ends one
      expect(harness.inits.map(([e]) => e)).toEqual([...Array(outages).fill(reported).flat(), 'success']);
    },
  );

  describe('after a final refusal (spec: INIT-06, INIT-07, FAB-12)', () => {
    async function silenced() {
      const { harness, qos, socket } = await online();
      const pc = new FakePeerConnection();
      add(qos, pc);
      socket.say({ type: 'bye', code: 'origin_denied', csError: 'authError', message: 'not from there', retry: false });
      const door = { type: 'error', code: 'origin_denied', csError: 'authError', message: 'not from there' };
      vi.stubGlobal('fetch', async () => ({ status: 403, text: async () => JSON.stringify(door) }));
      await harness.run(2000);
      return { harness, qos, pc };
    }
    const reason = 'initialize() again: not from there';

    it('operations answer failure and say why; pcCallbacks hear it, once', async () => {
      const { harness, qos, pc } = await silenced();
      const heard: [string, string, string][] = [];
      const hear = (who: string) => (err: string, msg: string) => heard.push([who, err, msg]);
      const answers = [
        qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', 'b', null, hear('new')),
        qos.addNewFabric(pc, 'bob', 'multiplex', conference, null, hear('again')),
        qos.sendUserFeedback(conference, { userID: 'alice', overall: 5 }, hear('feedback')),
        qos.sendFabricEvent(pc, 'audioMute', conference),
        qos.reportError(pc, conference, 'createOffer', new Error('no')),
        qos.reportUserIDChange(pc, conference, 'bobby', 'remote'),
        qos.associateMstWithUserID(pc, 'bob', conference, 1, 'label'),
        qos.sendCallDetails(pc, conference, { callType: 'inbound', role: 'agent' } as never),
        qos.sendCustomEvent(pc, conference, ['x']),
        qos.sendFabricEvent(pc, 'fabricTerminated', conference),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 'failure'));
      for (const { msg } of answers) expect(msg).toContain(reason);
      expect(heard).toEqual([]); // never synchronously
      await harness.run();
      const reported = ['authError', 'not from there'];
      expect(heard).toEqual([
        ['new', ...reported],
        ['again', ...reported],
        ['feedback', ...reported],
      ]);
      expect(qos.on('stats', () => undefined).status).toBe('success'); // it needs no session
    });

    it('what was said waits all the same, and goes after another initialize()', async () => {
      const { harness, qos, pc } = await silenced();
      const heard: string[] = [];
      qos.addNewFabric(new FakePeerConnection(), 'bob', 'multiplex', 'b', null, (err) => heard.push(err));
      qos.sendFabricEvent(pc, 'audioMute', conference);
      vi.stubGlobal('fetch', async () => ({ status: 200, text: async () => token().body }));
      qos.initialize('demo', (_f, callback) => callback(null, 'jwt2'), 'alice', null, null, { backendUrl });
      expect(qos.sendFabricEvent(pc, 'audioUnmute', conference)).toEqual({ status: 'success', msg: '', message: '' });
      await harness.run();
      harness.socket().welcome();
      harness.socket().say({ type: 'ack', seq: 100 });
      await harness.run();
      expect(
        harness
          .socket()
          .of('event')
          .map((m) => m.event),
      ).toEqual(['fabricAdded', 'fabricAdded', 'audioMute', 'audioUnmute']);
      expect(heard).toEqual(['authError']); // exactly once (FAB-12)
    });
  });

  it('a generator that fails in mid-call is asked again: it worked before (spec: AUTH-06, SRV-04)', async () => {
    const harness = startHarness();
    let failing = false;
    const qos = makeQos()();
    const generator = (_f: boolean, callback: (e: unknown, t?: string) => void) =>
      failing ? callback('the origin server is away') : callback(null, 'jwt');
    qos.initialize('demo', generator, 'alice', (e, m) => harness.inits.push([e, m]), null, { backendUrl });
    await harness.run(1000);
    harness.socket().welcome();
    failing = true;
    harness.socket().say({ type: 'bye', code: 'token_expired', csError: 'authError', message: 'over', retry: true });
    await harness.run(20_000);
    expect(harness.inits.map(([e]) => e)).toEqual(['success', 'tokenGenerationError']);
    failing = false;
    await harness.run(60_000);
    expect(harness.inits.map(([e]) => e).slice(0, 3)).toEqual(['success', 'tokenGenerationError', 'success']);
  });

  it('another user: the fabrics of the first end and a new session begins (spec: INIT-06)', async () => {
    const { harness, qos, socket } = await online();
    const pc = new FakePeerConnection();
    add(qos, pc);
    qos.initialize('demo', (_f, callback) => callback(null, 'jwt'), 'carol', null, null, { backendUrl });
    await harness.run();
    expect(socket.of('event').map((m) => m.event)).toContain('fabricTerminated');
    expect(pc.listenerCount).toBe(0);
    const other = harness.socket();
    other.welcome();
    expect(other.messages[0]?.session).not.toBe(socket.messages[0]?.session);
    socket.say({ type: 'ack', seq: 100 });
    await harness.run(1000);
    expect(socket.of('bye')).toHaveLength(1);
    expect(socket.closed).toBe(true);
    expect(other.closed).toBe(false);
  });

  it('takes no nonsense to heart', async () => {
    const { socket, qos } = await online();
    socket.onmessage?.({ data: 'nonsense' });
    socket.say([] as never);
    socket.say({ type: 'ack' });
    socket.say({ type: 'unheard-of' });
    socket.say({ type: 'nack', code: 'malformed', csError: 'csProtoError', message: 'x' });
    qos.sendFabricEvent(null, 'dominantSpeaker', conference);
    expect(socket.of('event')).toHaveLength(1);
  });

  it('renews the token before it ends', async () => {
    const { harness, socket } = await online();
    await harness.run(7_200_000 * 0.95 + 1000);
    expect(harness.posts.filter((p) => p.url.endsWith('/auth'))).toHaveLength(2);
    expect(socket.closed).toBe(false);
  });
});

describe('failures of the login (spec: AUTH-07)', () => {
  const outcome = async (door: Door, ms = 100) => {
    const harness = startHarness(door);
    connect(harness, { backendUrl });
    await harness.run(ms);
    return harness;
  };

  it('a refusal is final', async () => {
    const refusal = { type: 'error', code: 'origin_denied', csError: 'authError', message: 'this origin may not' };
    const harness = await outcome(() => ({ status: 403, body: JSON.stringify(refusal) }), 600_000);
    expect(harness.inits).toEqual([['authError', 'this origin may not']]);
    expect(harness.posts).toHaveLength(1);
  });

  it('a refused token is asked for anew, once (spec: AUTH-06)', async () => {
    const forced: boolean[] = [];
    const harness = startHarness(() => ({
      status: 401,
      body: JSON.stringify({ type: 'error', code: 'auth_failed', csError: 'authError', message: 'no' }),
    }));
    makeQos()().initialize(
      'demo',
      (forceNew, cb) => {
        forced.push(forceNew);
        cb(null, 'jwt');
      },
      'alice',
      (e, m) => harness.inits.push([e, m]),
    );
    await harness.run(100_000);
    expect(forced).toEqual([false, true]);
    expect(harness.inits).toEqual([['authError', 'no']]);
  });

  it('a fetch that never settles, and knows no signal, is an outage (spec: LIB-07)', async () => {
    let dead = true;
    const harness = await outcome(() => (dead ? never : token()), 19_900);
    expect(harness.inits).toEqual([]);
    dead = false; // before the wait, which may be short
    await harness.run(3000);
    expect(harness.inits).toEqual([
      ['httpError', 'no answer within 20 s'],
      ['success', 'authenticated'],
    ]);
  });

  it('a broken network is tried again', async () => {
    let up = false;
    const harness = await outcome(() => (up ? token() : new Error('Failed to fetch')));
    expect(harness.inits).toEqual([['httpError', 'Failed to fetch']]);
    up = true;
    await harness.run(3000);
    expect(harness.inits.at(-1)).toEqual(['success', 'authenticated']);
  });

  it('throttling is heeded, also by a page that is shown again', async () => {
    const listeners = new Map<string, (event: unknown) => void>();
    vi.stubGlobal('addEventListener', (type: string, listener: (event: unknown) => void) =>
      listeners.set(type, listener),
    );
    vi.stubGlobal('removeEventListener', () => undefined);
    let calls = 0;
    const harness = await outcome(() => {
      calls++;
      return throttled(30_000);
    }, 1000);
    listeners.get('online')?.({ type: 'online' });
    listeners.get('pageshow')?.({ type: 'pageshow', persisted: true });
    await harness.run(28_000);
    expect(calls).toBe(1);
    await harness.run(2000);
    expect(calls).toBe(2);
  });

  it('a bye proves that WebSockets get there', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0); // no back-off
    const harness = await outcome(() => token());
    const refuse = async (bye?: object) => {
      if (bye) harness.socket().say(bye);
      else harness.socket().drop();
      await harness.run(100);
    };
    await refuse();
    await refuse();
    await refuse({ type: 'bye', code: 'throttled', csError: 'wsChannelFailure', message: 'slowly', retry: true });
    await refuse();
    expect(harness.posts.every((p) => p.url.endsWith('/auth'))).toBe(true);
    await refuse();
    await refuse();
    expect(harness.posts.some((p) => p.url.endsWith('/frames'))).toBe(true);
  });

  it.each<[string, (force: boolean, cb: (e: unknown, t?: string) => void) => unknown, string]>([
    ['says an error', (_f, cb) => cb('not logged in'), 'not logged in'],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      'broken',
    ],
    ['gives no token', (_f, cb) => cb(null), 'the token generator gave no token'],
    ['is silent', () => undefined, 'the token generator gave no answer within 10 s'],
  ])('a token generator that %s (spec: AUTH-06)', async (_, generator, message) => {
    const harness = startHarness();
    makeQos()().initialize('demo', generator, 'alice', (e, m) => harness.inits.push([e, m]));
    await harness.run(11_000);
    expect(harness.inits).toEqual([['tokenGenerationError', message]]);
  });

  it('a late token is still used, and both shapes of generator work (spec: AUTH-06)', async () => {
    const harness = startHarness();
    const generator = () => (_force: boolean, cb: (e: unknown, t?: string) => void) => {
      setTimeout(() => cb(null, 'late'), 20_000);
    };
    makeQos()().initialize('demo', generator, 'alice', (e, m) => harness.inits.push([e, m]));
    await harness.run(21_000);
    expect(harness.inits.map(([e]) => e)).toEqual(['tokenGenerationError', 'success']);
  });
});

describe('a page that goes (spec: FAB-08)', () => {
  async function page(config: object = {}, door?: Door) {
    const listeners = new Map<string, (event: unknown) => void>();
    vi.stubGlobal('addEventListener', (type: string, listener: (event: unknown) => void) =>
      listeners.set(type, listener),
    );
    vi.stubGlobal('removeEventListener', () => undefined);
    const harness = startHarness(door);
    const { qos } = connect(harness, { backendUrl, ...config });
    await harness.run();
    harness.socket().welcome();
    add(qos, new FakePeerConnection());
    return { listeners, harness, qos };
  }

  it('ends its fabrics and hands the rest to a request that outlives it', async () => {
    const { listeners, harness } = await page();
    expect([...listeners.keys()].sort()).toEqual(['online', 'pagehide', 'pageshow']); // neither unload nor beforeunload
    listeners.get('pagehide')?.({ persisted: false });
    const flush = harness.posts.at(-1);
    expect(flush?.url).toBe(`${backendUrl}/frames`);
    expect(flush?.init).toMatchObject({ keepalive: true });
    const sent = lines(flush?.body ?? '');
    expect(sent.map((m) => m.event ?? m.type)).toEqual([
      'hello',
      'fabric',
      'fabricAdded',
      'fabricSetupFailed',
      'fabricTerminated',
    ]);
    expect(sent.at(-2).data).toMatchObject({ stage: 'noRemoteDescription', reason: 'pagehide' });
    expect(sent.at(-1).data).toEqual({ reason: 'pagehide' });
  });

  it('takes them up again when it comes back from the back/forward cache', async () => {
    const { listeners, harness } = await page();
    listeners.get('pagehide')?.({ persisted: true });
    const names = (messages: Record<string, unknown>[]) => messages.map((m) => m.event ?? m.type);
    expect(names(lines(harness.posts.at(-1)?.body ?? ''))).toContain('fabricTerminated');
    expect(harness.socket().closed).toBe(true);
    await harness.run(5000);
    listeners.get('pageshow')?.({ type: 'pageshow', persisted: true });
    await harness.run();
    harness.socket().welcome();
    const sent = harness.socket().messages;
    expect(sent.filter((m) => m.type === 'fabric').map((m) => m.fabric)).toEqual([1, 2]);
    expect(sent.at(-1)).toMatchObject({ event: 'fabricAdded', fabric: 2 });
  });

  it.each([0, 60_000])('asks again after it was there, whatever becomes of what it had asked (%i ms)', async (ms) => {
    let dead = false;
    const { listeners, harness } = await page({}, () => (dead ? never : token()));
    dead = true;
    harness.socket().say({ type: 'bye', code: 'token_expired', csError: 'authError', message: 'over', retry: true });
    await harness.run(3000);
    const asked = harness.posts.length;
    listeners.get('pagehide')?.({ persisted: true });
    dead = false;
    await harness.run(ms);
    listeners.get('pageshow')?.({ type: 'pageshow', persisted: true });
    await harness.run();
    expect(harness.posts.slice(asked).filter((post) => post.url.endsWith('/auth'))).toHaveLength(1);
    harness.socket().welcome();
    expect(harness.socket().messages.at(-1)).toMatchObject({ event: 'fabricAdded' });
  });

  it('out of sight it hands over what waits, for it may be ended there; a good channel has sent it', async () => {
    const heard = new Map<string, (event: object) => void>();
    vi.stubGlobal('document', {
      visibilityState: 'hidden',
      addEventListener: (type: string, listener: (event: object) => void) => heard.set(type, listener),
    });
    const { harness, qos } = await page();
    heard.get('visibilitychange')?.({ type: 'visibilitychange' });
    expect(harness.posts).toHaveLength(1); // the login
    harness.socket().drop();
    qos.sendCustomEvent(null, conference, [{ name: 'late' }]);
    heard.get('visibilitychange')?.({ type: 'visibilitychange' });
    const flush = harness.posts.at(-1);
    expect(flush?.init).toMatchObject({ keepalive: true });
    expect(lines(flush?.body ?? '').at(-1)).toMatchObject({ event: 'customEvent', data: { name: 'late' } });
    // It may come back: nothing is dropped for the sake of one request.
    for (let i = 0; i < 60; i++) qos.sendCustomEvent(null, conference, [{ name: 'x'.repeat(3000) }]);
    heard.get('visibilitychange')?.({ type: 'visibilitychange' });
    expect(Buffer.byteLength(harness.posts.at(-1)?.body ?? '')).toBeLessThanOrEqual(65_536);
    await harness.run(5000);
    harness.socket().welcome();
    expect(harness.socket().of('event')).toHaveLength(62);
    expect(harness.socket().of('skip')).toEqual([]);
  });

  it('out of sight, with more than a request takes, it hands over what was not sent before', async () => {
    const heard = new Map<string, (event: object) => void>();
    vi.stubGlobal('document', {
      visibilityState: 'hidden',
      addEventListener: (type: string, listener: (event: object) => void) => heard.set(type, listener),
    });
    const { harness, qos } = await page();
    for (let i = 0; i < 30; i++) qos.sendCustomEvent(null, conference, [{ name: 'x'.repeat(3000) }]);
    await harness.run();
    expect(harness.socket().of('event').length).toBeGreaterThanOrEqual(30);
    harness.socket().drop();
    qos.sendCustomEvent(null, conference, [{ name: 'late' }]);
    heard.get('visibilitychange')?.({ type: 'visibilitychange' });
    const events = lines(harness.posts.at(-1)?.body ?? '').filter((m) => m.type === 'event');
    expect(events.map((m) => m.data)).toEqual([{ name: 'late' }]);
  });

  it('ends a fabric once, though the page goes before the last reading', async () => {
    const { listeners, harness, qos } = await page();
    const pc = new FakePeerConnection();
    add(qos, pc);
    pc.connect();
    pc.getStats = () => new Promise(() => {});
    await harness.run(100);
    expect(qos.sendFabricEvent(pc, 'fabricTerminated', conference).status).toBe('success');
    listeners.get('pagehide')?.({ persisted: false });
    const ends = lines(harness.posts.at(-1)?.body ?? '').filter((m) => m.event === 'fabricTerminated');
    expect(ends.filter((m) => m.fabric === 2).map((m) => m.data)).toMatchObject([{ reason: 'application' }]);
  });

  it('stays silent after a final refusal, whatever becomes of the page', async () => {
    const { listeners, harness } = await page();
    harness.socket().drop();
    await harness.run(1000);
    const bye = { type: 'bye', code: 'version_unsupported', csError: 'csProtoError', message: 'no', retry: false };
    harness.socket().say(bye);
    const before = [FakeSocket.all.length, harness.posts.length];
    listeners.get('online')?.({ type: 'online' });
    await harness.run(60_000);
    expect([FakeSocket.all.length, harness.posts.length]).toEqual(before);
  });

  it('ends what was closed by the time it is out of sight (spec: FAB-08)', async () => {
    const heard = new Map<string, (event: object) => void>();
    vi.stubGlobal('document', {
      visibilityState: 'hidden',
      addEventListener: (type: string, listener: (event: object) => void) => heard.set(type, listener),
    });
    const { harness, qos } = await page({ disableBeforeUnloadHandler: true });
    const pc = new FakePeerConnection();
    add(qos, pc);
    pc.signalingState = 'closed';
    heard.get('visibilitychange')?.({ type: 'visibilitychange' });
    expect(harness.socket().messages.at(-1)).toMatchObject({ event: 'fabricTerminated', data: { reason: 'closed' } });
  });

  it('says that a closed connection was closed when it goes itself (spec: FAB-08)', async () => {
    const { listeners, harness, qos } = await page();
    const pc = new FakePeerConnection();
    add(qos, pc);
    pc.signalingState = 'closed';
    listeners.get('pagehide')?.({ persisted: false });
    const ends = lines(harness.posts.at(-1)?.body ?? '').filter((m) => m.event === 'fabricTerminated');
    expect(ends.map((m) => [m.fabric, m.data.reason])).toEqual([
      [2, 'closed'],
      [1, 'pagehide'],
    ]);
  });

  it('a hang-up leaves at once where WebSockets are refused: once for all fabrics (spec: FAB-08)', async () => {
    const { harness, qos } = await page();
    harness.socket().drop();
    const pcs = [new FakePeerConnection(), new FakePeerConnection()];
    for (const pc of pcs) add(qos, pc);
    const before = harness.posts.length;
    for (const pc of pcs) qos.sendFabricEvent(pc, 'fabricTerminated', conference);
    await harness.run();
    expect(harness.posts).toHaveLength(before + 1);
    const flush = harness.posts.at(-1);
    expect(flush?.init).toMatchObject({ keepalive: true });
    expect(
      lines(flush?.body ?? '')
        .filter((m) => m.event === 'fabricTerminated')
        .map((m) => m.fabric),
    ).toEqual([2, 3]);
  });

  it('is left alone with disableBeforeUnloadHandler (spec: INIT-04)', async () => {
    const { listeners } = await page({ disableBeforeUnloadHandler: true });
    expect([...listeners.keys()].sort()).toEqual(['online', 'pageshow']);
  });

  it('stays within 64 KiB', async () => {
    const { listeners, harness, qos } = await page();
    harness.socket().drop();
    for (let i = 0; i < 60; i++) qos.sendCustomEvent(null, conference, [{ name: 'x'.repeat(3000) }]);
    listeners.get('pagehide')?.({ persisted: false });
    const { body } = harness.posts.at(-1) ?? { body: '' };
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(65_536);
    const sent = lines(body);
    const skip = sent.find((m) => m.type === 'skip');
    expect(skip?.lost).toMatchObject([{ fabric: 1, stats: 0 }]); // of the conference: it is to hear of it (spec: STAT-07)
    expect(sent.at(-1)).toMatchObject({ event: 'fabricTerminated' });
  });
});
