import { celMap } from './cel-values.js';
import { periodName } from './period.js';
import type { Rule } from './rule.js';
import { wallTime } from './zone.js';

/** What `run` holds in an expression: the time of the run, by the wall of the rule's zone. */
export const RUN_FIELDS = ['at', 'date', 'year', 'month', 'day', 'weekday', 'hour', 'period'] as const;

export function runFacts(rule: Pick<Rule, 'period' | 'zone'>, at: number): Record<string, unknown> {
  const wall = wallTime(at, rule.zone);
  return celMap([
    ['at', new Date(at)],
    ['date', periodName('day', at, rule.zone)],
    ['year', BigInt(wall.year)],
    ['month', BigInt(wall.month)],
    ['day', BigInt(wall.day)],
    ['weekday', BigInt(wall.weekday)],
    ['hour', BigInt(wall.hour)],
    ['period', periodName(rule.period, at, rule.zone)],
  ]);
}
