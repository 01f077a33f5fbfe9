import { stat } from 'node:fs/promises';

/** Another one for a file that was written, replaced or removed since. */
export async function fileStamp(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  if (found === null) return 'none';
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
