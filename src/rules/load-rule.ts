import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../core/errors/error.js';
import { memberId } from '../core/ids.js';
import { type AudienceResult, type OnFile, readAudience } from './audience.js';
import { compileRule } from './compile-rule.js';
import { crossFaults } from './cross-checks.js';
import type { RuleFault } from './fault.js';
import type { Rule, RuleResult } from './rule.js';
import { type RuleInput, ruleSchema } from './schema.js';
import { schemaFaults, soundPart } from './schema-faults.js';
import { readYaml, valueAt, YAML_BYTES_MAX } from './yaml-source.js';

/**
 * Reads a rule file and everything it names. All faults are found, each with line and column; `file` is what
 * people call the path.
 */
export async function loadRule(path: string, file: string = path, onFile?: OnFile): Promise<RuleResult> {
  const text = await readText(path, file);
  if (typeof text !== 'string') return { name: null, faults: [text] };
  const source = readYaml(file, text);
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
    ...faultsOf(audience),
  ];
  if (faults.length > 0 || !parsed.success || compiled.award === null || 'faults' in audience)
    return { name: nameIn(source.value), faults };
  return {
    rule: {
      ...ruleOf(file, text, parsed.data),
      path: resolve(path),
      award: compiled.award,
      condition: compiled.condition,
    },
    audience,
  };
}

function ruleOf(file: string, text: string, input: RuleInput): Omit<Rule, 'award' | 'condition' | 'path'> {
  const zone = input.schedule?.timezone ?? input.timezone ?? 'UTC';
  const { perMember = null, perRun = null, perPeriod = null, minimum = null, cut = [] } = input.limits;
  return {
    file,
    hash: hashOf(text),
    name: input.name,
    description: input.description ?? null,
    realm: input.realm,
    schedule:
      input.schedule === undefined
        ? null
        : { cron: input.schedule.cron.trim(), timezone: zone, missed: input.schedule.missed },
    zone,
    period: input.period,
    op: input.op,
    from: input.from === undefined ? null : memberId(String(input.from)),
    floor: input.award.floor ?? null,
    limits: { perMember, perRun, perPeriod },
    minimum,
    cut: new Set(cut),
    maxMissing: Number.parseFloat(input.maxMissing) / 100,
    keepRuns: input.keepRuns,
    reason: input.reason,
  };
}

/** A list of members that rules refer to lies in the same folder and is no rule. */
export async function isAudienceOnly(path: string): Promise<boolean> {
  const text = await readText(path, path);
  const source = typeof text === 'string' ? readYaml(path, text) : { faults: [] };
  if ('faults' in source) return false;
  const has = (field: string) => valueAt(source.value, [field]) !== undefined;
  return (has('members') || has('file')) && !has('name') && !has('award');
}

/** Only the rule itself counts, not its audience: a new list every week is the normal course of things. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function faultsOf(audience: AudienceResult): readonly RuleFault[] {
  return 'faults' in audience ? audience.faults : [];
}

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
    // A pipe would be waited for.
    if (!found.isFile()) return refuse('This is a folder or a device, expected a rule file.');
    if (found.size > YAML_BYTES_MAX)
      return refuse(`The file is larger than ${YAML_BYTES_MAX} bytes; put the members into a CSV.`);
    return await readFile(path, 'utf8');
  } catch (error) {
    return refuse(`The rule file cannot be read: ${messageOf(error)}.`);
  }
}

/** The name of a rule that has faults, so that a list can still show it. */
function nameIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('name' in value)) return null;
  return typeof value.name === 'string' ? value.name : null;
}
