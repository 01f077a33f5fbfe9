import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startRedis } from './redis.mjs';

const SLOTS = 16_384;

/** A Redis Cluster of so many nodes on this machine, each as safe as almoner wants it. */
export async function startCluster(count) {
  const nodes = await Promise.all(
    Array.from({ length: count }, async () => {
      const bus = await freePort();
      const more = ['--cluster-enabled', 'yes', '--cluster-port', String(bus)];
      return { bus, ...(await startRedis({ more: [...more, '--cluster-announce-ip', '127.0.0.1'] })) };
    }),
  );
  const share = Math.ceil(SLOTS / count);
  for (const [at, { client, port, bus }] of nodes.entries()) {
    await client.call('CLUSTER', 'ADDSLOTSRANGE', at * share, Math.min(SLOTS, (at + 1) * share) - 1);
    if (at > 0) await nodes[0].client.call('CLUSTER', 'MEET', '127.0.0.1', port, bus);
  }
  for (const { client } of nodes)
    for (;;) {
      const info = String(await client.call('CLUSTER', 'INFO'));
      if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${count}`)) break;
      await sleep(50);
    }
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    async stop() {
      for (const node of nodes) await node.stop();
    },
  };
}
