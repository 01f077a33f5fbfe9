import { distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import type { RuleFault } from './fault.js';
import { type RulePart, rulePartSchema } from './schema.js';
import { type ValuePath, valueAt, type YamlSource } from './yaml-source.js';

/** Nobody reads more, and each has to be found in the file. */
const FAULTS_MAX = 200;

/** Turns what the schema says into faults with line and column, and gives misspelt fields a hint. */
export function schemaFaults(
  file: string,
  source: YamlSource,
  issues: readonly z.core.$ZodIssue[],
): readonly RuleFault[] {
  return issues.slice(0, FAULTS_MAX).flatMap((issue): RuleFault[] => {
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknownField(file, source, path, key));
    return [
      {
        file,
        ...source.place(path),
        code: 'ALM_RULE_FIELD',
        message: `${spell(path)}: ${words(issue, source.value, path)}.`,
      },
    ];
  });
}

/** A rule without what the schema refused, so that the rest of it is looked at all the same. */
export function soundPart(value: unknown, issues: readonly z.core.$ZodIssue[]): RulePart {
  const kept = structuredClone(value);
  for (const issue of issues) {
    const inList = issue.path.findIndex((step) => typeof step === 'number');
    const path = (inList === -1 ? issue.path : issue.path.slice(0, inList)).map(String);
    for (const refused of issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [...path, key])
      : [path]) {
      const around = valueAt(kept, refused.slice(0, -1));
      const name = refused.at(-1);
      if (typeof around === 'object' && around !== null && name !== undefined)
        Reflect.deleteProperty(around, name);
    }
  }
  return rulePartSchema.safeParse(kept).data ?? {};
}

function unknownField(file: string, source: YamlSource, path: ValuePath, key: string): RuleFault {
  const name = spell([...path, key]);
  const near = FIELDS.filter((field) => distance(field.toLowerCase(), key.toLowerCase()) <= 2);
  const hint = near[0] === undefined || near[0] === key ? '' : ` Did you mean \`${near[0]}\`?`;
  return {
    file,
    ...source.placeOfKey([...path, key]),
    code: 'ALM_RULE_UNKNOWN_FIELD',
    message: `${name}: no rule has this field here.${hint}`,
  };
}

const FIELDS = (
  'name description realm schedule timezone period audience condition op from award limits maxMissing keepRuns reason ' +
  'cron missed file members checkWallets tokens share rounding floor pot weight perMember perRun perPeriod minimum cut'
).split(' ');

function words(issue: z.core.$ZodIssue, whole: unknown, path: ValuePath): string {
  if (valueAt(whole, path) === undefined) return 'is missing';
  const said = issue.message
    .replace(/^Invalid (input|option): /, '')
    .replace(/^Too (small|big): /, '')
    .replace(/, received .*$/, '')
    .replaceAll('"|"', '", "')
    .replace(/\.$/, '');
  return `${said}, got ${JSON.stringify(valueAt(whole, path)).slice(0, 80)}`;
}

/** `limits.perRun`, `audience.members[3]`; the file itself is `rule`. */
function spell(path: ValuePath): string {
  if (path.length === 0) return 'rule';
  return path
    .map((step, at) =>
      typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${step.slice(0, 80)}`,
    )
    .join('');
}
