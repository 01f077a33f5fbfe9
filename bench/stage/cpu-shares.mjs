import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Which part of the program a function belongs to, from where it is written; the nearest caller decides. */
const PARTS = [
  ['journal', /ledger\/journal/],
  ['feeder and sweeper', /queue\/(feeder|sweeper|queues|recovery|orphans)/],
  ['ledger', /\/ledger\//],
  ['pace', /queue\/pace/],
  ['realm client', /\/realm\//],
  ['intake', /\/intake\//],
  ['report', /\/report\//],
  ['queue', /\/queue\//],
  ['BullMQ', /node_modules\/bullmq\//],
  [
    'got',
    /node_modules\/(got|cacheable|@szmarczak|form-data|keyv|lowercase|responselike|p-cancelable|decompress|mimic|normalize-url|quick-lru|http2-wrapper|get-stream|@sindresorhus\/is)/,
  ],
  ['ioredis', /node_modules\/(ioredis|redis-parser|@ioredis|cluster-key-slot|denque|standard-as-callback)/],
];

/** Microseconds of self time by part of the program. */
export function cpuShares(profile) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map();
  for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node.id);
  const partOf = new Map();
  const find = (id) => {
    if (id === undefined) return 'Node itself (sockets, timers, promises)';
    const known = partOf.get(id);
    if (known !== undefined) return known;
    const { functionName, url, lineNumber } = nodes.get(id).callFrame;
    const module = moduleAt(url, lineNumber);
    let part = PARTS.find(([, pattern]) => pattern.test(module))?.[0];
    if (functionName === '(idle)') part = 'idle';
    if (functionName === '(garbage collector)') part = 'garbage collection';
    part ??= find(parents.get(id));
    partOf.set(id, part);
    return part;
  };
  const shares = {};
  profile.samples.forEach((id, at) => {
    const part = find(id);
    if (part !== 'idle') shares[part] = (shares[part] ?? 0) + profile.timeDeltas[at];
  });
  return Object.fromEntries(Object.entries(shares).sort(([, a], [, b]) => b - a));
}

const bundles = new Map();

/** The module that a line was written in: the command line is a bundle, in which a comment names each before it begins. */
function moduleAt(url, line) {
  if (!url.includes('/cli/')) return url;
  if (!bundles.has(url)) {
    const file = fileURLToPath(url);
    bundles.set(url, existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
  }
  const named = bundles.get(url).findLast((text, at) => at <= line && MODULE.test(text));
  return named === undefined ? url : `/${named.slice(3)}`;
}

const MODULE = /^\/\/ \S+\.[cm]?[jt]s$/;
