// One user's session: the queue, the way to the collector and the fabrics (protocol 2).

import { login, type Token } from './auth.ts';
import { isGenuine } from './brand.ts';
import { createClock, pageClocks } from './clock.ts';
import type { Config } from './config.ts';
import { createFabric, type Fabric, type FabricDescription, type FabricEnv, type FabricInfo } from './fabric.ts';
import { isClosed } from './lifecycle.ts';
import { watchPage } from './page.ts';
import { createQueue, type Frame, maxEntryBytes, once } from './queue.ts';
import { attempt, Invalid, json } from './result.ts';
import { columnsLine } from './stats/measures.ts';
import { defaultBounds } from './stats/quality.ts';
import { createTimer } from './timer.ts';
import { createTransport } from './transport.ts';
import type { CsError, FabricStats, PcCallback, TokenGenerator, UserID } from './types.ts';
import { cutBytes, isGiven } from './validate.ts';
import { version } from './version.ts';
import { readWifi, type WifiHandler } from './wifi.ts';

/** What initialize() says. */
export interface SessionInfo {
  base: string;
  appID: string;
  appSecret: string | TokenGenerator;
  userID: UserID;
  config: Config;
}

/** What a session needs of its instance. */
export interface SessionEnv {
  /** A result of initialize() or of sending. */
  report(csError: CsError, msg: string): void;
  /** Whether anybody takes stats. */
  listening(): boolean;
  deliver(stats: FabricStats): void;
  wifi(): WifiHandler | undefined;
  /** Every PeerConnection that addNewFabric() got, with the conferences that it was added to. */
  known: WeakMap<object, Set<string>>;
}

const graceMs = 10_000;
const keptEnded = 256;
const longMs = 5000; // between measurements: states are looked at in the middle too
const longestMs = 20_000; // between two measurements, whatever the interval (SRV-04)

/** A user's session from initialize() on. */
export type Session = ReturnType<typeof createSession>;

export function createSession(first: SessionInfo, env: SessionEnv) {
  const { base, appID } = first;
  const clock = createClock(pageClocks);
  const queue = createQueue(clock);
  let info = first;
  const config = () => info.config;
  /** By conference, the local user since reportUserIDChange(). */
  const renamed = new Map<string, UserID>();
  let fabrics: Fabric[] = [];
  let endedFabrics: FabricInfo[] = [];
  /** What was monitored when the page went into the back/forward cache. */
  let left: Fabric[] = [];
  /** How each fabric is announced: always in the same words, so that its number means the same all session. */
  const announcements = new Map<number, () => string>();
  /** The results that the application got since the last change between success and outage. */
  const reportedErrors = new Set<CsError>();
  let id = '';
  let lastFabric = 0;
  let intervalMs = 10_000;
  let bounds = defaultBounds;
  let urlTemplate = '';
  /** By fabric, as of the last welcome. */
  let urls = new Map<number, string | null>();
  let measuredMs = clock.mono();
  let unwatchPage = () => {};
  let leaving = false;
  const beat = createTimer(); // of the measurements
  const poll = createTimer(); // of the states

  const alive = (conferenceID?: string) =>
    fabrics.filter((f) => !f.ended() && (conferenceID === undefined || f.info.conferenceID === conferenceID));

  function hello(token: Token | null): object {
    const at = clock.time(clock.stamp());
    // Renewals bring ids too: the session keeps its first one.
    id ||= token?.session ?? '';
    const { applicationVersion, siteID, additionalIDs } = config();
    const userAgent = globalThis.navigator?.userAgent;
    return {
      type: 'hello',
      versions: [1],
      token: token?.token,
      session: id,
      acked: queue.lastAcked(),
      at,
      library: version,
      userAgent: userAgent ? cutBytes(userAgent, 512) : undefined,
      applicationVersion,
      siteID,
      additionalIDs,
    };
  }

  function welcomed({ statsIntervalMs, conferenceURL, labels }: Record<string, unknown>): void {
    measureEvery(Number(statsIntervalMs));
    if (typeof conferenceURL === 'string') urlTemplate = conferenceURL;
    urls = new Map();
    const mos = (labels as { mos?: unknown } | undefined)?.mos;
    if (Array.isArray(mos) && mos.length === 4) bounds = mos.map(Number);
  }

  function measureEvery(ms: number): void {
    if (!(ms >= 2000 && ms <= 20_000) || ms === intervalMs) return;
    intervalMs = ms;
    startBeat();
  }

  /** Once per outage and kind, and success when sending works again (INIT-05). */
  function report(csError: CsError, msg: string): void {
    if (reportedErrors.has(csError)) return;
    if (csError === 'success') reportedErrors.clear();
    reportedErrors.delete('success');
    reportedErrors.add(csError);
    env.report(csError, msg);
  }

  const transport = createTransport({
    base,
    clock,
    queue,
    login: (renew, late) => login({ url: `${base}auth`, clock, late }, info, renew),
    hello,
    fabricLine: (fabric) => announcements.get(fabric)?.() ?? '',
    columnsLine,
    welcomed,
    statsInterval: measureEvery,
    report,
  });

  function send(frame: Frame): number {
    const taken = queue.push(frame);
    // What was measured together goes together, when all have answered: a message and its
    // answer alone cost the page several times what they cost among others.
    if (frame.type !== 'stats') transport.pump();
    return taken;
  }

  /** All fabrics are measured at once. The first time is any, so that pages do not line up (STAT-01). */
  function startBeat(): void {
    // However often the interval changes, no measurement is put off for ever.
    const latestMs = measuredMs + longestMs - clock.mono();
    measureIn(Math.min(intervalMs * (0.5 + Math.random() / 2), latestMs));
  }

  /** A task of its own is what a look costs most: a measurement looks too, so one between them is enough. */
  function measureIn(ms: number): void {
    beat(ms, measure);
    if (ms >= longMs) poll(ms / 2, look);
  }

  function measure(): void {
    measuredMs = clock.mono();
    if (!fabrics.length) return;
    measureIn(intervalMs);
    let awaited = fabrics.length;
    for (const fabric of fabrics) fabric.measure().then(() => --awaited || transport.pump());
    transport.pump(); // what waits for one that has not answered since the last time
    askWifi();
  }

  /** Looks at the states of all fabrics. */
  function look(): void {
    for (const fabric of fabrics) fabric.look();
  }

  function conferenceURL({ fabric, conferenceID, addedAt }: FabricInfo): string | null {
    const known = urls.get(fabric);
    if (known !== undefined) return known;
    const values: Record<string, unknown> = { appID, conferenceID, at: clock.time(addedAt) };
    const url =
      urlTemplate.replace(/\{(\w+)\}/g, (all, name) => encodeURIComponent(String(values[name] ?? all))) || null;
    urls.set(fabric, url);
    return url;
  }

  function ended(fabric: Fabric): void {
    fabrics = fabrics.filter((other) => other !== fabric);
    // What still comes for the conference needs it; the PeerConnection is let go.
    endedFabrics = [...endedFabrics, fabric.info].slice(-keptEnded);
    urls.delete(fabric.info.fabric);
    for (const id of renamed.keys()) if (!conference(id)) renamed.delete(id);
    if (announcements.size <= 2 * keptEnded) return;
    // Forgets how to announce fabrics that have ended and that no frame is about any more.
    const lost = queue.waiting().flatMap((entry) => entry.lost);
    const needed = new Set([...fabrics.map((f) => f.info), ...lost].map(({ fabric }) => fabric));
    for (const number of announcements.keys()) if (!needed.has(number)) announcements.delete(number);
  }

  const fabricEnv: FabricEnv = {
    ...env,
    clock,
    enqueue: send,
    ended,
    urlOf: conferenceURL,
    config,
    localUser: (conferenceID) => renamed.get(conferenceID) ?? info.userID,
    labelBounds: () => bounds,
    online: transport.online,
    leave,
    // With others there it joins their beat.
    connected: () => fabrics.length > 1 || startBeat(),
  };

  function addFabric(pc: object, description: FabricDescription, pcCallback?: PcCallback): Fabric {
    const { conferenceID } = description;
    const newUserID = !alive(conferenceID).length && renamed.get(conferenceID);
    const fabricInfo = { ...description, fabric: ++lastFabric, addedAt: clock.stamp() };
    announcements.set(
      lastFabric,
      once(() => json({ type: 'fabric', ...fabricInfo, addedAt: clock.time(fabricInfo.addedAt) })),
    );
    env.known.get(pc)?.add(conferenceID);
    const first = !fabrics.length;
    if (first) measuredMs = clock.mono();
    const fabric = createFabric(pc, fabricInfo, fabricEnv, pcCallback);
    fabrics.push(fabric);
    // To the collector it may be another conference by now, where nobody was renamed yet.
    if (newUserID) fabric.rename('local', newUserID);
    if (first) startBeat();
    return fabric;
  }

  /** The last fabric of that conference. */
  const conference = (conferenceID: string) =>
    [...endedFabrics, ...fabrics.map((f) => f.info)].filter((known) => known.conferenceID === conferenceID).at(-1);

  /** Whether pc was a fabric of that conference, and is none any more. */
  const hasEnded = (pc: unknown, conferenceID: string) =>
    Boolean(env.known.get(pc as object)?.has(conferenceID)) && !alive(conferenceID).some((f) => f.pc === pc);

  /** The live fabric that pc stands for: itself, or the only one that fits a wrapper or a look-alike (API-12). */
  function standsFor(pc: unknown, conferenceID: string, ssrc?: number): Fabric {
    const here = alive(conferenceID);
    const own = here.find((f) => f.pc === pc);
    if (own) return own;
    if (hasEnded(pc, conferenceID)) throw new Invalid(over);
    const heard = here.filter((f) => f.hasStream(ssrc));
    const itself = env.known.has(pc as object) || isGenuine(pc);
    const fits = itself ? [] : heard.length ? heard : here;
    if (fits.length === 1) return fits[0] as Fabric;
    throw new Invalid(`pc is no fabric of this conferenceID, ${fits.length} fit`);
  }

  /** Records frames of a fabric, or of the conference, and returns their numbers. */
  function recorder(fabric: Fabric | undefined, conferenceID: string) {
    const number = fabric?.info.fabric;
    const last = conference(conferenceID);
    // Should it be dropped, its conference is to hear of it: by a fabric that can still be announced.
    const ofConference = number ?? last?.fabric ?? 0;
    return (type: Frame['type'], members: object, done?: Frame['done']): number => {
      const stamp = clock.stamp();
      const taken = send({
        type,
        stamp,
        done,
        fabric: announcements.has(ofConference) ? ofConference : 0,
        insideAt: fabric ? undefined : (last?.addedAt ?? stamp),
        members: fabric ? { fabric: number, ...members } : { conferenceID, ...members },
      });
      if (!taken) throw new Invalid(`the frame is over ${maxEntryBytes} bytes`);
      return taken;
    };
  }

  /** A page that may come back ends its fabrics too: nobody knows whether it will. */
  function hidden(kept: boolean): void {
    look(); // nothing reports a close()
    left = kept ? alive() : [];
    for (const fabric of [...fabrics]) fabric.end('pagehide', true);
    transport.flush();
    // An open connection would keep the page out of the back/forward cache.
    if (kept) transport.rest();
  }

  function shown(returned: boolean): void {
    const back = returned ? left.splice(0) : [];
    for (const before of back) if (!isClosed(before.pc)) before.handOver(addFabric(before.pc, before.asNamed()));
    transport.wake();
  }

  /** Sends what waits, once for all that ends together. */
  function leave(): void {
    if (!leaving)
      queueMicrotask(() => {
        leaving = false;
        transport.covered();
      });
    leaving = true;
  }

  /** The page is out of sight: what was closed by then has ended. */
  function covered(): void {
    look();
    transport.covered();
  }

  async function askWifi(): Promise<void> {
    const handler = env.wifi();
    const sample = handler && (await readWifi(handler, config().collectIP));
    if (!sample) return;
    // One fabric of each conference tells.
    for (const fabric of new Map(fabrics.map((f) => [f.info.conferenceID, f])).values())
      fabric.emit('wifiStats', sample);
  }

  function start(): void {
    unwatchPage();
    unwatchPage = watchPage({ hidden, shown, covered }, !config().disableBeforeUnloadHandler);
    transport.restart();
  }

  start();
  return {
    standsFor,
    hasEnded,
    recorder,
    addFabric,

    /** Whether initialize() with these arguments goes on with this session (INIT-06). */
    continues: (next: SessionInfo) => identityOf(next) === identityOf(info),

    /** initialize() again for the same user: logs in anew, keeps fabrics and queue. */
    again(next: SessionInfo): void {
      info = next;
      reportedErrors.clear();
      start();
    },

    /** Ends the session for another one. */
    retire(): void {
      for (const fabric of [...fabrics]) fabric.end('replaced', true);
      unwatchPage();
      beat();
      poll();
      transport.stop(graceMs);
    },

    /** Why nothing is sent until the next initialize(). */
    halted: transport.halted,

    config,

    /** Names the local user of a conference from now on. */
    setLocalUser(conferenceID: string, userID: UserID): void {
      renamed.set(conferenceID, userID);
    },

    /** Whether there is nothing to add: it is monitored, or it was and is closed by now. */
    monitors: (pc: object, conferenceID: string) =>
      alive(conferenceID).some((f) => f.pc === pc) || (Boolean(env.known.get(pc)?.size) && isClosed(pc)),

    /** Records what pc's fabric did, or the conference where pc stands for none (API-12, FAB-11). */
    scope: (pc: unknown, conferenceID: string) =>
      recorder(isGiven(pc) ? attempt(() => standsFor(pc, conferenceID)) : undefined, conferenceID),
  };
}

const identityOf = ({ appID, base, userID }: SessionInfo) => json([appID, base, userID]);

/** Why an operation on a fabric that was is refused. */
export const over = 'the fabric has ended already';
