import { REALM_HALTED } from '../../core/classify.js';
import { AlmonerError } from '../../core/errors/error.js';
import { memberId } from '../../core/ids.js';
import { realmState, releaseRealm } from '../../ledger/index.js';
import type { OpenRealm } from '../../runtime/app.js';

/**
 * A halted realm goes on only after the key was read again and one read was answered. Any answer that does
 * not speak of the key will do: a 404 for a member nobody has proves that the key is taken.
 */
export async function letRealmGoOn(realm: OpenRealm): Promise<void> {
  const { halt } = await realmState(realm.ledger);
  if (halt === null) return;
  const result = await realm.client.readMember(PROBE_MEMBER);
  const { status } = result.facts;
  const accepted = result.ok || (status !== null && !REALM_HALTED.has(status) && status < 500);
  if (accepted) return releaseRealm(realm.ledger);
  if (result.ok) return;
  const { code, message, next } = result.error;
  throw new AlmonerError(code, `${message} The realm stays halted, and nothing was sent.`, {
    next,
    cause: result.error,
  });
}

const PROBE_MEMBER = memberId('0');
