import { AlmonerError } from '../core/errors/error.js';
import { REALMS_KEY } from './keys.js';
import type { ScriptClient } from './script-client.js';

/**
 * The number of the format in which this version writes its ledgers. It stands twice in the store: once for all realms,
 * where every command looks before anything else, and in each ledger (includes/format.lua), where the scripts look that
 * a session, an import, a request and a journal line pass. Before 1.0 other formats are refused, not read.
 */
export const FORMAT = 4;
/** Beside the realms. Version 0.2.0 takes it for a realm that it cannot read, and ends before it pays. */
export const FORMAT_FIELD = 'format';

export type OtherFormat = 'older' | 'newer';

/** Whether a version with another format has written into the store. */
export async function refuseOtherFormat(scripts: ScriptClient): Promise<void> {
  const [format, fields] = await scripts.ask('read the format', (redis) =>
    Promise.all([redis.hget(REALMS_KEY, FORMAT_FIELD), redis.hlen(REALMS_KEY)]),
  );
  if (format === null ? fields > 0 : Number(format) < FORMAT) throw otherFormat('older');
  if (format !== null && Number(format) > FORMAT) throw otherFormat('newer');
}

export function otherFormat(which: OtherFormat): AlmonerError {
  return which === 'older'
    ? new AlmonerError(
        'ALM_STORE_OLDER',
        'The store was written by an older version of almoner. Nothing was read and nothing was sent.',
      )
    : new AlmonerError(
        'ALM_STORE_NEWER',
        'The store was written by a newer version of almoner. Nothing was read and nothing was sent.',
      );
}
