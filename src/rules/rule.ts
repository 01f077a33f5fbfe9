import { stat } from 'node:fs/promises';
import type { MemberId } from '../core/ids.js';
import type { Written } from '../yaml/read-yaml.js';
import type { Expression } from './expression.js';
import type { RuleFaults } from './fault.js';
import type { Audience, PackedAudience } from './packed-audience.js';
import type { Schedule } from './schedule.js';
import type { LIMITS, ROUNDINGS, RuleInput } from './schema.js';

export type Rounding = (typeof ROUNDINGS)[number];
export type LimitName = (typeof LIMITS)[number];

/** A rule that was read and checked. It is plain data, so it can be sent to a thread. */
export type Rule = Readonly<Pick<RuleInput, 'name' | 'realm' | 'period' | 'op' | 'keepRuns' | 'reason'>> & {
  /** The name that people use; `path` is the location. */
  readonly file: string;
  readonly path: string;
  /** SHA-256 of the file's bytes. A person approves this hash, and a plan records it. */
  readonly hash: string;
  /** Null: the profile's own currency. */
  readonly currency: string | null;
  readonly schedule: Schedule | null;
  /** The time zone that defines days, weeks and months. */
  readonly zone: string;
  readonly condition: PlacedExpression | null;
  /** The giving member of a `transfer`. */
  readonly from: MemberId | null;
  readonly award: Award;
  /** A debit never takes a member's balance below this. */
  readonly floor: number | null;
  readonly limits: Readonly<Record<LimitName, number | null>>;
  readonly minimum: number | null;
  readonly cut: ReadonlySet<LimitName>;
  /** A share of the audience, 0 to 1. */
  readonly maxMissing: number;
};

export type Award =
  | { readonly kind: 'fixed'; readonly tokens: number }
  | { readonly kind: 'computed'; readonly tokens: PlacedExpression; readonly rounding: Rounding | null }
  | { readonly kind: 'share'; readonly pot: number; readonly weight: PlacedExpression };

export type PlacedExpression = Expression & {
  /** The expression's name in the rule: `condition`, `award.tokens`. */
  readonly field: string;
  /** The text as it is written in the rule file. */
  readonly written: Written;
};

/** A rule with its audience. */
export type LoadedRule = { readonly rule: Rule; readonly audience: Audience };

/** A rule outside of the thread that read it. */
export type PackedRule = { readonly rule: Rule; readonly audience: PackedAudience };

export type FaultyRule = RuleFaults & { readonly name: string | null };

/** The expression that computes the award, if there is one. */
export function awardExpression({ award }: Rule): PlacedExpression | null {
  if (award.kind === 'fixed') return null;
  return award.kind === 'share' ? award.weight : award.tokens;
}

/** Changes whenever the file is written, replaced or removed. */
export async function fileStamp(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  if (found === null) return 'none';
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
