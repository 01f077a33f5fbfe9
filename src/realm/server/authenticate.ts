import { type Answer, refuse } from './answer.js';
import { type ApiKeys, isApiKey } from './api-keys.js';

/**
 * Who may call. `Authorization: Bearer <key>` or the bare key. The two rules of the interface are decided
 * from the key alone, before anything is looked up about the addressed realm: a key of another realm gets
 * the same 403 whether the addressed realm exists or not.
 */
export async function authenticate(
  apiKeys: ApiKeys,
  header: string | undefined,
  realmId: string,
): Promise<Answer | undefined> {
  const key = keyFrom(header);
  if (key === undefined) {
    return unauthorized(
      'The Authorization header must carry the realm API key: "Bearer <key>" or the key alone.',
    );
  }
  const owner = await apiKeys.realmOf(key);
  if (owner === undefined) return unauthorized('The API key is incorrect or does not exist.');
  if (owner !== realmId) {
    return refuse(403, 'forbidden', 'The API key belongs to a different realm than the one addressed.');
  }
  return undefined;
}

function keyFrom(header: string | undefined): string | undefined {
  const words = (header ?? '').trim().split(/ +/);
  const [first = '', second] = words;
  if (words.length === 2 && second !== undefined && first.toLowerCase() === 'bearer') {
    return isApiKey(second) ? second : undefined;
  }
  return words.length === 1 && isApiKey(first) ? first : undefined;
}

function unauthorized(message: string): Answer {
  return refuse(401, 'unauthorized', message, undefined, { 'www-authenticate': 'Bearer realm="almoner"' });
}
