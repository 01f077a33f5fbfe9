import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';

/**
 * Who uses the embedded server, told by the names of the connections, so that it needs neither a lock nor
 * a count that a killed command could leave wrong.
 *
 * Coming and going can cross: the last command sees nobody, a new one connects, and then the server ends
 * under it. Redis runs one command at a time, which is enough to exclude that:
 *   leaving:  1. name yourself `almoner-closing`   2. list the clients   3. nobody: SHUTDOWN
 *   coming:   1. name yourself `almoner`           2. list the clients   3. disconnect every closing one
 * Either the leaving one lists after the coming one was named, and lets the server live; or the coming one
 * sees it and cuts it off. A SHUTDOWN that was faster cuts the coming one, which begins again.
 */
const PRESENT = 'almoner:';
const CLOSING = 'almoner-closing:';

/** One per process and opening: tells its own connections from those of others. */
export function newPresenceToken(): string {
  return `${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** Redis refuses blanks and line ends in names. */
export function presentName(clientName: string, token: string, use: string): string {
  const plain = (text: string) => text.replace(/[^A-Za-z0-9._-]/g, '_');
  return `${PRESENT}${plain(clientName)}:${token}:${plain(use)}`;
}

export function closingName(token: string): string {
  return `${CLOSING}${token}`;
}

/** Cuts off whoever is about to shut the server down. It fails where that one was faster. */
export async function stay(client: Redis): Promise<void> {
  for (const { id, name } of await listClients(client))
    if (name.startsWith(CLOSING)) await client.client('KILL', 'ID', id);
}

/** Asked by a connection that carries the closing name. */
export async function othersArePresent(client: Redis, token: string): Promise<boolean> {
  const clients = await listClients(client);
  return clients.some(({ name }) => name.startsWith(PRESENT) && !name.includes(`:${token}:`));
}

async function listClients(client: Redis): Promise<{ id: string; name: string }[]> {
  const list = String(await client.client('LIST'));
  return list.split('\n').flatMap((line) => {
    const id = /^id=([0-9]+)/.exec(line)?.[1];
    const name = / name=(\S*)/.exec(line)?.[1];
    return id === undefined || name === undefined ? [] : [{ id, name }];
  });
}
