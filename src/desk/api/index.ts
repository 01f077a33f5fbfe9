/**
 * The desk's API as the pages see it: types only, so that no schema gets into the browser. The schemas beside this
 * file are every request and reply; the desk checks requests by them, and the document at /api/openapi.json is made
 * from them and the table of routes (http/routes.ts), which says who may use what.
 *
 * Signing in. `POST /api/login` with a desk token sets the session cookie and answers a SessionReply. Every
 * request that changes something (POST, DELETE) carries its `csrf` in the header `x-almoner-csrf`.
 * Scripts send `Authorization: Bearer <desk token>` instead of both. On loopback the printed link is
 * `/login#token=…`: the page posts the fragment's token to /api/login and removes it from the address.
 *
 * Values. Times are ISO 8601 in UTC. Sums of tokens are strings of digits; the tokens of one order are a number.
 * `null` means "not known" or "does not apply". Lists that may be long are paged: hand `next` back as `cursor`; `next: null` is the end.
 *
 * Errors. Any status from 400 up answers an ErrorReply. 400 not understood · 401 not signed in (or the token
 * was revoked, the session over) · 403 the role does not allow it, or CSRF, Origin or Host is wrong · 404 no
 * such thing · 409 not in this state, or the confirmed numbers are not those of now · 413 too large · 415 not a
 * CSV · 422 the file has faults · 429 too many tries, see `Retry-After` · 503 the store or realm does not answer.
 */
export type * from './approvals.js';
export type * from './batches.js';
export type * from './calendar.js';
export type * from './history.js';
export type * from './imports.js';
export type * from './notices.js';
export type * from './orders.js';
export type * from './overview.js';
export type * from './people.js';
export type * from './recovery.js';
export type * from './rules.js';
export type * from './session.js';
