import { bug, dead, halted, interrupted, refused, usage } from './entry.js';

/** Batches and orders that a command names or steers. */
export const BATCH_ERRORS = {
  ALM_BATCH_NOT_FOUND: usage('No batch has that id or prefix.', 'List the batches with `almoner status`.'),
  ALM_BATCH_AMBIGUOUS: usage(
    'Several batches begin with that prefix, or `last` may be one of several realms.',
    'Give more of the batch id; `almoner status` lists them.',
  ),
  ALM_BATCH_ID_TAKEN: refused(
    'The id given with --batch-id belongs to a batch of other orders.',
    'Choose another --batch-id, or leave it out.',
  ),
  ALM_BATCH_ID_OTHER: refused(
    'Journals know payments of these orders under another batch id than the one given with --batch-id, and the store has forgotten that batch.',
    'Give the command without --batch-id, or with the id that is named: what the journals know as paid is put back first.',
  ),
  ALM_ORDER_MAYBE_PAID: dead(
    'A journal put back another order, which may be this payment, or was or may be paid for the same debt; or an undo of this one that was paid. Nothing more is sent for this one.',
    'Where it is the same payment, `almoner dead discard ORDER`; where both are meant, run its row of failed.csv with --again LABEL, without its almoner_order where that is refused. A doubt ends with `almoner doubt resolve`.',
  ),
  ALM_BATCH_ORDER_NOT_FOUND: usage(
    'No order has that id.',
    'Order ids are listed by `almoner dead list`, `almoner doubt list` and in results.csv.',
  ),
  ALM_BATCH_CANNOT: usage(
    'The batch is in a state in which this cannot be done.',
    'Look at it with `almoner status BATCH`.',
  ),
  ALM_BATCH_INTERRUPTED: interrupted(
    'The run was interrupted; what was being sent has finished and nothing else is being sent.',
    'Run the same command again, or hand the batch to the workers with `almoner resume`.',
  ),
  ALM_BATCH_PAUSED: halted('A person paused the batch.', 'Continue with `almoner resume BATCH`.'),
  ALM_BATCH_APPROVAL: halted(
    'It needs the approval of a second person.',
    'Another person with the role approver looks at it and approves it: `almoner approve BATCH`.',
  ),
  ALM_BATCH_START_MISSED: halted(
    'It was not begun at its time, which is more than an hour ago.',
    'Begin it now with `almoner resume BATCH --now`, or give it up with `almoner cancel BATCH`.',
  ),
  ALM_BATCH_FIRST: halted(
    'The batch paused after the number of orders given with --first.',
    'Look at the report, then run the command again without --first.',
  ),
  ALM_BATCH_REFUSALS: halted(
    'The realm refused order after order for the same reason, so the batch was halted before it burnt the rest.',
    'Check the realm, the base URL and the file; then `almoner resume BATCH`, or cancel it.',
  ),
  ALM_BATCH_DAY_CAP: halted(
    'The next order would exceed the realm’s daily cap (maxTokensPerDay, UTC days).',
    'Resume the batch tomorrow, or raise the cap in the profile; then `almoner resume BATCH`.',
  ),
  ALM_BATCH_DAY_SUM: halted(
    'The next order would bring the realm’s sum of the UTC day to more than the books can count. The rest stays planned.',
    'Check the amounts; resume the batch tomorrow with `almoner resume BATCH`, or cancel it.',
  ),
  ALM_BATCH_BREAKER: halted(
    'The realm gave no definite answer for 15 minutes.',
    'Check the realm; then `almoner resume BATCH`.',
  ),
  ALM_BATCH_TERMS_CHANGED: halted(
    'The realm’s profile has another address, realm or currency than the batch was confirmed with; nothing of it is sent.',
    'Put the profile back as it was and `almoner resume BATCH`, or give the batch up with `almoner cancel BATCH`.',
  ),
  ALM_BATCH_NOT_RETRIED: usage('The dead letter was not retried.', 'See the reason given for each order.'),
  ALM_BATCH_REALM_NOT_HERE: usage(
    'The realm of the batch is not configured here, so it cannot be asked.',
    'Configure the realm on this machine, or give the command where it is configured.',
  ),
  ALM_BATCH_MAY_ARRIVE: usage(
    'Orders to be called unpaid were sent so lately that their requests may still arrive and be applied.',
    'Wait until the settle time is over, or confirm it: with `--yes`, or on the desk once more. They can be paid again only after it.',
  ),
  ALM_BATCH_DECISIONS: refused(
    'Some of the orders cannot be decided as asked, so none was.',
    'Mend what is listed, then give the command again.',
  ),
  ALM_BATCH_FILE_EXISTS: usage(
    'There is already a file of that name, and it is never overwritten.',
    'Move it away, or choose another name with --out.',
  ),
  ALM_BATCH_REPORT_FOLDER: usage(
    'The place for a report holds a link, or something else that is not a plain folder or file.',
    'Move it away, or choose another folder with `almoner report BATCH --out DIR`.',
  ),
  ALM_BATCH_REPORT_NOT_WRITTEN: bug(
    'The disk did not take the report; no payment is affected.',
    'Mend the folder or free some space, then write it again with `almoner report BATCH`.',
  ),
};

/** Classes of a write attempt that was not plainly paid; they appear as class and error_code. */
export const OUTCOME_ERRORS = {
  ALM_SEND_NOT_SENT: dead(
    'The connection was never completed: nothing was sent.',
    'Nothing was applied. It is tried again by itself when the realm can be reached; check the base URL and the network. What has ended is sent again by `almoner dead retry`.',
  ),
  ALM_SEND_BAD_CERTIFICATE: halted(
    "The realm's TLS certificate was not accepted: nothing was sent.",
    'Check the base URL, the clock of this machine and the certificate; then `almoner resume`, which keeps set times.',
  ),
  ALM_SEND_TIMEOUT: dead(
    'The request was sent and no complete answer came in time: it may or may not have been applied.',
    'Nothing is sent again without proof. See `almoner doubt list` for what is left to decide.',
  ),
  ALM_SEND_RESET: dead(
    'The connection broke after sending: the change may or may not have been applied.',
    'Nothing is sent again without proof. See `almoner doubt list` for what is left to decide.',
  ),
  ALM_SEND_UNREADABLE: dead(
    'The answer was cut, empty, too large or not JSON: it does not prove that the change was applied.',
    'Look at the answer with `almoner doubt show`; a proxy or a wrong base URL often stands behind it.',
  ),
  ALM_SEND_CONTRADICTED: dead(
    'The status says success and the body says otherwise: the change may or may not have been applied.',
    'Look at the answer with `almoner doubt show`, check the member upstream, then resolve the doubt.',
  ),
  ALM_SEND_ACCEPTED_ONLY: dead(
    'The realm answered 202: taken, but not yet applied, and it may never be.',
    'Check the member upstream, then resolve the doubt; a status override can settle it for good.',
  ),
  ALM_SEND_CONFLICT: dead(
    'The realm answered 408, 409, 423 or 424: an earlier copy of the change may still be applied.',
    'Check the member upstream, then resolve the doubt.',
  ),
  ALM_SEND_REDIRECTED: dead(
    'The realm answered with a redirect, which is never followed for a change.',
    'Correct the base URL to where the redirect points; check the member, then resolve the doubt.',
  ),
  ALM_SEND_SERVER_ERROR: dead(
    'The realm answered with a server error: the change may or may not have been applied.',
    'Nothing is sent again without proof. See `almoner doubt list` for what is left to decide.',
  ),
  ALM_SEND_UNLISTED: dead(
    'The realm answered with a status that promises nothing about the change.',
    'Check the member upstream, then resolve the doubt; a status override can settle it for good.',
  ),
  ALM_REFUSED_NOT_FOUND: dead(
    'The realm does not know the member (404 or 410): nothing was applied.',
    'Check the id; a mended row of failed.csv can be run again.',
  ),
  ALM_REFUSED_BALANCE: dead(
    'The realm refused the change (402 or 422), usually because the balance is too small.',
    'Nothing was applied. Check the balance with `almoner member`, then `almoner dead retry`.',
  ),
  ALM_REFUSED_INPUT: dead(
    'The realm refused the request as invalid: nothing was applied.',
    "Read the realm's message; mend the row, or the profile when every order meets it.",
  ),
  ALM_REFUSED_OTHER: dead(
    'The realm refused the change: nothing was applied.',
    "Read the realm's message; `almoner dead retry` sends it again once the cause is gone.",
  ),
  ALM_SLOW_DOWN: dead(
    'The realm asked to slow down (429, 421 or 425): nothing was applied.',
    'almoner waits by itself; lower ALMONER_RATE when it happens often.',
  ),
  ALM_KEY_REFUSED: halted(
    'The realm answered 401: the API key is wrong or does not exist. Nothing was applied.',
    'Put the right key where the profile looks for it, then `almoner resume`, which keeps set times.',
  ),
  ALM_KEY_OTHER_REALM: halted(
    'The realm answered 403: the API key belongs to a different realm. Nothing was applied.',
    'Use the key of this realm, or the realm of this key, then `almoner resume`, which keeps set times.',
  ),
  ALM_KEY_UNUSABLE: halted(
    'The API key is missing or cannot stand in a header: nothing was sent.',
    'Put the key where the profile looks for it, as one line of plain text, then `almoner resume`, which keeps set times.',
  ),
  ALM_SEND_UNREAD: dead(
    'The member could not be read before sending, again and again: nothing was sent.',
    'Nothing was applied. Try `almoner member ID`; `almoner dead retry` sends it once the member can be read.',
  ),
  ALM_SEND_NO_BALANCE: dead(
    'The member record does not show the balance that read-back needs: nothing was sent.',
    'Nothing was applied. Look at `almoner member ID`; set `balancePath` or `realmPointId` in the profile, then `almoner dead retry`.',
  ),
  ALM_SEND_OWNER_DIED: dead(
    'The process that was sending the order died. It is not known whether the request arrived.',
    'Where the realm honours keys it is sent again with the same key; otherwise look for it upstream and `almoner doubt resolve`.',
  ),
  ALM_SEND_STORE_LOST: dead(
    'A store, a journal or a data folder was lost, and with it payments that almoner no longer knows. This order may be one of them.',
    'Look for the request upstream, then `almoner doubt resolve ORDER --paid|--unpaid --reason …`.',
  ),
  ALM_SEND_UNRESOLVED: dead(
    'The outcome is unknown and the realm’s certainty gives no way to prove it.',
    'Look for the request upstream, then `almoner doubt resolve ORDER --paid|--unpaid --reason …`.',
  ),
  ALM_SEND_REFERENCE_HELD: dead(
    'Another order holds the reference of this order, so that nothing was sent for it.',
    'Look at the order that is named. Where that one was not paid, retry this one once its reference is free.',
  ),
  ALM_SEND_SAID_UNPAID: dead(
    'An operator resolved the doubt as not paid.',
    'Nothing is sent again by itself; `almoner dead retry` sends it with the same key, once its request can no longer arrive.',
  ),
  ALM_SEND_RAISED: dead(
    'An operator made a doubt of an order whose outcome was unknown.',
    'Look for the request upstream, then `almoner doubt resolve ORDER --paid|--unpaid --reason …`.',
  ),
  ALM_SEND_HALTED: halted(
    'The realm answered with a status that the profile declares a reason to stop. Nothing was applied.',
    "Read the realm's message, see to its cause, then `almoner resume`, which keeps set times.",
  ),
  ALM_PROXY_AUTH: halted(
    'A proxy answered 407 and wants a login: the realm was not reached.',
    'Let this machine reach the realm directly, or sign in at the proxy, then `almoner resume`, which keeps set times.',
  ),
};

export type OutcomeCode = keyof typeof OUTCOME_ERRORS;
