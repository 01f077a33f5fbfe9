import { bug, halted, interrupted, refused, usage } from './entry.js';

/** Backups of a ledger, and putting one back. */
export const BACKUP_ERRORS = {
  ALM_BACKUP_NOT_EMPTY: usage(
    'The folder for the backup is there and holds something.',
    'Name a folder that does not exist yet, or an empty one.',
  ),
  ALM_BACKUP_INSIDE: usage(
    'The folder for the backup lies inside the data folder, with which it would be lost.',
    'Name a folder outside the data folder, best on another disk.',
  ),
  ALM_BACKUP_INTERRUPTED: interrupted(
    'The command was stopped before its last step. No half backup is left under its name, and the store is as it was.',
    'Give the same command again.',
  ),
  ALM_BACKUP_FAILED: bug(
    'A file of the backup could not be read or written.',
    'Free some space or mend the folder, then give the same command again.',
  ),
  ALM_BACKUP_STORE_REFUSED: halted(
    'The store does not hand out a copy of itself, as managed Redis services and Redis Cluster do not.',
    'Copy Redis with its own means first (its append-only files or a snapshot), then the folders `journal` and `archive` of the data folder.',
  ),
  ALM_BACKUP_INVALID: refused(
    'The folder holds no backup that this version can read.',
    'Name the folder that `almoner backup` wrote, with its manifest.json.',
  ),
  ALM_BACKUP_DAMAGED: refused(
    'Files of the backup are missing, or are not what was written.',
    'Use another copy of this backup, or another backup; `almoner verify --backup DIR` checks one.',
  ),
  ALM_BACKUP_STORE_UNREADABLE: refused(
    'The copied store cannot be loaded by the Redis that is installed here.',
    'Install the version of Redis that the manifest names, or a later one; if it is installed, use another backup.',
  ),
  ALM_BACKUP_IN_USE: halted(
    'Another process is at work on this data folder.',
    'End the named processes, then give the same command again.',
  ),
  ALM_BACKUP_OUTSIDE: halted(
    'The store is an outside Redis (REDIS_URL), which almoner does not replace.',
    'Stop every almoner command, load `store.rdb` of the backup with the means of that Redis, then run `almoner recover` on every machine that sends.',
  ),
  ALM_BACKUP_RESTORE_UNFINISHED: halted(
    'A restore of this data folder is under way, or was killed amid it. The former store is kept.',
    'Wait for the restore, or give the same `almoner restore DIR` again: it begins anew.',
  ),
};
