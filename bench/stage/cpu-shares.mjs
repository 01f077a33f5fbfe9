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
    const { functionName, url } = nodes.get(id).callFrame;
    let part = PARTS.find(([, pattern]) => pattern.test(url))?.[0];
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
