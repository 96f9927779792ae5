// One user's session: the queue, the way to the collector and the fabrics (protocol 2).

import { type AuthEnv, login, type Refusal } from './auth.ts';
import { createClock, pageClocks, type Stamp } from './clock.ts';
import type { Config } from './config.ts';
import { Fabric, type FabricEnv, type FabricInfo } from './fabric.ts';
import { isClosed } from './lifecycle.ts';
import { watchPage } from './page.ts';
import { type Frame, Queue } from './queue.ts';
import { columnsLine } from './stats/columns.ts';
import { defaultBounds } from './stats/quality.ts';
import { Transport } from './transport.ts';
import type { CsError, FabricStats, PcCallback, TokenGenerator, UserID } from './types.ts';
import { uuidv7 } from './uuid.ts';
import { cutBytes, sameUser } from './validate.ts';
import { version } from './version.ts';
import { readWifi, type WifiHandler } from './wifi.ts';

/** What initialize() says. */
export interface SessionInfo {
  base: string;
  appID: string;
  secret: string | TokenGenerator;
  userID: UserID;
  config: Config;
}

/** What a session needs of its instance. */
export interface SessionEnv {
  /** A result of initialize() or of sending. */
  report(csError: CsError, msg: string): void;
  stats(stats: FabricStats): void;
  wifi(): WifiHandler | null;
}

/** Where a frame belongs. */
export type Scope = { fabric: Fabric } | { conferenceID: string };

const graceMs = 10_000;
const keptEnded = 256;

export class Session {
  readonly #env: SessionEnv;
  readonly #clock = createClock(pageClocks);
  readonly #queue = new Queue(this.#clock);
  readonly #transport: Transport;
  readonly #fabrics: Fabric[] = [];
  readonly #endedFabrics: FabricInfo[] = [];
  readonly #announcements = new Map<number, string>();
  readonly #infos = new Map<number, FabricInfo>();
  readonly #outages = new Set<CsError>();
  /** What was monitored when the page went into the back/forward cache. */
  #left: FabricInfo[] = [];
  #info: SessionInfo;
  #userID: UserID;
  #id = '';
  #lastFabric = 0;
  #intervalMs = 10_000;
  #bounds = defaultBounds;
  #urlTemplate = '';
  #announcedSuccess = false;
  #unwatchPage: () => void = () => undefined;
  #wifiTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(info: SessionInfo, env: SessionEnv) {
    this.#info = info;
    this.#userID = info.userID;
    this.#env = env;
    const { base } = info;
    this.#transport = new Transport({
      base,
      clock: this.#clock,
      queue: this.#queue,
      login: (renew, late) => this.#login(renew, late),
      hello: (token) => this.#hello(token),
      fabricLine: (fabric) => this.#fabricLine(fabric),
      columnsLine,
      welcomed: (welcome) => this.#welcomed(welcome),
      statsInterval: (ms) => this.#setInterval(ms),
      report: (csError, msg) => this.#report(csError, msg),
    });
    this.#begin();
  }

  /** Whether initialize() with these arguments goes on with this session (INIT-06). */
  continues(info: SessionInfo): boolean {
    const own = this.#info;
    return own.appID === info.appID && own.base === info.base && sameUser(own.userID, info.userID);
  }

  /** initialize() again for the same user: logs in anew, keeps fabrics and queue. */
  again(info: SessionInfo): void {
    this.#info = info;
    this.#outages.clear();
    this.#announcedSuccess = false;
    this.#begin();
  }

  #begin(): void {
    this.#unwatchPage();
    this.#unwatchPage = watchPage(
      {
        hidden: (kept) => this.#hidden(kept),
        shown: (returned) => this.#shown(returned),
      },
      !this.#info.config.disableBeforeUnloadHandler,
    );
    this.#transport.restart();
  }

  /** Ends the session for another one. */
  close(): void {
    for (const fabric of [...this.#fabrics]) fabric.end('replaced', true);
    this.#unwatchPage();
    clearTimeout(this.#wifiTimer);
    this.#transport.stop(graceMs);
  }

  /** A page that may come back ends its fabrics too: nobody knows whether it will. */
  #hidden(kept: boolean): void {
    const alive = this.#fabrics.filter((fabric) => !fabric.ended());
    this.#left = kept ? alive.map((fabric) => fabric.info) : [];
    for (const fabric of [...this.#fabrics]) fabric.end('pagehide', true);
    this.#transport.flush();
    // An open connection would keep the page out of the back/forward cache.
    if (kept) this.#transport.rest();
  }

  #shown(returned: boolean): void {
    const left = returned ? this.#left.splice(0) : [];
    for (const info of left) if (!isClosed(info.pc)) this.addFabric(info);
    this.#transport.wake();
  }

  get config(): Config {
    return this.#info.config;
  }

  stamp(): Stamp {
    return this.#clock.stamp();
  }

  setLocalUser(userID: UserID): void {
    this.#userID = userID;
  }

  addFabric(info: Omit<FabricInfo, 'fabric' | 'addedAt'>, pcCallback?: PcCallback | null): void {
    const full: FabricInfo = { ...info, fabric: ++this.#lastFabric, addedAt: this.#clock.stamp() };
    this.#infos.set(full.fabric, { ...full, pc: {} }); // it may wait for a long time
    this.#fabrics.push(new Fabric(full, this.#fabricEnv(), pcCallback));
    this.#wifi();
  }

  #fabricEnv(): FabricEnv {
    return {
      clock: this.#clock,
      legacyStats: this.#info.config.collectLegacyStats,
      send: (frame) => this.#send(frame),
      intervalMs: () => this.#intervalMs,
      localUserID: () => this.#userID,
      labelBounds: () => this.#bounds,
      online: () => this.#transport.online(),
      conferenceURL: (info) => this.#conferenceURL(info),
      deliver: (stats) => this.#env.stats(stats),
      report: (csError, msg) => this.#env.report(csError, msg),
      ended: (fabric) => this.#ended(fabric),
    };
  }

  #ended(fabric: Fabric): void {
    const at = this.#fabrics.indexOf(fabric);
    if (at >= 0) this.#fabrics.splice(at, 1);
    // The PeerConnection is let go; the rest is needed for what still comes for the conference.
    this.#endedFabrics.push({ ...fabric.info, pc: {} });
    this.#endedFabrics.splice(0, this.#endedFabrics.length - keptEnded);
    if (this.#announcements.size + this.#infos.size > 2 * keptEnded) this.#forgetAnnouncements();
  }

  /** Forgets how to announce fabrics that have ended and that no frame is about any more. */
  #forgetAnnouncements(): void {
    const needed = new Set([
      ...this.#fabrics.map((f) => f.info.fabric),
      ...this.#queue.waiting().flatMap((e) => e.fabrics),
    ]);
    for (const map of [this.#announcements, this.#infos])
      for (const fabric of [...map.keys()]) if (!needed.has(fabric)) map.delete(fabric);
  }

  /** A living fabric of that PeerConnection and conference. */
  fabricOf(pc: unknown, conferenceID: string): Fabric | undefined {
    return this.#fabrics.find((f) => f.info.pc === pc && f.info.conferenceID === conferenceID && !f.ended());
  }

  /** As fabricOf; a PeerConnection never added is matched by conference, and SSRC (API-12). */
  match(pc: unknown, conferenceID: string, ssrc?: number): Fabric | undefined {
    const alive = this.#fabrics.filter((f) => f.info.conferenceID === conferenceID && !f.ended());
    return (
      alive.find((f) => f.info.pc === pc) ??
      alive.find((f) => ssrc !== undefined && f.hasStream(ssrc)) ??
      alive[alive.length - 1]
    );
  }

  /** Whether a fabric was ever in that conference. */
  knows(conferenceID: string): boolean {
    return this.#conference(conferenceID) !== undefined;
  }

  #conference(conferenceID: string): FabricInfo | undefined {
    const all = [...this.#endedFabrics, ...this.#fabrics.map((f) => f.info)];
    return all.filter((info) => info.conferenceID === conferenceID).pop();
  }

  /** Records a frame of a fabric or, without one, of a conference. */
  record(type: Frame['type'], scope: Scope, members: object, done?: Frame['done']): boolean {
    const base = { type, stamp: this.#clock.stamp(), ...(done && { done }) };
    if ('fabric' in scope) {
      const { fabric } = scope.fabric.info;
      return this.#send({ ...base, fabric, members: { fabric, ...members } });
    }
    const { conferenceID } = scope;
    const conferenceAt = this.#conference(conferenceID)?.addedAt ?? base.stamp;
    return this.#send({ ...base, fabric: 0, conferenceAt, members: { conferenceID, ...members } });
  }

  #send(frame: Frame): boolean {
    const taken = this.#queue.push(frame);
    this.#transport.pump();
    return taken;
  }

  async #login(renew: boolean, late: (error: Refusal) => void) {
    const { appID, secret, userID, base } = this.#info;
    const env: AuthEnv = { url: `${base}auth`, mono: this.#clock.mono, late };
    return login(env, { appID, userID, secret }, renew);
  }

  #hello(token: string): object {
    const at = this.#clock.time(this.#clock.stamp());
    this.#id ||= uuidv7(at);
    const { applicationVersion, siteID, additionalIDs } = this.#info.config;
    return {
      type: 'hello',
      versions: [1],
      token,
      session: this.#id,
      acked: this.#queue.acked(),
      at,
      library: version,
      ...(typeof navigator === 'object' && navigator.userAgent && { userAgent: cutBytes(navigator.userAgent, 512) }),
      ...(applicationVersion !== undefined && { applicationVersion }),
      ...(siteID !== undefined && { siteID }),
      ...(additionalIDs && { additionalIDs }),
    };
  }

  /** Fixed at its first use: a fabric's number means the same all session. */
  #fabricLine(fabric: number): string {
    let line = this.#announcements.get(fabric);
    const info = this.#infos.get(fabric);
    if (line === undefined && info) {
      const { conferenceID, remoteUserID, fabricUsage, remoteEndpointType, fabricTransmissionDirection } = info;
      line = JSON.stringify({
        type: 'fabric',
        fabric,
        conferenceID,
        addedAt: this.#clock.time(info.addedAt),
        remoteUserID,
        fabricUsage,
        remoteEndpointType,
        fabricTransmissionDirection,
      });
      this.#announcements.set(fabric, line);
      this.#infos.delete(fabric);
    }
    return line ?? '';
  }

  #welcomed(welcome: Record<string, unknown>): void {
    this.#setInterval(Number(welcome.statsIntervalMs));
    if (typeof welcome.conferenceURL === 'string') this.#urlTemplate = welcome.conferenceURL;
    const bounds = (welcome.labels as { mos?: unknown } | undefined)?.mos;
    if (Array.isArray(bounds) && bounds.length === 4) this.#bounds = bounds.map(Number);
  }

  #setInterval(ms: number): void {
    if (!(ms >= 2000 && ms <= 20_000) || ms === this.#intervalMs) return;
    this.#intervalMs = ms;
    for (const fabric of this.#fabrics) if (!fabric.ended()) fabric.reschedule();
  }

  #conferenceURL(info: FabricInfo): string | null {
    if (!this.#urlTemplate) return null;
    const values: Record<string, string> = {
      appID: this.#info.appID,
      conferenceID: info.conferenceID,
      at: String(this.#clock.time(info.addedAt)),
    };
    return this.#urlTemplate.replace(/\{(appID|conferenceID|at)\}/g, (_, name: string) =>
      encodeURIComponent(values[name] ?? ''),
    );
  }

  /** Once per outage and kind, and success when sending works again (INIT-05). */
  #report(csError: CsError, msg: string): void {
    if (csError !== 'success') {
      if (this.#outages.has(csError)) return;
      this.#outages.add(csError);
    } else {
      if (this.#announcedSuccess && !this.#outages.size) return;
      this.#announcedSuccess = true;
      this.#outages.clear();
    }
    this.#env.report(csError, msg);
  }

  /** Asks for Wi-Fi statistics at every interval while there is a fabric. */
  #wifi(): void {
    clearTimeout(this.#wifiTimer);
    this.#wifiTimer = setTimeout(async () => {
      const handler = this.#env.wifi();
      if (!this.#fabrics.length) return;
      this.#wifi();
      const sample = handler && (await readWifi(handler, this.#info.config.collectIP));
      if (!sample) return;
      const seen = new Set<string>();
      for (const fabric of this.#fabrics) {
        if (!seen.has(fabric.info.conferenceID)) fabric.event('wifiStats', sample);
        seen.add(fabric.info.conferenceID);
      }
    }, this.#intervalMs);
  }
}
