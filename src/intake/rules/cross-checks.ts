import type { RuleFault } from './fault.js';
import { cronFault } from './schedule.js';
import type { RuleInput } from './schema.js';
import type { ValuePath, YamlSource } from './yaml-source.js';
import { isZone } from './zone.js';

/** What one field of a rule says about another, and what only a calendar knows. */
export function crossFaults(file: string, source: YamlSource, input: RuleInput): readonly RuleFault[] {
  const faults: RuleFault[] = [];
  const add = (path: ValuePath, message: string, code: RuleFault['code'] = 'ALM_RULE_FIELD') =>
    faults.push({ file, ...source.place(path), code, message });
  const { schedule, award, limits, op } = input;

  if (schedule !== undefined) {
    const cron = cronFault(schedule.cron);
    if (cron !== undefined) add(['schedule', 'cron'], `schedule.cron: ${cron}`, 'ALM_RULE_CRON');
    if (limits.perRun === undefined)
      add(['schedule'], 'limits.perRun: is missing; a rule that runs by itself needs a limit for each run.');
    if (
      schedule.timezone !== undefined &&
      input.timezone !== undefined &&
      schedule.timezone !== input.timezone
    )
      add(['timezone'], 'timezone: differs from schedule.timezone; say it once.');
  }
  for (const [path, zone] of [
    [['timezone'], input.timezone],
    [['schedule', 'timezone'], schedule?.timezone],
  ] as const)
    if (zone !== undefined && !isZone(zone))
      add(path, `${path.join('.')}: ${JSON.stringify(zone)} is no known time zone.`, 'ALM_RULE_TIMEZONE');

  if ((award.tokens === undefined) === (award.share === undefined))
    add(['award'], 'award: expected either `tokens` or `share`.');
  if (award.share !== undefined && award.rounding !== undefined)
    add(
      ['award', 'rounding'],
      'award.rounding: shares are whole by themselves (largest remainders); leave it out.',
    );
  if (award.floor !== undefined && op !== 'debit')
    add(['award', 'floor'], 'award.floor: only a debit can take a member below a balance; set `op: debit`.');

  if (op === 'transfer' && input.from === undefined)
    add(['op'], 'from: is missing; a transfer needs the member who gives.');
  if (op !== 'transfer' && input.from !== undefined)
    add(['from'], 'from: only a transfer has a member who gives.');

  for (const [index, name] of (limits.cut ?? []).entries())
    if (limits[name] === undefined)
      add(['limits', 'cut', index], `limits.cut: ${name} is not set, so that there is nothing to cut at.`);
  return faults;
}
