import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../core/errors/error.js';
import { memberId } from '../core/ids.js';
import { isZone } from '../core/zones.js';
import { placeInside, type YamlSource } from '../yaml/read-yaml.js';
import { type ValuePath, valueAt } from '../yaml/values.js';
import { type OnFile, readAudience } from './audience.js';
import { RUN_FIELDS } from './cel-values.js';
import { compileExpression } from './expression.js';
import type { FactsUsed } from './facts-used.js';
import { type RuleFault, readRuleYaml, schemaFaults, soundPart, YAML_BYTES_MAX } from './fault.js';
import type { Award, FaultyRule, LoadedRule, PlacedExpression } from './rule.js';
import { cronFault } from './schedule.js';
import { type RuleInput, type RulePart, ruleSchema } from './schema.js';

/**
 * Reads a rule file and all files that it names. Finds all faults, each with line and column. `file` is the name for
 * people.
 */
export async function loadRule(
  path: string,
  file: string = path,
  onFile?: OnFile,
): Promise<LoadedRule | FaultyRule> {
  const text = await readText(path, file);
  if (typeof text !== 'string') return { name: null, faults: [text] };
  const source = readRuleYaml(file, text);
  if ('faults' in source) return { name: null, faults: source.faults };
  const parsed = ruleSchema.safeParse(source.value);
  const issues = parsed.error?.issues ?? [];
  const input = parsed.data ?? soundPart(source.value, issues);

  const audience = await readAudience(input.audience, {
    file: path,
    shown: file,
    source,
    path: ['audience'],
    onFile: onFile ?? (async () => {}),
  });
  const columns = 'faults' in audience ? null : audience.columns;
  const compiled = compileRule(file, source, input, columns);
  const faults = [
    ...schemaFaults(file, source, issues),
    ...crossFaults(file, source, input),
    ...compiled.faults,
    ...('faults' in audience ? audience.faults : []),
  ];
  if (faults.length > 0 || !parsed.success || compiled.award === null || 'faults' in audience) {
    const name = valueAt(source.value, ['name']);
    return { name: typeof name === 'string' ? name : null, faults };
  }
  const { award, condition } = compiled;
  const own = { file, path: resolve(path), hash: hashOf(text), award, condition };
  return { rule: { ...own, ...settingsOf(parsed.data) }, audience };
}

/** The settings of a rule, without its expressions. */
function settingsOf({ name, realm, schedule, period, op, from, keepRuns, reason, ...input }: RuleInput) {
  const zone = schedule?.timezone ?? input.timezone ?? 'UTC';
  const { perMember = null, perRun = null, perPeriod = null, minimum = null, cut = [] } = input.limits;
  return {
    name,
    realm,
    currency: input.currency ?? null,
    schedule:
      schedule === undefined ? null : { cron: schedule.cron.trim(), timezone: zone, missed: schedule.missed },
    zone,
    period,
    op,
    from: from === undefined ? null : memberId(String(from)),
    floor: input.award.floor ?? null,
    limits: { perMember, perRun, perPeriod },
    minimum,
    cut: new Set(cut),
    maxMissing: Number.parseFloat(input.maxMissing) / 100,
    keepRuns,
    reason,
  };
}

/** True for a member list that rules refer to: such a file lies in the same folder and is no rule. */
export async function isAudienceOnly(path: string): Promise<boolean> {
  const text = await readText(path, path);
  const source = typeof text === 'string' ? readRuleYaml(path, text) : { faults: [] };
  if ('faults' in source) return false;
  const has = (field: string) => valueAt(source.value, [field]) !== undefined;
  return (has('members') || has('file')) && !has('name') && !has('award');
}

/** Hashes the rule file alone, without its audience: a new member list every week is normal. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Reads a rule file as text, or returns the fault that prevents it. */
async function readText(path: string, file: string): Promise<string | RuleFault> {
  const refuse = (message: string): RuleFault => ({
    file,
    line: 0,
    column: 0,
    code: 'ALM_RULE_FILE_MISSING',
    message,
  });
  try {
    const found = await stat(path);
    // Reading from a pipe would block.
    if (!found.isFile()) return refuse('This is a folder or a device, expected a rule file.');
    if (found.size > YAML_BYTES_MAX)
      return refuse(`The file is larger than ${YAML_BYTES_MAX} bytes; put the members into a CSV.`);
    return await readFile(path, 'utf8');
  } catch (error) {
    return refuse(`The rule file cannot be read: ${messageOf(error)}.`);
  }
}

/**
 * Checks that involve several fields, or the calendar. `input` lacks the fields that the schema refused. The file
 * itself tells whether a field is present, so a refused field is not also reported as missing.
 */
function crossFaults(file: string, source: YamlSource, input: RulePart): readonly RuleFault[] {
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
      add(['timezone'], 'timezone: differs from schedule.timezone; write it only once.');
  }
  for (const [path, zone] of [
    [['timezone'], input.timezone],
    [['schedule', 'timezone'], schedule?.timezone],
  ] as const)
    if (zone !== undefined && !isZone(zone))
      add(path, `${path.join('.')}: ${JSON.stringify(zone)} is not a known time zone.`, 'ALM_RULE_TIMEZONE');

  if (input.award !== undefined && has('award', 'tokens') === has('award', 'share'))
    add(['award'], 'award: expected either `tokens` or `share`.');
  if (has('award', 'share') && has('award', 'rounding'))
    add(['award', 'rounding'], 'award.rounding: shares are always whole (largest remainders); remove it.');
  // A refused op allows no conclusion about the other fields.
  const op = has('op') ? input.op : 'credit';
  if (op !== undefined && op !== 'debit' && has('award', 'floor'))
    add(['award', 'floor'], 'award.floor: only a debit can lower a balance; set `op: debit`.');
  if (op === 'transfer' && !has('from')) add(['op'], 'from: is missing; a transfer needs the giving member.');
  if (op !== undefined && op !== 'transfer' && has('from'))
    add(['from'], 'from: only a transfer has a giving member.');

  for (const [index, name] of (limits?.cut ?? []).entries())
    if (!has('limits', name))
      add(['limits', 'cut', index], `limits.cut: ${name} is not set, so there is no limit to cut at.`);
  return faults;
}

/** Compiles the expressions of a rule. Checks their types and the columns that they name. */
function compileRule(file: string, source: YamlSource, input: RulePart, columns: readonly string[] | null) {
  const faults: RuleFault[] = [];
  const compile = (text: string, path: ValuePath, types: readonly string[]): PlacedExpression | null => {
    const field = path.join('.');
    const fault = (offset: number, message: string) =>
      faults.push({
        file,
        ...placeInside(source.written(path), offset),
        code: 'ALM_RULE_EXPRESSION',
        message: `${field}: ${message}`,
      });
    const compiled = compileExpression(text);
    const isMisused = 'misuses' in compiled;
    if (isMisused) for (const { offset, message } of compiled.misuses) fault(offset, message);
    else if (!types.includes(compiled.type))
      fault(0, `It gives ${compiled.type}, expected ${types.filter((type) => type !== 'dyn').join(' or ')}.`);
    for (const message of unknownNames(compiled.used, columns)) fault(0, message);
    if (isMisused || !types.includes(compiled.type)) return null;
    return { ...compiled, field, written: source.written(path) };
  };
  const condition =
    input.condition === undefined ? null : compile(input.condition, ['condition'], ['bool', 'dyn']);
  const award = compileAward(input, compile);
  // Whole results need no rounding. For any other result the rule must name the rounding, so that a point more or
  // less is no surprise.
  if (
    award?.kind === 'computed' &&
    award.tokens.type !== 'int' &&
    valueAt(source.value, ['award', 'rounding']) === undefined
  )
    faults.push({
      file,
      ...source.place(['award']),
      code: 'ALM_RULE_FIELD',
      message: 'award.rounding: is missing; the award may be a fraction, so write floor, round or ceil.',
    });
  return { condition, award, faults };
}

const NUMBERS = ['int', 'fraction', 'dyn'];

function compileAward(
  { award }: RulePart,
  compile: (text: string, path: ValuePath, types: readonly string[]) => PlacedExpression | null,
): Award | null {
  const { share, tokens: written, rounding = null } = award ?? {};
  if (share !== undefined) {
    // Only one of the two fields is allowed. Both are compiled, so that all faults appear at once.
    if (typeof written === 'string') compile(written, ['award', 'tokens'], NUMBERS);
    const { pot, weight: text } = share;
    const weight = text === undefined ? null : compile(text, ['award', 'share', 'weight'], NUMBERS);
    return weight === null || pot === undefined ? null : { kind: 'share', pot, weight };
  }
  if (typeof written === 'number') return { kind: 'fixed', tokens: written };
  const tokens = written === undefined ? null : compile(written, ['award', 'tokens'], NUMBERS);
  return tokens === null ? null : { kind: 'computed', tokens, rounding };
}

/** Finds columns and fields of `run` that do not exist. Each of them would leave every member out. */
function unknownNames(used: FactsUsed | null, columns: readonly string[] | null): string[] {
  const unknown = (names: FactsUsed['row'] | undefined, known: readonly string[]) =>
    names instanceof Set ? [...names].filter((name) => !known.includes(name)) : [];
  const rows = columns === null ? [] : unknown(used?.row, columns);
  return [
    ...rows.map(
      (name) => `row.${name}: the audience does not have this column; it has ${columns?.join(', ')}.`,
    ),
    ...unknown(used?.run, RUN_FIELDS).map(
      (name) => `run.${name}: there is no such field; expected ${RUN_FIELDS.join(', ')}.`,
    ),
  ];
}
