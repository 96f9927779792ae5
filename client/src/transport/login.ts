// Session tokens: the login, and its renewal before the token is over (protocol section 3.3).

import { login, type Refusal } from '../auth.ts';
import { reportOnce } from '../session/results.ts';
import type { Session } from '../session/state.ts';
import { asRefusal } from './retry.ts';

const renewAgainMs = 60_000;

/** Logs in, and schedules the renewal. forceNew: with a new token of the application's. */
export async function renew(s: Session, forceNew: boolean): Promise<void> {
  const { generation, clock, info } = s;
  const late = ({ csError, message }: Refusal) => {
    if (generation === s.generation) reportOnce(s, csError, message);
  };
  const fresh = await login({ url: `${info.base}auth`, clock, late }, info, forceNew);
  if (generation !== s.generation) return;
  s.sessionToken = fresh;

  // A renewal proves nothing of the connection, which may be in an outage.
  if (!forceNew) reportOnce(s, 'success', 'authenticated');
  // Clients that logged in together do not renew together.
  s.renewal(Math.max(fresh.expiresInMs * (0.85 + Math.random() * 0.1), renewAgainMs));
}

/** Renews the token, later where that fails: the old one is still good, and the next connection logs in and reports. */
export const renewSilently = (s: Session) =>
  renew(s, true).catch((error) => {
    if (!s.stopped) s.renewal(Math.max(asRefusal(error).waitMs, renewAgainMs * (1 + Math.random())));
  });
