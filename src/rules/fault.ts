import type { ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError } from '../core/errors/error.js';

/** Something wrong with a rule, or with a file that it names, at a place a person can find. */
export type RuleFault = {
  /** As it was named on the command line or in the rule. */
  readonly file: string;
  /** Both counted from 1; 0 where the whole file is meant. */
  readonly line: number;
  readonly column: number;
  readonly code: ErrorCode;
  readonly message: string;
};

/** The form that editors and terminals turn into a link. */
export function faultLine({ file, line, column, code, message }: RuleFault): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  return `${place}: ${message} [${code}]`;
}

/** All faults at once; thrown where a rule is needed and cannot be used. */
export class RuleRefused extends AlmonerError {
  constructor(
    readonly file: string,
    readonly faults: readonly RuleFault[],
  ) {
    const many = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    super(
      'ALM_RULE_INVALID',
      `${file} has ${many} and was refused. Nothing was enqueued and nothing was sent.`,
      {
        details: faults.map(faultLine),
      },
    );
  }
}
