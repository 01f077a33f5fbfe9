import { isMemberId } from '../../core/ids.js';
/** A member as it is loaded: from a CSV, from the rows of a rehearsal, or from a test. */
export type MemberSeed = {
  readonly member: string;
  readonly tokens: number;
  readonly wallets?: readonly string[];
  /** Facts for the web3 call, as JSON; reward rules read them. */
  readonly web3?: Readonly<Record<string, unknown>>;
  /** Facts shown in the member record under `attributes`. */
  readonly attributes?: Readonly<Record<string, unknown>>;
};

export const WALLETS_PER_MEMBER_MAX = 100;

/** What is wrong with a seed, as column and sentence; undefined: nothing. */
export function seedFault(seed: MemberSeed): { column: string; message: string } | undefined {
  if (!isMemberId(seed.member)) {
    return {
      column: 'member',
      message: `expected 1 to 20 decimal digits, got ${JSON.stringify(seed.member)}`,
    };
  }
  if (!Number.isSafeInteger(seed.tokens)) {
    return { column: 'tokens', message: `expected a whole number within 2^53-1, got ${seed.tokens}` };
  }
  const wallets = seed.wallets ?? [];
  if (wallets.length > WALLETS_PER_MEMBER_MAX) {
    return {
      column: 'wallets',
      message: `expected at most ${WALLETS_PER_MEMBER_MAX} wallets, got ${wallets.length}`,
    };
  }
  const bad = wallets.find((wallet) => !isWallet(wallet));
  if (bad !== undefined) {
    return {
      column: 'wallets',
      message: `not a wallet of 1 to 128 visible characters: ${JSON.stringify(bad)}`,
    };
  }
  return undefined;
}

export function comparableWallets(seed: MemberSeed): string[] {
  return [...new Set((seed.wallets ?? []).map(comparableWallet))];
}

/**
 * Wallets as they are compared and kept: EVM addresses ignore case, so they are kept in lower case; base58
 * addresses and anything else are compared exactly as written.
 */
const WALLET = /^[\x21-\x7e]{1,128}$/;
const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

export function isWallet(text: string): boolean {
  return WALLET.test(text);
}

export function comparableWallet(text: string): string {
  return EVM_ADDRESS.test(text) ? text.toLowerCase() : text;
}
