// ALMONER_TEST_REDIS lists further redis-server or valkey-server programs, as PATH lists folders. The tests of the ledger,
// the queue and the store connection run once more against each of them, as a project of its own.
import { delimiter } from 'node:path';

export function testServers() {
  return (process.env.ALMONER_TEST_REDIS ?? '')
    .split(delimiter)
    .filter((program) => program !== '')
    .map((program, at) => ({ project: `server-${at + 1}`, program }));
}
