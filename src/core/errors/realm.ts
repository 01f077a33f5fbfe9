import type { ErrorEntry } from './entry.js';

/** Reads and other calls of the realm interface. */
export const REALM_ERRORS = {
  ALM_REALM_KEY_REFUSED: {
    means: 'The realm answered 401: the API key is wrong or does not exist.',
    next: 'Put the right key where the profile looks for it, then run the command again.',
    exit: 5,
  },
  ALM_REALM_KEY_OTHER_REALM: {
    means: 'The realm answered 403: the API key belongs to a different realm.',
    next: 'Use the key of this realm, or the realm of this key.',
    exit: 5,
  },
  ALM_REALM_KEY_UNUSABLE: {
    means: 'The API key is missing or cannot stand in a header: nothing was sent.',
    next: 'Put the key where the profile looks for it, as one line of plain text.',
    exit: 2,
  },
  ALM_REALM_WALLETS_FORBIDDEN: {
    means:
      'The wallet check was answered with 403: a key of another realm, or a CDN that forbids GET with a body.',
    next: 'Try `almoner member ID`: if that works, the key is right and the profile needs `wallets.method: POST`.',
    exit: 5,
  },
  ALM_REALM_PROXY_AUTH: {
    means: 'A proxy answered 407 and wants a login: the realm was not reached.',
    next: 'Let this machine reach the realm directly, or sign in at the proxy.',
    exit: 5,
  },
  ALM_REALM_MEMBER_NOT_FOUND: {
    means: 'The realm answered 404: it has no such member, or no such realm.',
    next: 'Check the member id, the realm id and the base URL; ids damaged by a spreadsheet often end in zeros.',
    exit: 4,
  },
  ALM_REALM_UNREACHABLE: {
    means: 'The realm could not be reached, or hung up before answering.',
    next: 'Check the base URL and the network; `almoner doctor` tells more.',
    exit: 5,
  },
  ALM_REALM_BAD_CERTIFICATE: {
    means: "The realm's TLS certificate was not accepted: nothing was sent.",
    next: 'Check the base URL, the clock of this machine and the certificate.',
    exit: 5,
  },
  ALM_REALM_TOO_SLOW: {
    means: 'The realm did not answer within the time-out.',
    next: 'Try again; raise the time-outs of the profile when it happens often.',
    exit: 5,
  },
  ALM_REALM_RATE_LIMITED: {
    means: 'The realm asked to slow down.',
    next: 'Wait and try again; lower ALMONER_RATE when it happens often.',
    exit: 5,
  },
  ALM_REALM_NOT_JSON: {
    means: 'The answer is empty, cut, too large or not JSON.',
    next: 'Check that the base URL names the interface itself, not a web page in front of it.',
    exit: 5,
  },
  ALM_REALM_REDIRECTED: {
    means: 'The realm answered with a redirect, which is not followed: the key would travel with it.',
    next: 'Correct the base URL to where the redirect points.',
    exit: 2,
  },
  ALM_REALM_SERVER_ERROR: {
    means: 'The realm answered with a server error.',
    next: 'Try again later; name the request id when asking the people who run the realm.',
    exit: 5,
  },
  ALM_REALM_REFUSED: {
    means: 'The realm refused the request.',
    next: "Read the realm's message; check ids, currency and base URL.",
    exit: 4,
  },
} as const satisfies Record<string, ErrorEntry>;

export type RealmErrorCode = keyof typeof REALM_ERRORS;
