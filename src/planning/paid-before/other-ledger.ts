import { AlmonerError } from '../../core/errors/error.js';
import { stoppedBy } from '../../core/paid-before.js';
import { type Finding, ofFile } from '../../csv/row.js';
import { type planning, type RealmLedger, recovery } from '../../ledger/index.js';
import { utcMinute } from '../../words/spelling.js';
import { passAddresses, whyMoved } from './looks-paid.js';

/** What a plan says of a ledger that is new, where this machine has paid the realm from another one. */
export function elsewhereFinding(
  { realm }: RealmLedger,
  others: readonly recovery.PaidElsewhere[],
  newRowsOnly: boolean,
): Finding {
  const places = others.map(({ folder, at }) => `${folder} (last on ${utcMinute(at)})`);
  return ofFile(
    'ALM_LEDGER_ELSEWHERE',
    `This ledger has paid nothing in realm ${realm.name} yet, and this machine has paid that realm from another ledger: data folder ${places.join(', ')}. This ledger would pay the same orders again.${newRowsOnly ? ' Nor does --new-rows-only know which rows were paid there: take the rows of paid.csv of its reports out of the file yourself, and give it with --new-ledger alone.' : ''}`,
  );
}

type Seen = {
  readonly movedFrom: readonly planning.EarlierAddress[];
  readonly elsewhere: readonly recovery.PaidElsewhere[];
};
type By = { readonly who: string; readonly at: number };

/**
 * Every batch passes this before its seal, however long ago it was planned: other addresses and other ledgers of the realm
 * that the person has seen are noted, any other one stops the batch.
 */
export async function passPlaces(ledger: RealmLedger, { movedFrom, elsewhere }: Seen, by: By): Promise<void> {
  await passAddresses(ledger, movedFrom, by);
  const seen = elsewhere.map(({ folder }) => folder);
  const unseen = (await recovery.folders.ledgersElsewhere(ledger)).filter(
    ({ folder }) => !seen.includes(folder),
  );
  if (unseen.length > 0) throw stoppedBy(elsewhereFinding(ledger, unseen, false));
  if (seen.length > 0) await recovery.fence.acceptNewLedger(ledger, seen, by);
}

/** What the audit says of places that a person has accepted. */
export function whyPlaces({ movedFrom, elsewhere }: Seen): string[] {
  const ledgers = elsewhere.map(({ folder }) => `new ledger: this machine has paid the realm from ${folder}`);
  return [...whyMoved(movedFrom), ...ledgers];
}

/** Why a ledger that is closed takes no batch: the reason that a person has to decide about comes first. */
export async function closedError(ledger: RealmLedger): Promise<AlmonerError> {
  const { reason } = await recovery.fence.read(ledger);
  if (reason !== null)
    return new AlmonerError(reason.code, `${reason.message} Nothing was enqueued.`, { next: reason.next });
  return new AlmonerError(
    'ALM_LEDGER_DISARMED',
    'The store was restarted or restored, and journals that may know of payments are not merged yet: what of this was paid already cannot be told. Nothing was enqueued.',
  );
}
