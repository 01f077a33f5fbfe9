import { type Almoner, type OpenOptions, open } from '../../src/index.js';

/** Opens the library as a program does, with no more of this machine's environment than it needs. */
export function openLibrary(
  env: NodeJS.ProcessEnv,
  options: Omit<OpenOptions, 'env'> = {},
): Promise<Almoner> {
  return open({ ...options, env: { PATH: process.env.PATH, ...env } });
}

export async function listed<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

/** What was thrown, as plain facts. */
export async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'it was not refused',
    (error: unknown) => error,
  );
}
