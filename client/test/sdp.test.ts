import { describe, expect, it } from 'vitest';
import { iceUfrag, sdpText, sourceInfo, withoutAddresses } from '../src/sdp.ts';
import { sequence } from './harness.ts';

describe.each(['chromium', 'firefox'] as const)('the SDP of %s (spec: STAT-06)', (browser) => {
  it('names cname and msid of every stream', () => {
    const { readings, localSDP, remoteSDP } = sequence(browser);
    const streams = (readings[0]?.reports ?? []).filter((r) => r.type === 'inbound-rtp' || r.type === 'outbound-rtp');
    expect(streams.length).toBe(4);
    for (const { type, ssrc } of streams) {
      const { cname, msid } = sourceInfo(type === 'inbound-rtp' ? remoteSDP : localSDP, Number(ssrc));
      expect(cname).toMatch(/\S{10,}/);
      expect(msid).toMatch(/^\S+ \S+$/);
    }
    expect(iceUfrag(localSDP)).toMatch(/^\S{4,}$/);
    expect(iceUfrag(localSDP)).not.toBe(iceUfrag(remoteSDP));
  });
});

describe('SDP', () => {
  it('has nothing for an unknown source', () => {
    expect(sourceInfo('v=0\r\nm=audio 9 X 0\r\na=msid:s t\r\n', 5)).toEqual({ cname: null, msid: null });
    expect(iceUfrag('')).toBeUndefined();
  });

  it('comes as a string, a description or nothing', () => {
    expect([sdpText('a'), sdpText({ type: 'offer', sdp: 'b' }), sdpText(null), sdpText(5), sdpText({})]).toEqual([
      'a',
      'b',
      '',
      '',
      '',
    ]);
  });

  it('loses every local address (spec: STAT-05)', () => {
    const sdp = [
      'o=- 1 2 IN IP4 192.168.1.7',
      'c=IN IP6 2001:db8::7',
      'a=rtcp:9 IN IP4 192.168.1.7',
      'a=candidate:1 1 udp 2122260223 192.168.1.7 35037 typ host generation 0',
      'a=candidate:2 1 udp 1 2001:db8::7 35037 typ host',
      'a=candidate:3 1 udp 1 203.0.113.9 41000 typ srflx raddr 192.168.1.7 rport 35037',
      'a=candidate:4 1 udp 1 198.51.100.1 41000 typ relay raddr 192.168.1.7 rport 35037',
      '',
    ].join('\r\n');
    const cut = withoutAddresses(sdp);
    for (const address of ['192.168.1.7', '2001:db8::7', '203.0.113.9']) expect(cut).not.toContain(address);
    expect(cut).toContain('198.51.100.1 41000 typ relay raddr 0.0.0.0 rport 0');
    expect(cut.split('\r\n')).toHaveLength(8);
  });
});
