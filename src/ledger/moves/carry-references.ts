import { AlmonerError } from '../../core/errors/error.js';
import type { BatchId } from '../../core/ids.js';
import type { Order } from '../../core/order.js';
import { contentDigest, referenceHash } from '../../core/reference.js';
import { otherFormat } from '../format.js';
import { askScript, type RealmLedger } from '../realm-ledger.js';

/** A reference that was paid elsewhere, and what was paid, where that is known. */
export type CarriedReference = {
  readonly line: number;
  readonly reference: string;
  readonly order: Order | null;
};

export type Carried = { readonly marked: number; readonly spent: number };

const AT_ONCE = 500;
/** Of one packed reference. */
const BYTES = 24;
const UNKNOWN = '??????';

type Carrying = {
  readonly id: BatchId;
  readonly note: {
    readonly at: number;
    readonly who: string;
    readonly file: string;
    readonly references: number;
  };
};

/** Marks them as spent; those that are spent already stay as they are. */
export async function carryReferences(
  ledger: RealmLedger,
  { id, note }: Carrying,
  packed: Buffer,
  onProgress: (done: number) => void,
): Promise<Carried> {
  let [no, marked, spent] = ['', 0, 0];
  for (let first = 0; first < packed.length; first += AT_ONCE * BYTES) {
    const some = packed.subarray(first, first + AT_ONCE * BYTES);
    const args = [no, id, JSON.stringify(note), some];
    const [answer = '', more = '0', already = '0'] = await askScript(ledger, 'carry-references', args);
    if (answer === 'older' || answer === 'newer') throw otherFormat(answer);
    if (answer === 'gone')
      throw new AlmonerError(
        'ALM_LEDGER_SESSION',
        `The store was restored while the references were added: those of the first ${first} lines may be forgotten.`,
        { next: 'Run the same command again. What is marked already stays marked.' },
      );
    no = answer;
    marked += Number(more);
    spent += Number(already);
    onProgress((first + some.length) / BYTES);
  }
  return { marked, spent };
}

export function packReferences(references: readonly CarriedReference[]): Buffer {
  return Buffer.concat(references.map(pack));
}

function pack({ line, reference, order }: CarriedReference): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(line);
  const digest = order === null ? UNKNOWN : contentDigest(order);
  return Buffer.concat([Buffer.from(referenceHash(reference) + digest, 'latin1'), number]);
}
