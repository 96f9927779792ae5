// The parts of session descriptions that the library reads, and those that it removes.

import { attempt } from './result.ts';

/** CNAME and msid of an SSRC (requirement STAT-06). */
export interface SourceInfo {
  cname: string | null;
  msid: string | null;
}

/** A source that no SDP names. */
export const noSource: SourceInfo = { cname: null, msid: null };

/** Finds an SSRC in an SDP; the media section's own msid is used where the source has none. */
export function sourceInfo(sdp: string, ssrc: number): SourceInfo {
  for (const section of sdp.split(/^m=/m)) {
    const find = (attribute: string) => new RegExp(`^a=${attribute}:(.*)$`, 'm').exec(section)?.[1]?.trim() || null;
    const cname = find(`ssrc:${ssrc} cname`);
    const msid = find(`ssrc:${ssrc} msid`) ?? (cname && find('msid'));
    if (cname || msid) return { cname, msid };
  }
  return noSource;
}

/** The ICE user name fragment; another one means an ICE restart. */
export function iceUfrag(sdp: string): string | undefined {
  return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1];
}

/** The SDP of a string or a description object, "" when there is none. */
export function sdpText(description: unknown): string {
  const sdp = attempt(() => (description as { sdp?: unknown } | null | undefined)?.sdp) ?? description;
  return typeof sdp === 'string' ? sdp : '';
}

/**
 * Removes local addresses from an SDP (collectIP false, requirement STAT-05): related
 * addresses always, candidates' own unless they are a relay's, and those of o= and c=.
 */
export function withoutAddresses(sdp: string): string {
  return sdp
    .replace(/(candidate:(?:\S+ ){4})\S+( \d+ typ (?!relay))/g, '$10.0.0.0$2')
    .replace(/ raddr \S+ rport \d+/g, ' raddr 0.0.0.0 rport 0')
    .replace(/^((?:[oc]=|a=rtcp:).*IP[46] )\S+/gm, '$10.0.0.0');
}
