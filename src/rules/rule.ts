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

/** A rule that was read and checked; all of it is data that a thread can be handed. */
export type Rule = Readonly<Pick<RuleInput, 'name' | 'realm' | 'period' | 'op' | 'keepRuns' | 'reason'>> & {
  /** The name that people call it by; `path` is where it lies. */
  readonly file: string;
  readonly path: string;
  /** SHA-256 of the file's bytes: what a person approves, and what a plan remembers. */
  readonly hash: string;
  /** Null: the one that the profile pays in. */
  readonly currency: string | null;
  readonly schedule: Schedule | null;
  /** The zone whose days, weeks and months count. */
  readonly zone: string;
  readonly condition: PlacedExpression | null;
  /** The member who gives, with `transfer`. */
  readonly from: MemberId | null;
  readonly award: Award;
  /** The balance below which a debit takes nobody. */
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
  /** `condition`, `award.tokens`: as the rule names it. */
  readonly field: string;
  /** The text as it stands in the rule file. */
  readonly written: Written;
};

export type LoadedRule = { readonly rule: Rule; readonly audience: Audience };

/** The same outside of the thread that read it. */
export type PackedRule = { readonly rule: Rule; readonly audience: PackedAudience };

export type FaultyRule = RuleFaults & { readonly name: string | null };

/** The expression that says how much, if there is one. */
export function awardExpression({ award }: Rule): PlacedExpression | null {
  if (award.kind === 'fixed') return null;
  return award.kind === 'share' ? award.weight : award.tokens;
}

/** Another one for a file that was written, replaced or removed since. */
export async function fileStamp(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  if (found === null) return 'none';
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
