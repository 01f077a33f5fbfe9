import type { ASTNode } from '@marcbachmann/cel-js';

/**
 * The fields that an expression names, found in its syntax tree before anything is read. A call that no expression
 * needs is never made, and only the named fields are stored with a run.
 */
export type FieldsUsed = 'all' | ReadonlySet<string>;

/** The fields of each variable that an expression uses. */
export type FactsUsed = {
  /** True if the balance is used. The profile says where it is in the member record. */
  readonly balance: boolean;
} & Readonly<Record<MapName, FieldsUsed>>;

/** A forbidden construct in an expression, with its position. */
export type Misuse = { readonly offset: number; readonly message: string };

/** The variables of expressions. `member` and `web3` are calls 1 and 2 of the interface. */
const MAPS = ['member', 'web3', 'row', 'run'] as const;
const FACT_NAMES = [...MAPS, 'balance'];
type MapName = (typeof MAPS)[number];

const LOOPS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
/** A loop within a loop compares two lists. A third level is not needed and only costs time. */
const LOOP_DEPTH_MAX = 2;

/** Finds the facts that an expression uses, and forbidden constructs. */
export function factsUsed(ast: ASTNode): { readonly used: FactsUsed; readonly misuses: readonly Misuse[] } {
  const fields: Record<MapName, Set<string> | 'all'> = {
    member: new Set(),
    web3: new Set(),
    row: new Set(),
    run: new Set(),
  };
  const misuses: Misuse[] = [];
  let balance = false;

  const name = (map: MapName, field: string | null) => {
    const known = fields[map];
    if (field === null) fields[map] = 'all';
    else if (known !== 'all') known.add(field);
  };
  const visit = (node: ASTNode, depth: number): void => {
    const access = accessOf(node);
    const map = access === undefined ? undefined : MAPS.find((one) => access.of === one);
    if (access !== undefined && map !== undefined) {
      name(map, access.field);
      return;
    }
    if (node.op === 'id') {
      const bare = MAPS.find((one) => one === node.args);
      if (bare !== undefined) name(bare, null);
      if (node.args === 'balance') balance = true;
      // cel.bind lets a short expression double a list again and again.
      if (node.args === 'cel')
        misuses.push({ offset: node.start, message: 'The namespace `cel` is not available here.' });
    }
    if (
      (node.op === 'value' && node.args instanceof Uint8Array) ||
      (node.op === 'call' && node.args[0] === 'bytes')
    )
      misuses.push({
        offset: node.start,
        message: 'Bytes are not available here, because the memory limit does not count them.',
      });
    if (node.op === 'rcall' && LOOPS.has(node.args[0])) {
      misuses.push(...loopMisuses(node, node.args[2], depth));
      visit(node.args[1], depth);
      for (const argument of node.args[2]) visit(argument, depth + 1);
      return;
    }
    for (const child of childrenOf(node.args)) visit(child, depth);
  };
  visit(ast, 0);
  return { used: { ...fields, balance }, misuses };
}

/** Checks one loop: its depth, and that its variable does not reuse the name of a fact. */
function loopMisuses(node: ASTNode, [variable]: readonly ASTNode[], depth: number): Misuse[] {
  const misuses: Misuse[] = [];
  if (variable?.op === 'id' && FACT_NAMES.includes(variable.args))
    misuses.push({
      offset: variable.start,
      message: `${variable.args} is the name of a fact; use another variable for the loop.`,
    });
  if (depth >= LOOP_DEPTH_MAX)
    misuses.push({
      offset: node.start,
      message: `Loops can be nested at most ${LOOP_DEPTH_MAX} deep.`,
    });
  return misuses;
}

/** Reads `map.field` and `map["field"]`. Any other index counts as using the whole map. */
function accessOf(node: ASTNode): { of: string; field: string } | undefined {
  if (node.op === '.' || node.op === '.?') {
    const [object, field] = node.args;
    return object.op === 'id' ? { of: object.args, field } : undefined;
  }
  if (node.op !== '[]' && node.op !== '[?]') return undefined;
  const [object, index] = node.args;
  if (object.op !== 'id' || index.op !== 'value' || typeof index.args !== 'string') return undefined;
  return { of: object.args, field: index.args };
}

export function childrenOf(value: unknown): ASTNode[] {
  if (Array.isArray(value)) return value.flatMap(childrenOf);
  return isNode(value) ? [value] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** The interface calls that read facts of one member. */
export const CALLS = ['member', 'web3'] as const;
export type Call = (typeof CALLS)[number];

/** True if an expression needs the call. `balance` is in the answer to the first. */
export function needs(call: Call, used: Pick<FactsUsed, Call | 'balance'>): boolean {
  const fields = used[call];
  return fields === 'all' || fields.size > 0 || (call === 'member' && used.balance);
}

/** The union of the fields that several expressions use. */
export function together(all: readonly Pick<FactsUsed, Call>[], call: Call): FieldsUsed {
  return all.some((used) => used[call] === 'all') ? 'all' : new Set(all.flatMap((used) => [...used[call]]));
}
