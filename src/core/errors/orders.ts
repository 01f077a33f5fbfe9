import { bug, dead, halted, interrupted, refused, usage } from './entry.js';

/** Batches and orders that a command names or steers. */
export const BATCH_ERRORS = {
  ALM_BATCH_NOT_FOUND: usage('No batch has that id or prefix.', 'List the batches with `almoner status`.'),
  ALM_BATCH_AMBIGUOUS: usage(
    'Several batches have that prefix, or `last` is not unique among several realms.',
    'Give more of the batch id; `almoner status` lists them.',
  ),
  ALM_BATCH_ID_TAKEN: refused(
    'The id given with --batch-id belongs to a batch of other orders.',
    'Choose another --batch-id, or leave it out.',
  ),
  ALM_BATCH_ID_OTHER: refused(
    'Journals know payments of these orders under another batch id, which the store has forgotten.',
    'Leave --batch-id out, or give the named id. almoner restores the known payments first.',
  ),
  ALM_ORDER_MAYBE_PAID: dead(
    'A journal restored an order that may be this payment, or an undo of this order was paid. Nothing more is sent for this order.',
    'For the same payment, run `almoner dead discard ORDER`. If both are meant, run its row of failed.csv with --again LABEL; empty almoner_order if it is refused. Resolve a doubt with `almoner doubt resolve`.',
  ),
  ALM_BATCH_ORDER_NOT_FOUND: usage(
    'No order has that id.',
    '`almoner dead list`, `almoner doubt list` and results.csv list order ids.',
  ),
  ALM_BATCH_CANNOT: usage('The batch’s state does not allow this.', 'Check it with `almoner status BATCH`.'),
  ALM_BATCH_INTERRUPTED: interrupted(
    'The run was interrupted. Open requests finished, and nothing else is being sent.',
    'Run the same command again, or hand the batch to the workers with `almoner resume`.',
  ),
  ALM_BATCH_PAUSED: halted('A person paused the batch.', 'Continue with `almoner resume BATCH`.'),
  ALM_BATCH_APPROVAL: halted(
    'The batch needs the approval of a second person.',
    'Another person with the role approver checks it and runs `almoner approve BATCH`.',
  ),
  ALM_BATCH_START_MISSED: halted(
    'The batch did not start at its time, more than an hour ago.',
    'Start it with `almoner resume BATCH --now`, or run `almoner cancel BATCH`.',
  ),
  ALM_BATCH_FIRST: halted(
    'The batch paused after the number of orders given with --first.',
    'Look at the report, then run the command again without --first.',
  ),
  ALM_BATCH_REFUSALS: halted(
    'The realm refused order after order for the same reason, so almoner halted the batch.',
    'Check the realm, the base URL and the file; then `almoner resume BATCH`, or cancel it.',
  ),
  ALM_BATCH_DAY_CAP: halted(
    'The next order would exceed the realm’s daily cap (maxTokensPerDay, UTC days).',
    'Raise the cap or wait until tomorrow, then run `almoner resume BATCH`.',
  ),
  ALM_BATCH_DAY_SUM: halted(
    'The realm’s sum of this UTC day would exceed the largest number of the ledger. The rest stays planned.',
    'Check the amounts. Run `almoner resume BATCH` tomorrow, or cancel it.',
  ),
  ALM_BATCH_BREAKER: halted(
    'The realm gave no definite answer for 15 minutes.',
    'Check the realm; then `almoner resume BATCH`.',
  ),
  ALM_BATCH_TERMS_CHANGED: halted(
    'The profile’s address, realm or currency differs from the confirmed batch. almoner sends nothing of it.',
    'Restore the profile and run `almoner resume BATCH`, or run `almoner cancel BATCH`.',
  ),
  ALM_BATCH_NOT_RETRIED: usage('The dead letter was not retried.', 'See the reason given for each order.'),
  ALM_BATCH_REALM_NOT_HERE: usage(
    'The batch’s realm is not configured on this machine.',
    'Configure the realm here, or run the command on a machine that has it.',
  ),
  ALM_BATCH_MAY_ARRIVE: usage(
    'The realm may still apply these requests.',
    'Wait for the settle time, or confirm with `--yes` or on the desk. almoner pays them again only after it.',
  ),
  ALM_BATCH_DECISIONS: refused(
    'Some orders cannot be decided as asked, so almoner decided none.',
    'Correct what is listed, then repeat the command.',
  ),
  ALM_BATCH_FILE_EXISTS: usage(
    'There is already a file of that name, and it is never overwritten.',
    'Move it away, or choose another name with --out.',
  ),
  ALM_BATCH_REPORT_FOLDER: usage(
    'The report’s place holds a link or a special file.',
    'Move it away, or choose another folder with `almoner report BATCH --out DIR`.',
  ),
  ALM_BATCH_REPORT_NOT_WRITTEN: bug(
    'The disk did not take the report. Payments are not affected.',
    'Free some space or repair the folder, then run `almoner report BATCH`.',
  ),
};

/** Classes of a write attempt that was not plainly paid; they appear as class and error_code. */
export const OUTCOME_ERRORS = {
  ALM_SEND_NOT_SENT: dead(
    'The connection was never completed: nothing was sent or applied.',
    'almoner retries. Check the base URL and the network; then `almoner dead retry`.',
  ),
  ALM_SEND_BAD_CERTIFICATE: halted(
    "The realm's TLS certificate was not accepted: nothing was sent.",
    'Check the base URL, this machine’s clock and the certificate, then run `almoner resume`.',
  ),
  ALM_SEND_TIMEOUT: dead(
    'No complete reply came in time: the change may or may not have been applied.',
    'almoner sends nothing without proof. `almoner doubt list` shows open decisions.',
  ),
  ALM_SEND_RESET: dead(
    'The connection broke after sending: the change may or may not have been applied.',
    'almoner sends nothing without proof. `almoner doubt list` shows open decisions.',
  ),
  ALM_SEND_UNREADABLE: dead(
    'The reply is cut, empty, too large or not JSON: it proves nothing.',
    'Read it with `almoner doubt show`. A proxy or a wrong base URL is the usual cause.',
  ),
  ALM_SEND_CONTRADICTED: dead(
    'The status says success and the body does not: the change may or may not have been applied.',
    'Read the reply with `almoner doubt show` and check the member upstream.',
  ),
  ALM_SEND_ACCEPTED_ONLY: dead(
    'The realm answered 202: accepted, but not applied.',
    'Check the member upstream, then resolve the doubt. A status override settles it for good.',
  ),
  ALM_SEND_CONFLICT: dead(
    'The realm answered 408, 409, 423 or 424: it may still apply an earlier copy of the change.',
    'Check the member upstream, then resolve the doubt.',
  ),
  ALM_SEND_REDIRECTED: dead(
    'The realm answered with a redirect, which almoner never follows for a change.',
    'Correct the base URL to the redirect’s target; check the member, then resolve the doubt.',
  ),
  ALM_SEND_SERVER_ERROR: dead(
    'The realm answered with a server error: the change may or may not have been applied.',
    'almoner sends nothing without proof. `almoner doubt list` shows open decisions.',
  ),
  ALM_SEND_UNLISTED: dead(
    'The realm answered with a status that proves nothing.',
    'Check the member upstream, then resolve the doubt. A status override settles it for good.',
  ),
  ALM_REFUSED_NOT_FOUND: dead(
    'The realm does not know the member (404 or 410): nothing was applied.',
    'Check the id; a mended row of failed.csv can be run again.',
  ),
  ALM_REFUSED_BALANCE: dead(
    'The realm refused the change (402 or 422), usually for a small balance. Nothing was applied.',
    'Check the balance with `almoner member`, then `almoner dead retry`.',
  ),
  ALM_REFUSED_INPUT: dead(
    'The realm refused the request as invalid: nothing was applied.',
    "Read the realm's message; correct the row, or the profile if every order fails.",
  ),
  ALM_REFUSED_OTHER: dead(
    'The realm refused the change: nothing was applied.',
    "Read the realm's message; `almoner dead retry` sends it again once the cause is gone.",
  ),
  ALM_SLOW_DOWN: dead(
    'The realm asked to slow down (429, 421 or 425): nothing was applied.',
    'almoner waits by itself. If it happens often, lower ALMONER_RATE.',
  ),
  ALM_KEY_REFUSED: halted(
    'The realm answered 401: the API key is wrong or does not exist. Nothing was applied.',
    'Put the right key where the profile looks for it, then run `almoner resume`.',
  ),
  ALM_KEY_OTHER_REALM: halted(
    'The realm answered 403: the API key belongs to a different realm. Nothing was applied.',
    'Use the key of this realm, or the realm of this key, then run `almoner resume`.',
  ),
  ALM_KEY_UNUSABLE: halted(
    'The API key is missing or cannot stand in a header: nothing was sent.',
    'Put the key where the profile looks for it, as one line of text, then run `almoner resume`.',
  ),
  ALM_SEND_UNREAD: dead(
    'almoner could not read the member before sending: nothing was sent.',
    'Try `almoner member ID`. Once it works, run `almoner dead retry`.',
  ),
  ALM_SEND_NO_BALANCE: dead(
    'The member record lacks the balance that read-back needs: nothing was sent.',
    'Compare `almoner member ID`; set `balancePath` or `realmPointId` in the profile, then `almoner dead retry`.',
  ),
  ALM_SEND_OWNER_DIED: dead(
    'The sending process died. The request may or may not have arrived.',
    'If the realm honours keys, almoner sends the same key again. Otherwise look upstream, then `almoner doubt resolve`.',
  ),
  ALM_SEND_STORE_LOST: dead(
    'Payments were lost with a store, a journal or a data folder. This may be one of them.',
    'Look for the request upstream, then `almoner doubt resolve ORDER --paid|--unpaid --reason …`.',
  ),
  ALM_SEND_UNRESOLVED: dead(
    'The outcome is unknown, and the realm’s certainty gives no way to prove it.',
    'Look for the request upstream, then `almoner doubt resolve ORDER --paid|--unpaid --reason …`.',
  ),
  ALM_SEND_REFERENCE_HELD: dead(
    'Another order holds this order’s reference, so nothing was sent.',
    'Check the named order. If it was not paid, retry this one once its reference is free.',
  ),
  ALM_SEND_SAID_UNPAID: dead(
    'An operator resolved the doubt as not paid.',
    '`almoner dead retry` sends it with the same key, once its old request can no longer arrive.',
  ),
  ALM_SEND_RAISED: dead(
    'An operator made a doubt of this unknown order.',
    'Look for the request upstream, then `almoner doubt resolve ORDER --paid|--unpaid --reason …`.',
  ),
  ALM_SEND_HALTED: halted(
    'The profile declares this status a reason to stop. Nothing was applied.',
    "Read the realm's message, remove the cause, then run `almoner resume`.",
  ),
  ALM_PROXY_AUTH: halted(
    'A proxy answered 407 and wants a login: almoner did not reach the realm.',
    'Let this machine reach the realm directly or sign in at the proxy, then run `almoner resume`.',
  ),
};

export type OutcomeCode = keyof typeof OUTCOME_ERRORS;
