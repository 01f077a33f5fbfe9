import { closest } from 'fastest-levenshtein';
import { AlmonerError } from '../../core/errors/error.js';

/**
 * Faults for rehearsals: the failures of an upstream service on a bad day, each with a probability. After a `before`
 * fault the change is not applied; after an `after` fault it is applied, although the caller cannot see it.
 */
export const FAULT_NAMES = [
  'latency',
  'storm',
  'error-before',
  'hang-before',
  'reset-before',
  'error-after',
  'hang-after',
  'reset-after',
  'truncate',
] as const;
type FaultName = (typeof FAULT_NAMES)[number];

type FaultRule = {
  readonly name: FaultName;
  readonly probability: number;
  /** Its meaning is in FAULT_VALUES. */
  readonly value: number;
};

/** The rules of the `--fault` switches, and the seed of the generator. */
export type FaultPlan = { readonly rules: readonly FaultRule[]; readonly seed: number };

/** The value after the second colon: its meaning, its default, and its bounds. */
const FAULT_VALUES: Readonly<
  Record<FaultName, { meaning: string; usual: number; min: number; max: number }>
> = {
  latency: { meaning: 'ms before the call is handled', usual: 250, min: 0, max: 600_000 },
  storm: { meaning: 'ms during which every request is answered 429', usual: 1_000, min: 1, max: 600_000 },
  'error-before': { meaning: 'status', usual: 500, min: 500, max: 599 },
  'hang-before': { meaning: 'ms until the socket is closed, 0: never', usual: 0, min: 0, max: 600_000 },
  'reset-before': { meaning: 'not used', usual: 0, min: 0, max: 0 },
  'error-after': { meaning: 'status', usual: 500, min: 500, max: 599 },
  'hang-after': { meaning: 'ms until the socket is closed, 0: never', usual: 0, min: 0, max: 600_000 },
  'reset-after': { meaning: 'not used', usual: 0, min: 0, max: 0 },
  truncate: { meaning: 'bytes of the body that are sent, 0: half of it', usual: 0, min: 0, max: 1_000_000 },
};

/** Reads `--fault name:probability[:value]` switches. A later switch replaces an earlier one with the same name. */
export function parseFaults(switches: readonly string[], seed = 1): FaultPlan {
  const rules = new Map<FaultName, FaultRule>();
  for (const text of switches) for (const rule of parseFault(text)) rules.set(rule.name, rule);
  return { rules: [...rules.values()], seed };
}

/** Parses one switch; `all` makes a rule for every fault. */
function parseFault(text: string): FaultRule[] {
  const [name = '', odds, worth, ...rest] = text.split(':');
  const probability = Number(odds);
  if (
    odds === undefined ||
    odds.trim() === '' ||
    !(probability >= 0 && probability <= 1) ||
    rest.length > 0
  ) {
    throw fault(text, 'expected name:probability[:value] with a probability from 0 to 1');
  }
  if (name === 'all') {
    if (worth !== undefined) throw fault(text, 'all takes a probability and no value');
    return FAULT_NAMES.map((each) => ({ name: each, probability, value: FAULT_VALUES[each].usual }));
  }
  const known = FAULT_NAMES.find((each) => each === name);
  if (known === undefined) {
    const names = [...FAULT_NAMES, 'all'];
    throw fault(
      text,
      `no fault is called so; did you mean ${closest(name, names)}? There are: ${names.join(', ')}`,
    );
  }
  const { usual, min, max, meaning } = FAULT_VALUES[known];
  const value = worth === undefined ? usual : Number(worth);
  if (worth?.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
    throw fault(text, `expected the value (${meaning}) to be an integer from ${min} to ${max}`);
  }
  return [{ name: known, probability, value }];
}

function fault(text: string, why: string): AlmonerError {
  return new AlmonerError(
    'ALM_SERVICE_FAULT_INVALID',
    `--fault ${JSON.stringify(text)}: ${why}. The service was not started.`,
  );
}

/** A fault of one request, before or after the change is made. FAULT_VALUES explains `value`. */
export type InjectedFault = {
  readonly kind: 'storm' | 'error' | 'hang' | 'reset' | 'truncate';
  readonly when: 'before' | 'after';
  readonly value: number;
};

const INJECTED: Readonly<Record<Exclude<FaultName, 'latency'>, Omit<InjectedFault, 'value'>>> = {
  storm: { kind: 'storm', when: 'before' },
  'error-before': { kind: 'error', when: 'before' },
  'hang-before': { kind: 'hang', when: 'before' },
  'reset-before': { kind: 'reset', when: 'before' },
  'error-after': { kind: 'error', when: 'after' },
  'hang-after': { kind: 'hang', when: 'after' },
  'reset-after': { kind: 'reset', when: 'after' },
  truncate: { kind: 'truncate', when: 'after' },
};

/** The faults drawn for one request. */
type Draw = { readonly latencyMs: number; readonly injected: InjectedFault | null };

export type FaultDice = { next(): Draw };

/**
 * Draws the faults of each request from a seeded generator. Every rule consumes one random number per request,
 * whether it hits or not. The same seed with the same requests in the same order therefore gives the same faults. If
 * several rules hit, latency is added and the first of the other rules wins.
 */
export function createFaultDice(plan: FaultPlan, nowMs: () => number): FaultDice {
  const random = mulberry32(plan.seed);
  let stormUntilMs = Number.NEGATIVE_INFINITY;
  return {
    next() {
      let latencyMs = 0;
      let injected: InjectedFault | null = null;
      for (const { name, probability, value } of plan.rules) {
        if (random() >= probability) continue;
        if (name === 'latency') latencyMs = value;
        else injected ??= { ...INJECTED[name], value };
      }
      if (injected?.kind === 'storm') stormUntilMs = Math.max(stormUntilMs, nowMs() + injected.value);
      const stormLeftMs = stormUntilMs - nowMs();
      if (stormLeftMs > 0) injected = { ...INJECTED.storm, value: stormLeftMs };
      return { latencyMs, injected };
    },
  };
}

/** A small generator with a 32-bit state: sufficient for faults, and the same on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
