import type { ErrorEntry } from './entry.js';

/** The desk: who may use it, from where, and what it refuses. */
export const DESK_ERRORS = {
  ALM_DESK_NOT_SIGNED_IN: {
    means: 'Nobody is signed in, the session is over, or its token was revoked.',
    next: 'Sign in with a desk token; `almoner desk token add NAME --role viewer|operator` makes one.',
    exit: 2,
  },
  ALM_DESK_TOKEN_WRONG: {
    means: 'The desk token is not known here.',
    next: 'Check that it was copied whole, or make a new one with `almoner desk token add`.',
    exit: 2,
  },
  ALM_DESK_TOO_MANY_TRIES: {
    means: 'The desk token is not known here, and too many such came from this address in a short time.',
    next: 'Check that it was copied whole; a right one is taken at once, a wrong one after a minute.',
    exit: 2,
  },
  ALM_DESK_ROLE: {
    means: 'The signed-in person’s role does not allow a change, or to have the realm asked.',
    next: 'Ask somebody with the role operator, or sign in with such a token.',
    exit: 2,
  },
  ALM_DESK_CSRF: {
    means: 'A change was asked for without the page’s own token.',
    next: 'Load the page again; scripts use `Authorization: Bearer` instead of the cookie.',
    exit: 2,
  },
  ALM_DESK_ORIGIN: {
    means: 'The request came from a page of another site.',
    next: 'Open the desk under its own address; behind a proxy start it with --public-url.',
    exit: 2,
  },
  ALM_DESK_HOST: {
    means: 'The desk was called by a host name that it is not known under.',
    next: 'Start it with --public-url set to the address people use.',
    exit: 2,
  },
  ALM_DESK_INSECURE: {
    means: 'The desk would be reachable from other machines without encryption.',
    next: 'Put TLS in front and pass --public-url https://…, or accept the risk with --insecure-http.',
    exit: 2,
  },
  ALM_DESK_PUBLIC_URL: {
    means: 'The address given with --public-url cannot be used.',
    next: 'Write scheme and host only, for example --public-url https://desk.example.org.',
    exit: 2,
  },
  ALM_DESK_PORT_TAKEN: {
    means: 'The desk’s port is in use by another program, or the address is not of this machine.',
    next: 'Choose another one with --port, or end the other program.',
    exit: 2,
  },
  ALM_DESK_TOKEN_NAME: {
    means: 'The name of a desk token cannot stand in an audit.',
    next: 'Use 1 to 64 letters, digits, dots, dashes, underscores or @; `local` is taken by the desk itself.',
    exit: 2,
  },
  ALM_DESK_TOKEN_EXISTS: {
    means: 'A desk token of that name exists.',
    next: 'Revoke it first with `almoner desk token revoke NAME`, or choose another name.',
    exit: 2,
  },
  ALM_DESK_TOKEN_UNKNOWN: {
    means: 'No desk token has that name.',
    next: '`almoner desk token list` shows them.',
    exit: 2,
  },
  ALM_DESK_BAD_REQUEST: {
    means: 'The desk could not understand the request.',
    next: 'See /api/openapi.json for what it takes.',
    exit: 2,
  },
  ALM_DESK_NOT_FOUND: {
    means: 'The desk has nothing under that address.',
    next: 'Go back to the overview.',
    exit: 2,
  },
  ALM_DESK_CHANGED: {
    means: 'What was confirmed is not what stands there now.',
    next: 'Look at the new numbers and confirm again.',
    exit: 2,
  },
  ALM_DESK_UPLOAD_TOO_LARGE: {
    means: 'The uploaded file is larger than the desk takes, or too many wait to be started.',
    next: 'Split the file, or use `almoner import FILE` on the machine itself.',
    exit: 3,
  },
  ALM_DESK_UPLOAD_BROKEN: {
    means: 'The upload did not arrive whole, or came too slowly.',
    next: 'Upload the file again.',
    exit: 3,
  },
  ALM_DESK_UPLOAD_UNKNOWN: {
    means: 'The uploaded file is not there any more; uploads are kept for an hour.',
    next: 'Upload the file again.',
    exit: 2,
  },
  ALM_DESK_BUSY: {
    means: 'As many of these are open at once as the desk allows.',
    next: 'Close other tabs or wait for running tasks, then try again.',
    exit: 2,
  },
  ALM_DESK_NO_PAGES: {
    means: 'The desk’s pages were not built; its API works.',
    next: 'Run `npm run build`.',
    exit: 1,
  },
  ALM_DESK_INTERNAL: {
    means: 'A bug: something failed in the desk that should not have.',
    next: 'Look at the log of `almoner serve` for the time of the request and report what it says.',
    exit: 1,
  },
} as const satisfies Record<string, ErrorEntry>;
