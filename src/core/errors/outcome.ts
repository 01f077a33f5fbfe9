import type { ErrorEntry } from './entry.js';

/** Classes of a write attempt that was not plainly paid; they appear as class and error_code. */
export const OUTCOME_ERRORS = {
  ALM_SEND_NOT_SENT: {
    means: 'The connection was never completed: nothing was sent.',
    next: 'Nothing was applied. It is tried again by itself when the realm can be reached; check the base URL and the network. What has ended is sent again by `almoner dead retry`.',
    exit: 4,
  },
  ALM_SEND_BAD_CERTIFICATE: {
    means: "The realm's TLS certificate was not accepted: nothing was sent.",
    next: 'Check the base URL, the clock of this machine and the certificate; then `almoner resume`.',
    exit: 5,
  },
  ALM_SEND_TIMEOUT: {
    means: 'The request was sent and no complete answer came in time: it may or may not have been applied.',
    next: 'Nothing is sent again without proof. See `almoner doubt list` for what is left to decide.',
    exit: 4,
  },
  ALM_SEND_RESET: {
    means: 'The connection broke after sending: the change may or may not have been applied.',
    next: 'Nothing is sent again without proof. See `almoner doubt list` for what is left to decide.',
    exit: 4,
  },
  ALM_SEND_UNREADABLE: {
    means: 'The answer was cut, empty, too large or not JSON: it does not prove that the change was applied.',
    next: 'Look at the answer with `almoner doubt show`; a proxy or a wrong base URL often stands behind it.',
    exit: 4,
  },
  ALM_SEND_CONTRADICTED: {
    means:
      'The status says success and the body says otherwise: the change may or may not have been applied.',
    next: 'Look at the answer with `almoner doubt show`, check the member upstream, then resolve the doubt.',
    exit: 4,
  },
  ALM_SEND_ACCEPTED_ONLY: {
    means: 'The realm answered 202: taken, but not yet applied, and it may never be.',
    next: 'Check the member upstream, then resolve the doubt; a status override can settle it for good.',
    exit: 4,
  },
  ALM_SEND_CONFLICT: {
    means: 'The realm answered 408, 409, 423 or 424: an earlier copy of the change may still be applied.',
    next: 'Check the member upstream, then resolve the doubt.',
    exit: 4,
  },
  ALM_SEND_REDIRECTED: {
    means: 'The realm answered with a redirect, which is never followed for a change.',
    next: 'Correct the base URL to where the redirect points; check the member, then resolve the doubt.',
    exit: 4,
  },
  ALM_SEND_SERVER_ERROR: {
    means: 'The realm answered with a server error: the change may or may not have been applied.',
    next: 'Nothing is sent again without proof. See `almoner doubt list` for what is left to decide.',
    exit: 4,
  },
  ALM_SEND_UNLISTED: {
    means: 'The realm answered with a status that promises nothing about the change.',
    next: 'Check the member upstream, then resolve the doubt; a status override can settle it for good.',
    exit: 4,
  },
  ALM_REFUSED_NOT_FOUND: {
    means: 'The realm does not know the member (404 or 410): nothing was applied.',
    next: 'Check the id; a mended row of failed.csv can be run again.',
    exit: 4,
  },
  ALM_REFUSED_BALANCE: {
    means: 'The realm refused the change (402 or 422), usually because the balance is too small.',
    next: 'Nothing was applied. Check the balance with `almoner member`, then `almoner dead retry`.',
    exit: 4,
  },
  ALM_REFUSED_INPUT: {
    means: 'The realm refused the request as invalid: nothing was applied.',
    next: "Read the realm's message; mend the row, or the profile when every order meets it.",
    exit: 4,
  },
  ALM_REFUSED_OTHER: {
    means: 'The realm refused the change: nothing was applied.',
    next: "Read the realm's message; `almoner dead retry` sends it again once the cause is gone.",
    exit: 4,
  },
  ALM_SLOW_DOWN: {
    means: 'The realm asked to slow down (429, 421 or 425): nothing was applied.',
    next: 'almoner waits by itself; lower ALMONER_RATE when it happens often.',
    exit: 4,
  },
  ALM_KEY_REFUSED: {
    means: 'The realm answered 401: the API key is wrong or does not exist. Nothing was applied.',
    next: 'Put the right key where the profile looks for it, then `almoner resume`.',
    exit: 5,
  },
  ALM_KEY_OTHER_REALM: {
    means: 'The realm answered 403: the API key belongs to a different realm. Nothing was applied.',
    next: 'Use the key of this realm, or the realm of this key, then `almoner resume`.',
    exit: 5,
  },
  ALM_KEY_UNUSABLE: {
    means: 'The API key is missing or cannot stand in a header: nothing was sent.',
    next: 'Put the key where the profile looks for it, as one line of plain text, then `almoner resume`.',
    exit: 5,
  },
  ALM_SEND_UNREAD: {
    means: 'The member could not be read before sending, again and again: nothing was sent.',
    next: 'Nothing was applied. Try `almoner member ID`; `almoner dead retry` sends it once the member can be read.',
    exit: 4,
  },
  ALM_SEND_NO_BALANCE: {
    means: 'The member record does not show the balance that read-back needs: nothing was sent.',
    next: 'Nothing was applied. Look at `almoner member ID`; set `balancePath` or `realmPointId` in the profile, then `almoner dead retry`.',
    exit: 4,
  },
  ALM_SEND_OWNER_DIED: {
    means: 'The process that was sending the order died; whether the request arrived is not known.',
    next: 'Where the realm honours keys it is sent again with the same key; otherwise look for it upstream and `almoner doubt resolve`.',
    exit: 4,
  },
  ALM_SEND_UNRESOLVED: {
    means: 'The outcome is unknown and the realm’s certainty gives no way to prove it.',
    next: 'Look for the request upstream, then `almoner doubt resolve ORDER --paid|--unpaid --reason …`.',
    exit: 4,
  },
  ALM_SEND_SAID_UNPAID: {
    means: 'An operator resolved the doubt as not paid.',
    next: 'Nothing is sent again by itself; `almoner dead retry` sends it with the same key, once its request can no longer arrive.',
    exit: 4,
  },
  ALM_SEND_RAISED: {
    means: 'An operator made a doubt of an order whose outcome was unknown.',
    next: 'Look for the request upstream, then `almoner doubt resolve ORDER --paid|--unpaid --reason …`.',
    exit: 4,
  },
  ALM_SEND_HALTED: {
    means:
      'The realm answered with a status that the profile declares a reason to stop. Nothing was applied.',
    next: "Read the realm's message, see to its cause, then `almoner resume`.",
    exit: 5,
  },
  ALM_PROXY_AUTH: {
    means: 'A proxy answered 407 and wants a login: the realm was not reached.',
    next: 'Let this machine reach the realm directly, or sign in at the proxy, then `almoner resume`.',
    exit: 5,
  },
} as const satisfies Record<string, ErrorEntry>;

export type OutcomeCode = keyof typeof OUTCOME_ERRORS;
