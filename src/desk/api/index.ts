/**
 * The desk's API: every request and reply. The server answers with these, the pages read them, and the
 * OpenAPI document at /api/openapi.json is made from the same table of routes.
 *
 * Signing in. `POST /api/login` with a desk token sets the session cookie and answers a SessionReply. Every
 * request that changes something (POST, PUT, DELETE) carries its `csrf` in the header `x-almoner-csrf`.
 * Scripts send `Authorization: Bearer <desk token>` instead of both. On loopback the printed link is
 * `/login#token=…`: the page posts the fragment's token to /api/login and removes it from the address.
 *
 * Values. Times are ISO 8601 in UTC, save slices of charts (`at`, epoch milliseconds) and `Detail.at` (same).
 * Sums of tokens are strings of digits; the tokens of one order are a number. `null` means "not known" or
 * "does not apply". Lists that may be long are paged: hand `next` back as `cursor`; `next: null` is the end.
 * A page may hold fewer rows than `limit`, even none, and still have a `next`: a search looks at a bounded
 * number of rows per request and tells how far it got in `scanned`.
 *
 * Errors. Any status from 400 up answers an ErrorReply. 400 not understood · 401 not signed in (or the token
 * was revoked, the session over) · 403 the role does not allow it, or CSRF, Origin or Host is wrong · 404 no
 * such thing · 409 not in this state, or the confirmed numbers are not those of now · 413 too large · 415 not a
 * CSV · 422 the file has faults · 429 too many tries, see `Retry-After` · 503 the store or realm does not answer.
 *
 * | role     | route                                               | request → reply                          |
 * |----------|-----------------------------------------------------|------------------------------------------|
 * | anyone   | POST /api/login                                     | LoginRequest → SessionReply              |
 * | viewer   | GET  /api/session                                   | SessionReply                             |
 * | viewer   | POST /api/logout                                    | Done                                     |
 * | viewer   | GET  /api/overview                                  | Overview                                 |
 * | viewer   | GET  /api/events ?batch=B                           | text/event-stream, see LiveEvents        |
 * | viewer   | GET  /api/find ?q=TEXT                              | FindReply (what a search box may mean)   |
 * | viewer   | GET  /api/batches ?realm ?state ?cursor ?limit≤100  | BatchesPage, newest first                |
 * | viewer   | GET  /api/batches/:batch                            | BatchReply (`last` and prefixes work)    |
 * | viewer   | GET  /api/batches/:batch/orders ?OrdersQuery        | OrdersPage                               |
 * | viewer   | GET  /api/batches/:batch/audit                      | AuditPage, oldest first                  |
 * | viewer   | GET  /api/batches/:batch/files                      | FilesReply                               |
 * | viewer   | GET  /api/batches/:batch/files/:name                | the file, as a download                  |
 * | operator | POST /api/batches/:batch/report                     | FilesReply (written again from the books)|
 * | operator | POST /api/batches/:batch/pause · resume · cancel    | SteerRequest → BatchReply                |
 * | viewer   | GET  /api/batches/:batch/undo                       | the CSV that takes back, as a download   |
 * | viewer   | GET  /api/orders/:order                             | OrderReply                               |
 * | viewer   | GET  /api/dead ?realm ?batch ?class                 | DeadGroups                               |
 * | viewer   | GET  /api/dead/orders ?realm ?batch ?class ?message ?cursor ?limit≤200 | OrdersPage            |
 * | viewer   | POST /api/dead/count                                | DeadSelection → SelectionCount           |
 * | operator | POST /api/dead/retry                                | RetryRequest → TaskReply                 |
 * | operator | POST /api/dead/discard                              | DiscardRequest → TaskReply               |
 * | viewer   | GET  /api/doubts ?realm ?batch ?cursor ?limit≤200   | OrdersPage                               |
 * | viewer   | GET  /api/doubts/:order ?now=true                   | DoubtReply (now: operators, from realm)  |
 * | operator | POST /api/doubts/resolve                            | ResolveRequest → TaskReply               |
 * | viewer   | GET  /api/members/:member/history ?realm ?since ?cursor | HistoryPage                          |
 * | operator | POST /api/uploads ?name=FILE, body text/csv raw     | UploadReply                              |
 * | operator | POST /api/uploads/:upload/plan                      | PlanRequest → PlanReply (also when faulty)|
 * | operator | GET  /api/uploads/:upload/faults                    | every fault as CSV, as a download        |
 * | operator | POST /api/uploads/:upload/start                     | StartRequest → StartReply                |
 * | operator | DELETE /api/uploads/:upload                         | Done                                     |
 * | viewer   | GET  /api/rules                                     | RulesReply                               |
 * | operator | POST /api/rules/:rule/plan                          | RulePlanRequest → TaskReply, result.plan |
 * | viewer   | GET  /api/rule-plans/:plan ?cursor ?limit≤200       | RulePlanPage                             |
 * | operator | POST /api/rules/:rule/run                           | RuleRunRequest → TaskReply, result.batch |
 * | operator | POST /api/rules/:rule/approve                       | RuleApproveRequest → RulesReply          |
 * | viewer   | GET  /api/rule-runs/:run/explain ?member=ID         | ExplainReply                             |
 * | viewer   | GET  /api/tasks · GET /api/tasks/:task              | TasksReply · TaskReply                   |
 * | viewer   | GET  /api/audit ?cursor ?limit≤200                  | AuditPage, newest first, of the desk     |
 * | anyone   | GET  /health · /ready                               | {"ok": true} · 503 while not ready       |
 * | viewer   | GET  /metrics · /queues · /api/openapi.json         | Prometheus text · queue board · OpenAPI  |
 *
 * Changes since the first version (additions, but for the last): FilesReply was missing; RealmCard.fence;
 * RulePlanPage.stops and edited; RealmCard.pace.configured, learntBy, others and holdSeconds; ResolveRequest.mayArrive;
 * BatchSummary.waiting; RuleRow.text, whose hash an approval must carry.
 */
export type * from './batches.js';
export type * from './overview.js';
export type * from './session.js';
export type * from './work.js';
