import { distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError } from '../core/errors/error.js';
import { misleadingIn, nameOf } from '../core/visible.js';
import { placeIn, readYaml, type YamlFault, type YamlSource } from '../yaml/read-yaml.js';
import { type ValuePath, valueAt } from '../yaml/values.js';
import { type RulePart, rulePartSchema } from './schema.js';

/** A fault of a rule, or of a file that it names, with a place that a person can find. */
export type RuleFault = {
  /** The file's name as the command line or the rule spells it. */
  readonly file: string;
  /** Both count from 1; 0 means the whole file. */
  readonly line: number;
  readonly column: number;
  readonly code: ErrorCode;
  readonly message: string;
};

export type RuleFaults = { readonly faults: readonly RuleFault[] };

/** A form that editors and terminals turn into a link. */
export function faultLine({ file, line, column, code, message }: RuleFault): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  return `${place}: ${message} [${code}]`;
}

/** All faults of a rule at once. Thrown where a rule is needed but cannot be used. */
export class RuleRefused extends AlmonerError {
  constructor(
    readonly file: string,
    readonly faults: readonly RuleFault[],
  ) {
    const many = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    super(
      'ALM_RULE_INVALID',
      `${file} has ${many} and was refused. Nothing was enqueued and nothing was sent.`,
      { details: faults.map(faultLine) },
    );
  }
}

export const YAML_BYTES_MAX = 4 * 1024 * 1024;

/** Limits for rule files. No real rule needs an alias, such depth, or so many fields in one place. */
const LIMITS = { levels: 20, values: Number.POSITIVE_INFINITY, fields: 500, aliases: 0 };

/** Parses a rule, or a member list that rules refer to, into values with their places. */
export function readRuleYaml(file: string, text: string): YamlSource | RuleFaults {
  const misleading = misleadingIn(text);
  if (misleading !== undefined) {
    const code = misleading.charCodeAt(0).toString(16).padStart(4, '0');
    const message = `${nameOf(misleading)} makes a screen show another text than almoner reads; if you mean it, write it as "\\u${code}".`;
    const place = placeIn(text, text.indexOf(misleading));
    return { faults: [{ file, ...place, code: 'ALM_RULE_SYNTAX', message }] };
  }
  const { source, faults } = readYaml(text, { limits: LIMITS });
  const serious = faults.filter(({ what }) => what !== 'warning');
  if (source !== null && serious.length === 0) return source;
  const isSyntax = serious.some(({ what }) => what === 'syntax');
  return {
    faults: (isSyntax ? serious : serious.slice(0, 1)).map((fault) => {
      const { line, column } = fault;
      return { file, line, column, code: 'ALM_RULE_SYNTAX', message: yamlWords(fault) };
    }),
  };
}

/** Words a YAML fault for rule files. */
function yamlWords({ what, path, detail }: YamlFault): string {
  switch (what) {
    case 'syntax':
    case 'warning':
    case 'values': {
      const first = detail.split('\n')[0]?.trim() ?? '';
      return /[.!?]$/.test(first) ? first : `${first}.`;
    }
    case 'levels':
      return `More than ${LIMITS.levels} levels; no rule is that deep.`;
    case 'fields':
      return `More than ${LIMITS.fields} fields in one place; no rule has that many.`;
    case 'aliases':
      return 'An alias (*name) is not allowed here; write the value itself.';
    case 'name':
      return 'A field name must be a plain word.';
    case 'twice':
      return `The field ${JSON.stringify(path.at(-1))} occurs here twice.`;
  }
}

/** The number of faults to report. People read no more, and finding each place takes time. */
const FAULTS_MAX = 200;

/** Turns schema issues into faults with line and column. Misspelt fields get a hint. */
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

/** The parts of a rule that the schema accepted, so that they can be checked too. */
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

/** The fault of an unknown field, with a hint if it is misspelt. */
function unknownField(file: string, source: YamlSource, path: ValuePath, key: string): RuleFault {
  const name = spell([...path, key]);
  const near = FIELDS.filter((field) => distance(field.toLowerCase(), key.toLowerCase()) <= 2);
  const hint = key === '' || near[0] === undefined || near[0] === key ? '' : ` Did you mean \`${near[0]}\`?`;
  return {
    file,
    ...source.placeOfKey([...path, key]),
    code: 'ALM_RULE_UNKNOWN_FIELD',
    message: `${name || 'a field without a name'}: a rule has no such field here.${hint}`,
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

/** Spells a path: `limits.perRun`, `audience.members[3]`; the file itself is `rule`. */
function spell(path: ValuePath): string {
  if (path.length === 0) return 'rule';
  return path
    .map((step, at) =>
      typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${step.slice(0, 80)}`,
    )
    .join('');
}
