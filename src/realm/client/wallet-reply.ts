import { isJsonObject, type JsonObject } from '../json.js';
import { comparableWallet } from '../wallet.js';

/**
 * The verdict on one wallet. The interface does not document the reply of the wallet check. The decoder understands a
 * boolean, a map of wallet to boolean, a list of matches, and an object that holds one of these. Any other reply, and
 * any wallet that the reply does not mention, is `undetermined`; the decoder never guesses.
 */
export type WalletMembership = 'member' | 'not-member' | 'undetermined';
export type WalletMemberships = Map<string, WalletMembership>;

/**
 * Fields that may hold the result, the most certain first. `wallets` comes last because it may only echo the request.
 */
const HOLDERS = [
  'includes',
  'included',
  'matches',
  'found',
  'members',
  'results',
  'result',
  'data',
  'wallets',
];
const ADDRESS_FIELDS = ['wallet', 'address', 'walletAddress', 'wallet_address', 'publicKey'];
const FLAG_FIELDS = ['included', 'includes', 'isMember', 'member', 'inRealm', 'exists', 'found', 'match'];
const HOLDER_DEPTH_MAX = 3;

/** Reads the reply into one verdict per requested wallet. */
export function decodeWalletReply(reply: unknown, asked: readonly string[]): WalletMemberships {
  const verdicts: WalletMemberships = new Map(asked.map((wallet) => [wallet, 'undetermined']));
  decode(reply, verdicts, 0);
  return verdicts;
}

function decode(reply: unknown, verdicts: WalletMemberships, depth: number): void {
  if (typeof reply === 'boolean') decodeBoolean(reply, verdicts);
  else if (Array.isArray(reply)) decodeList(reply, verdicts);
  else if (isJsonObject(reply) && !decodeMap(reply, verdicts) && depth < HOLDER_DEPTH_MAX) {
    const holder = HOLDERS.find((name) => Object.hasOwn(reply, name));
    if (holder !== undefined) decode(reply[holder], verdicts, depth + 1);
  }
}

/**
 * `true` applies to the whole list. `false` applies only to a list of one: otherwise some of the wallets may still be
 * members.
 */
function decodeBoolean(inside: boolean, verdicts: WalletMemberships): void {
  if (!inside && verdicts.size !== 1) return;
  for (const wallet of verdicts.keys()) verdicts.set(wallet, inside ? 'member' : 'not-member');
}

function decodeMap(reply: JsonObject, verdicts: WalletMemberships): boolean {
  const flags = new Map(Object.entries(reply).map(([wallet, flag]) => [comparableWallet(wallet), flag]));
  let understood = false;
  for (const wallet of verdicts.keys()) {
    const flag = flags.get(comparableWallet(wallet));
    if (typeof flag !== 'boolean') continue;
    verdicts.set(wallet, flag ? 'member' : 'not-member');
    understood = true;
  }
  return understood;
}

/** Reads a list of matches: wallets, or objects with a wallet and an optional flag. */
function decodeList(list: readonly unknown[], verdicts: WalletMemberships): void {
  // Compare normalized wallets, because a caller may have asked for one wallet in two spellings.
  const asked = new Set([...verdicts.keys()].map(comparableWallet));
  const found = new Map<string, boolean>();
  let allRecognized = true;
  for (const entry of list) {
    const match = matchIn(entry);
    if (match !== undefined && asked.has(comparableWallet(match.wallet)))
      found.set(comparableWallet(match.wallet), match.inside);
    else allRecognized = false;
  }
  for (const wallet of verdicts.keys()) {
    const inside = found.get(comparableWallet(wallet));
    if (inside !== undefined) verdicts.set(wallet, inside ? 'member' : 'not-member');
    // A missing wallet means "no" only if every entry of the list was understood.
    else if (allRecognized) verdicts.set(wallet, 'not-member');
  }
}

function matchIn(entry: unknown): { wallet: string; inside: boolean } | undefined {
  if (typeof entry === 'string') return { wallet: entry, inside: true };
  if (!isJsonObject(entry)) return undefined;
  const field = ADDRESS_FIELDS.find((name) => Object.hasOwn(entry, name));
  const wallet = field === undefined ? undefined : entry[field];
  if (typeof wallet !== 'string') return undefined;
  return { wallet, inside: !FLAG_FIELDS.some((name) => Object.hasOwn(entry, name) && entry[name] === false) };
}
