import { createHash } from 'node:crypto';
import { isAlmonerError } from '../../src/core/errors/error.js';
import { MemberTable } from '../../src/csv/member-table.js';
import type { OrderRow } from '../../src/csv/row.js';
import { BY_NOBODY } from '../../src/ledger/read/gate.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { type RealmLedger, storeNowMs } from '../../src/ledger/realm-ledger.js';
import { type Plan, planRows, planSource } from '../../src/planning/plan.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { AWARD_SHEET } from '../../src/rules/awards.js';
import { importing } from '../support/ledger/importing.js';
import { ruleLimit, sealedRun } from './rules.js';
import { csvOf, type File, type Given } from './sheet.js';
import type { World } from './wiring.js';

/** A file that a person has previewed and may start later. */
export type Preview = { readonly given: Given; readonly plan: Plan };

export class Intake {
  constructor(
    private readonly ledger: RealmLedger,
    private readonly world: World,
  ) {}

  async preview(given: Given): Promise<Preview> {
    const { ledger } = this;
    const { profile } = this.world;
    const { again, newRowsOnly, run } = given;
    // Each file gets a process of its own, so that nothing is remembered from before a rollback.
    const plans = new PlanReader(ledger);
    const options = {
      ...{ ledger, plans, profile, again, newRowsOnly, run },
      ...{ skipInvalid: false, now: Date.now(), table: tableOf(given) },
    };
    const text = Buffer.from(csvOf(given.rows));
    const source = {
      name: 'file.csv',
      bytes: text.length,
      chunks: async function* () {
        yield text;
      },
      close: () => Promise.resolve(),
    };
    const plan =
      run === null
        ? await planSource(source, options)
        : await planRows('a rule', AWARD_SHEET, [given.rows.map(awardRow)], options);
    return { given, plan };
  }

  /** Starts the file; null if the program refuses it. */
  async start({ given, plan }: Preview): Promise<File | null> {
    if (plan.findings.faultCount > 0) {
      this.world.trouble(plan.findings.faults(1)[0]?.message ?? '');
      return null;
    }
    const { profile, members } = this.world;
    try {
      const run = given.run === null ? null : sealedRun(given.run, ruleLimit(members));
      const startMs = this.world.takeStart();
      const prepared = {
        ...BY_NOBODY,
        who: 'ada',
        limits: profile.approval,
        start: startMs === null ? null : { at: (await storeNowMs(this.ledger)) + startMs, zone: 'UTC' },
      };
      const { ref } = await importPlan(plan, importing(this.ledger, { profile, run, prepared }));
      return { ...given, id: ref.id };
    } catch (error) {
      if (!isAlmonerError(error)) throw error;
      this.world.trouble(error.message);
      return null;
    }
  }
}

function tableOf({ table }: Given): MemberTable | null {
  if (table === null) return null;
  const lines = [...table].map(([handle, member]) => `${handle},${member}`);
  const made = new MemberTable('members.csv', createHash('sha256').update(lines.join('\n')).digest('hex'));
  for (const [i, [handle, member]] of [...table].entries())
    made.add(handle, { member, line: i + 2, wallet: false });
  return made;
}

function awardRow({ order, reference }: Given['rows'][number], at: number): OrderRow {
  return { kind: 'order', line: at + 2, order, reference, reason: null, replaces: null, cells: [] };
}
