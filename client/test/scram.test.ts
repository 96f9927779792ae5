import { describe, expect, it } from 'vitest';
import { clientFirstBare, makeNonce, prove } from '../src/scram.ts';

// RFC 7677, section 3.
const first = 'n=user,r=rOprNGfwEbeRWgbNEkqO';
const server = 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096';

describe('SCRAM-SHA-256 (spec: AUTH-01)', () => {
  it('answers the vector of RFC 7677', async () => {
    expect(clientFirstBare('user', 'rOprNGfwEbeRWgbNEkqO')).toBe(first);
    expect(await prove('pencil', first, server)).toEqual({
      final:
        'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
      expected: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
    });
  });

  it('proves another secret differently', async () => {
    const { final } = await prove('pencils', first, server);
    expect(final).not.toContain('dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=');
  });

  it('normalises the secret with NFKC', async () => {
    expect(await prove('\u00aa', first, server)).toEqual(await prove('a', first, server));
  });

  it.each([
    ['a foreign nonce', 'r=xxxx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096', 'nonce'],
    ['our nonce unchanged', 'r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096', 'nonce'],
    ['too few rounds', server.replace('4096', '4095'), 'iteration count 4095'],
    ['too many rounds', server.replace('4096', '600001'), 'iteration count 600001'],
    ['nonsense', 'e=other-error', 'nonce'],
  ])('refuses %s', async (_, message, reason) => {
    await expect(prove('pencil', first, message)).rejects.toThrow(reason);
  });

  it('escapes the AppID and makes fresh nonces', () => {
    expect(clientFirstBare('a=b,c', 'N')).toBe('n=a=3Db=2Cc,r=N');
    expect(makeNonce()).toMatch(/^[A-Za-z0-9+/]{24}$/);
    expect(makeNonce()).not.toBe(makeNonce());
  });
});
