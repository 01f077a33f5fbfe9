// A realm that says little, as a process of its own: a true sliding window, no X-RateLimit headers, Retry-After: 1. It
// writes down when each request came and what became of it. Told { "set": { limit?, strays?, othersEveryMs? } } it
// changes; asked by any other message, it tells everything, on one clock. argv: { realmId, key, windowMs, seed, set }
import { createServer } from 'node:http';
import { draws } from './draws.mjs';

const { realmId, key, windowMs, seed, set } = JSON.parse(process.argv[2]);
const now = { limit: Number.POSITIVE_INFINITY, strays: 0, othersEveryMs: 0 };
const CHANGE = new RegExp(`^/api/v4/realms/${realmId}/members/(\\d+)(/tokenBalance)?$`);
const balances = new Map();
/** The answer to each change by its key: what is sent again is not applied again. */
const answers = new Map();
/** Arrivals that were admitted within the last window. */
const admitted = [];
const seen = { requests: [], others: [], changes: [] };
const drawn = draws(seed);

function admits(at) {
  while (admitted.length > 0 && admitted[0] <= at - windowMs) admitted.shift();
  if (admitted.length >= now.limit) return false;
  admitted.push(at);
  return true;
}

function answer(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function change(member, idempotencyKey, { tokens }) {
  const known = answers.get(idempotencyKey);
  if (known !== undefined) return known;
  const newBalance = (balances.get(member) ?? 0) + tokens;
  balances.set(member, newBalance);
  if (idempotencyKey !== undefined) answers.set(idempotencyKey, { newBalance });
  return { newBalance };
}

const server = createServer((request, response) => {
  const at = performance.now();
  const [, member, isChange] = CHANGE.exec(request.url) ?? [];
  if (member === undefined) return answer(response, 404, { error: 'not_found' });
  if (request.headers.authorization?.split(' ').at(-1) !== key)
    return answer(response, 401, { error: 'unauthorized' });
  const isStray = drawn() < now.strays;
  const isTaken = !isStray && admits(at);
  seen.requests.push([at, isTaken ? 'taken' : isStray ? 'stray' : 'refused']);
  if (seen.requests.length === 1) process.send('first');
  if (!isTaken) {
    request.resume();
    return answer(response, 429, { error: 'rate_limited' }, { 'retry-after': '1' });
  }
  if (!isChange) return answer(response, 200, { id: member, tokenBalance: balances.get(member) ?? 0 });
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () =>
    answer(
      response,
      200,
      change(member, request.headers['idempotency-key'], JSON.parse(Buffer.concat(chunks))),
    ),
  );
});

/** Somebody else on the same limit, evenly; what is late is sent at once, as it was to be. */
let timer;
function others() {
  clearInterval(timer);
  if (now.othersEveryMs === 0) return;
  let next = performance.now();
  timer = setInterval(() => {
    for (const at = performance.now(); next <= at; next += now.othersEveryMs)
      seen.others.push([at, admits(at) ? 'taken' : 'refused']);
  }, 2);
}

function apply(changes) {
  Object.assign(now, changes);
  seen.changes.push([performance.now(), changes]);
  others();
}

process.on('message', (message) => {
  if (message.set) apply(message.set);
  else process.send(seen);
});
process.on('disconnect', () => process.exit(0));
apply(set);
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
