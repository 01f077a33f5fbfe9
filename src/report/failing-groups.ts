import type { ErrorCode } from '../core/errors/catalogue.js';
import type { OrderId } from '../core/ids.js';
import type { OrderState } from '../core/states.js';
import type { RowView } from '../ledger/views.js';

const GROUPS_MAX = 200;
const EXAMPLES_MAX = 5;

export type FailingGroup = {
  readonly code: ErrorCode | null;
  /** The message of the first order in the group; null once messages were lumped together. */
  readonly message: string | null;
  readonly states: ReadonlySet<OrderState>;
  readonly count: number;
  readonly tokens: bigint;
  readonly first: readonly { readonly order: OrderId; readonly line: number }[];
};

type Growing = { -readonly [K in keyof FailingGroup]: FailingGroup[K] } & {
  states: Set<OrderState>;
  first: { order: OrderId; line: number }[];
};

/**
 * Orders that went wrong, by error code and message. Messages that differ only in an id or an amount are
 * one group ("member 119… not found" 3,000 times is one problem). When a realm answers with ever new texts,
 * what exceeds the limit is lumped together per code.
 */
export class FailingGroups {
  readonly #groups = new Map<string, Growing>();

  add(row: RowView): void {
    // A duplicate may carry a code that says what spent its reference; nothing went wrong with it.
    if (row.state === 'paid' || row.state === 'duplicate') return;
    if (row.errorCode === null && row.error === null) return;
    const group = this.#groupFor(row);
    group.count += 1;
    group.states.add(row.state);
    if (row.tokens !== null) group.tokens += BigInt(row.tokens);
    if (group.first.length < EXAMPLES_MAX) group.first.push({ order: row.order, line: row.line });
  }

  /** The largest first; equal ones by code and message, so that the order never depends on chance. */
  list(): readonly FailingGroup[] {
    return [...this.#groups]
      .sort(([a, one], [b, two]) => two.count - one.count || (a < b ? -1 : 1))
      .map(([, group]) => group);
  }

  #groupFor(row: RowView): Growing {
    const code = row.errorCode ?? '';
    const own = `${code} ${patternOf(row.error)}`;
    const known = this.#groups.get(own);
    if (known !== undefined) return known;
    const full = this.#groups.size >= GROUPS_MAX;
    const key = full ? `${code} ` : own;
    const lump = this.#groups.get(key);
    if (lump !== undefined) return lump;
    const group: Growing = {
      code: row.errorCode,
      message: full ? null : row.error,
      states: new Set(),
      count: 0,
      tokens: 0n,
      first: [],
    };
    this.#groups.set(key, group);
    return group;
  }
}

function patternOf(message: string | null): string {
  return (message ?? '').slice(0, 300).replaceAll(/[0-9a-f-]*[0-9]{2}[0-9a-f-]*/gi, '#');
}
