import type { OrderState } from '../../core/states.js';
import type { OrderRecord, PlanRow } from '../../ledger/index.js';
import type { OrdersQuery } from '../api/index.js';

/** What is looked for among the rows of a batch, taken apart by where it is written: plan, record or details. */
export type Wanted = {
  readonly state: OrderState | null;
  readonly class: string | null;
  readonly search: Search | null;
};

export type Search = {
  readonly text: string;
  /** Whether a row of the plan has it; null when only errors are searched. */
  readonly inPlan: ((row: PlanRow) => boolean) | null;
  readonly inErrors: boolean;
};

export function wantedOf(query: OrdersQuery): Wanted {
  return { state: query.state ?? null, class: query.class ?? null, search: searchOf(query) };
}

function searchOf({ search, field = 'any' }: OrdersQuery): Search | null {
  const text = search?.trim() ?? '';
  if (text === '') return null;
  switch (field) {
    case 'member':
      return { text, inErrors: false, inPlan: ({ order }) => order?.member === text };
    case 'recipient':
      return { text, inErrors: false, inPlan: ({ order }) => order?.recipient === text };
    case 'reference':
      return { text, inErrors: false, inPlan: ({ reference }) => reference === text };
    case 'line':
      return { text, inErrors: false, inPlan: ({ line }) => String(line) === text };
    case 'error':
      return { text, inErrors: true, inPlan: null };
    case 'any':
      return { text, inErrors: true, inPlan: ({ cells }) => cells.some((cell) => includes(cell, text)) };
  }
}

/** Everything that ever touched a member. */
export function wantMember(member: string): Wanted {
  const inPlan = ({ order }: PlanRow) => order?.member === member || order?.recipient === member;
  return { state: null, class: null, search: { text: member, inErrors: false, inPlan } };
}

export function includes(text: string | null, part: string): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) ?? false;
}

/** Only these can carry an error, so only their details are worth reading. */
export function mayHaveError({ code, attempts }: OrderRecord): boolean {
  return 'RXDuid'.includes(code) || (code === 'w' && attempts > 0);
}
