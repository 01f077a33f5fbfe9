import { CATALOGUE, type ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError } from '../core/errors/error.js';
import { inOwnWords } from './explain.js';
import type { Plan } from './output-types.js';

/**
 * The refusal of an input with faults: nothing was enqueued and nothing was sent. Its code is that of the only fault,
 * where that fault concerns the whole input (such as `ALM_PLAN_LOOKS_PAID`); else it is `ALM_PLAN_FAULTS`.
 */
export class PlanRefused extends AlmonerError {
  /** The plan, with its faults. */
  readonly plan: Plan;

  constructor(code: ErrorCode, message: string, plan: Plan) {
    const details = plan.faults.map((fault) => `${placeOf(fault)}${fault.message}`);
    super(code, message, { details, next: inOwnWords(CATALOGUE[code].next) });
    this.plan = plan;
  }
}

function placeOf({ line, row }: Plan['faults'][number]): string {
  if (line === 0) return '';
  return row === null ? `line ${line}: ` : `row ${row}: `;
}
