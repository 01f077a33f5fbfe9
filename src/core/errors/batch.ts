import type { ErrorEntry } from './entry.js';

/** Batches and orders that a command names or steers. */
export const BATCH_ERRORS = {
  ALM_BATCH_NOT_FOUND: {
    means: 'No batch has that id or prefix.',
    next: 'List the batches with `almoner status`.',
    exit: 2,
  },
  ALM_BATCH_AMBIGUOUS: {
    means: 'Several batches begin with that prefix.',
    next: 'Give more of the batch id; `almoner status` lists them.',
    exit: 2,
  },
  ALM_BATCH_ID_TAKEN: {
    means: 'The id given with --batch-id belongs to a batch of other orders.',
    next: 'Choose another --batch-id, or leave it out.',
    exit: 3,
  },
  ALM_BATCH_ID_OTHER: {
    means:
      'Journals know payments of these orders under another batch id than the one given with --batch-id, and the store has forgotten that batch.',
    next: 'Give the command without --batch-id, or with the id that is named: what the journals know as paid is put back first.',
    exit: 3,
  },
  ALM_BATCH_ORDER_NOT_FOUND: {
    means: 'No order has that id.',
    next: 'Order ids are listed by `almoner dead list`, `almoner doubt list` and in results.csv.',
    exit: 2,
  },
  ALM_BATCH_CANNOT: {
    means: 'The batch is in a state in which this cannot be done.',
    next: 'Look at it with `almoner status BATCH`.',
    exit: 2,
  },
  ALM_BATCH_INTERRUPTED: {
    means: 'The run was interrupted; what was being sent has finished and nothing else is being sent.',
    next: 'Run the same command again, or hand the batch to the workers with `almoner resume`.',
    exit: 130,
  },
  ALM_BATCH_PAUSED: {
    means: 'A person paused the batch.',
    next: 'Continue with `almoner resume BATCH`.',
    exit: 5,
  },
  ALM_BATCH_FIRST: {
    means: 'The batch paused after the number of orders given with --first.',
    next: 'Look at the report, then run the command again without --first.',
    exit: 5,
  },
  ALM_BATCH_REFUSALS: {
    means:
      'The realm refused order after order for the same reason, so the batch was halted before it burnt the rest.',
    next: 'Check the realm, the base URL and the file; then `almoner resume BATCH`, or cancel it.',
    exit: 5,
  },
  ALM_BATCH_DAY_CAP: {
    means: 'The next order would exceed the realm’s daily cap (maxTokensPerDay, UTC days).',
    next: 'Resume the batch tomorrow, or raise the cap in the profile; then `almoner resume BATCH`.',
    exit: 5,
  },
  ALM_BATCH_DAY_SUM: {
    means:
      'The next order would bring the realm’s sum of the UTC day to more than the books can count. The rest stays planned.',
    next: 'Check the amounts; resume the batch tomorrow with `almoner resume BATCH`, or cancel it.',
    exit: 5,
  },
  ALM_BATCH_BREAKER: {
    means: 'The realm gave no definite answer for 15 minutes.',
    next: 'Check the realm; then `almoner resume BATCH`.',
    exit: 5,
  },
  ALM_BATCH_TERMS_CHANGED: {
    means:
      'The realm’s profile has another address, realm or currency than the batch was confirmed with; nothing of it is sent.',
    next: 'Put the profile back as it was and `almoner resume BATCH`, or give the batch up with `almoner cancel BATCH`.',
    exit: 5,
  },
  ALM_BATCH_NOT_RETRIED: {
    means: 'The dead letter was not retried.',
    next: 'See the reason given for each order.',
    exit: 2,
  },
  ALM_BATCH_REALM_NOT_HERE: {
    means: 'The realm of the batch is not configured here, so it cannot be asked.',
    next: 'Configure the realm on this machine, or give the command where it is configured.',
    exit: 2,
  },
  ALM_BATCH_MAY_ARRIVE: {
    means:
      'Orders to be called unpaid were sent so lately that their requests may still arrive and be applied.',
    next: 'Wait until the settle time is over, or confirm it: with `--yes`, or on the desk once more. They can be paid again only after it.',
    exit: 2,
  },
  ALM_BATCH_DECISIONS: {
    means: 'Some of the orders cannot be decided as asked, so none was.',
    next: 'Mend what is listed, then give the command again.',
    exit: 3,
  },
  ALM_BATCH_FILE_EXISTS: {
    means: 'There is already a file of that name, and it is never overwritten.',
    next: 'Move it away, or choose another name with --out.',
    exit: 2,
  },
  ALM_BATCH_REPORT_FOLDER: {
    means: 'The place for a report holds a link, or something else that is not a plain folder or file.',
    next: 'Move it away, or choose another folder with `almoner report BATCH --out DIR`.',
    exit: 2,
  },
  ALM_BATCH_REPORT_NOT_WRITTEN: {
    means: 'The disk did not take the report; no payment is affected.',
    next: 'Mend the folder or free some space, then write it again with `almoner report BATCH`.',
    exit: 1,
  },
} as const satisfies Record<string, ErrorEntry>;
