import type { RuleFault } from './fault.js';
import { cronFault } from './schedule.js';
import type { RulePart } from './schema.js';
import { type ValuePath, valueAt, type YamlSource } from './yaml-source.js';
import { isZone } from './zone.js';

/**
 * What one field of a rule says about another, and what only a calendar knows. `input` lacks what the schema
 * refused; whether a field stands there at all is asked of the file, so that a refused one is not missed too.
 */
export function crossFaults(file: string, source: YamlSource, input: RulePart): readonly RuleFault[] {
  const has = (...path: ValuePath) => valueAt(source.value, path) !== undefined;
  const faults: RuleFault[] = [];
  const add = (path: ValuePath, message: string, code: RuleFault['code'] = 'ALM_RULE_FIELD') =>
    faults.push({ file, ...source.place(path), code, message });
  const { schedule, limits } = input;

  if (schedule !== undefined) {
    const cron = schedule.cron === undefined ? undefined : cronFault(schedule.cron);
    if (cron !== undefined) add(['schedule', 'cron'], `schedule.cron: ${cron}`, 'ALM_RULE_CRON');
    if (!has('limits', 'perRun'))
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

  if (input.award !== undefined && has('award', 'tokens') === has('award', 'share'))
    add(['award'], 'award: expected either `tokens` or `share`.');
  if (has('award', 'share') && has('award', 'rounding'))
    add(
      ['award', 'rounding'],
      'award.rounding: shares are whole by themselves (largest remainders); leave it out.',
    );
  // An op that was refused says nothing about the others.
  const op = has('op') ? input.op : 'credit';
  if (op !== undefined && op !== 'debit' && has('award', 'floor'))
    add(['award', 'floor'], 'award.floor: only a debit can take a member below a balance; set `op: debit`.');
  if (op === 'transfer' && !has('from'))
    add(['op'], 'from: is missing; a transfer needs the member who gives.');
  if (op !== undefined && op !== 'transfer' && has('from'))
    add(['from'], 'from: only a transfer has a member who gives.');

  for (const [index, name] of (limits?.cut ?? []).entries())
    if (!has('limits', name))
      add(['limits', 'cut', index], `limits.cut: ${name} is not set, so that there is nothing to cut at.`);
  return faults;
}
