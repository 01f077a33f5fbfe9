import { bug, dead, halted, interrupted, refused, usage } from './entry.js';

/** Redis: the embedded one and outside ones. */
export const STORE_ERRORS = {
  ALM_STORE_UNREACHABLE: halted(
    'Redis does not answer.',
    'Check REDIS_URL and that the server runs; `almoner doctor` tells more.',
  ),
  ALM_STORE_DENIED: usage(
    'Redis answers, but refuses the user or password.',
    'Put the right user and password into REDIS_URL, percent-encoded: rediss://user:password@host:6379/0.',
  ),
  ALM_STORE_NO_SERVER: usage(
    'The embedded store needs redis-server or valkey-server, and neither is installed.',
    'Run `sudo apt-get install redis-server` or `brew install redis`. For a first start, `docker compose up` or REDIS_URL work too; each is a new ledger.',
  ),
  ALM_STORE_FOLDER: usage(
    'The data folder cannot hold the embedded store.',
    'Check ALMONER_DATA, its permissions and its free space. Never use an empty folder instead: it knows no payment.',
  ),
  ALM_STORE_PORT_TAKEN: halted(
    'Another program holds the loopback port of this data folder.',
    'End that program, or remove the file `redis/port` in the data folder while that program runs.',
  ),
  ALM_STORE_START_FAILED: halted(
    'The embedded redis-server did not start.',
    'Read `redis/server.log` in the data folder. Usual causes are a full disk and another owner.',
  ),
  ALM_STORE_DAMAGED: halted(
    'The embedded store’s append-only file is damaged.',
    'Copy the folder `redis`. Run `redis-check-aof --fix` on its file ending in `.manifest`, then `almoner recover`.',
  ),
  ALM_STORE_NOT_APPEND_ONLY: halted(
    'Redis keeps no append-only file: a restart could forget a sent order.',
    'Set `appendonly yes`, by CONFIG SET and in redis.conf.',
  ),
  ALM_STORE_FSYNC: halted(
    'Redis acknowledges writes before they are on disk: a power cut could forget a sent order.',
    'Set `appendfsync always` and `no-appendfsync-on-rewrite no`, by CONFIG SET and in redis.conf.',
  ),
  ALM_STORE_EVICTS: halted(
    'Redis may evict keys when memory is short.',
    'Set `maxmemory-policy noeviction`, by CONFIG SET and in redis.conf.',
  ),
  ALM_STORE_REPLICA: halted(
    'REDIS_URL names a replica, which takes no writes.',
    'Name the primary, or use the Sentinel form, which follows it.',
  ),
  ALM_STORE_UNPROVEN: halted(
    'This user cannot read the settings of Redis, so almoner cannot check its safety.',
    'Allow `CONFIG GET` and `INFO`, or attest the settings in the configuration. Every report then says so.',
  ),
  ALM_STORE_TOO_OLD: halted(
    'This Redis is older than 6.2, the oldest that is supported.',
    'Use Redis 6.2, 7.0, 7.2, 7.4 or 8, or Valkey 7.2 or 8.',
  ),
  ALM_STORE_UNSUPPORTED: halted(
    'almoner was not tested against this server or this version of it.',
    'Use Redis 6.2, 7.0, 7.2, 7.4 or 8, or Valkey 7.2 or 8.',
  ),
  ALM_STORE_OLDER: halted(
    'The store holds ledgers of an older version, which this version does not read.',
    'Finish open batches with the old version. Then use a new store and run `almoner references add PAID.CSV…` with the old paid.csv files.',
  ),
  ALM_STORE_NEWER: halted(
    'The store holds ledgers of a newer version of almoner.',
    'Update almoner on this machine to the version that the others have.',
  ),
  ALM_STORE_SCRIPT: halted(
    'The server refuses to compile a Lua script of almoner. No setting accepts this risk.',
    'Use Redis 6.2, 7.0, 7.2, 7.4 or 8, or Valkey 7.2 or 8. Report the output of `almoner doctor`.',
  ),
};

/** The ledger: broken invariants and safety stops. */
export const LEDGER_ERRORS = {
  ALM_LEDGER_DOES_NOT_TIE: bug(
    'Counts or sums do not tie to the manifest, so almoner prints nothing from this ledger.',
    'Keep the data folder unchanged and report the output of `almoner doctor`.',
  ),
  ALM_LEDGER_PLAN_MISSING: halted(
    'A part of a batch’s plan is not in the store.',
    'Restore the store from its backup; keep the data folder unchanged.',
  ),
  ALM_LEDGER_JOURNAL_FAILED: bug(
    'The process could not write or fsync its journal, so it sends nothing more and ends.',
    'Free some space or repair the data folder, then repeat the command.',
  ),
  ALM_LEDGER_DISARMED: halted(
    'The ledger is closed: the store restarted, failed over or was restored, and some journals are not merged. Nothing is sent.',
    'Run `almoner recover` on the machine of each named session and data folder. For a lost disk, it prints the command that gives it up.',
  ),
  ALM_LEDGER_ROLLED_BACK: halted(
    'The store forgot acknowledged moves that are older than the journals on this machine.',
    'Restore a newer copy of the store. Without one, `almoner recover` shows what `almoner recover --accept-missing removed` would make a doubt.',
  ),
  ALM_LEDGER_AFTER_ROLLBACK: halted(
    'The store was rolled back, and the journals restored the payments they know. A pause or a cancel may be lost. New payments wait for a person.',
    'Check `almoner status`, cancel unwanted batches, then run `almoner resume --after-rollback`.',
  ),
  ALM_LEDGER_FOLDER_BEHIND: halted(
    'The data folder and its journals were restored to an earlier time, and this machine has paid since.',
    'Put the newer data folder back. Without one, `almoner recover` shows what `almoner recover --accept-missing removed` would make a doubt.',
  ),
  ALM_LEDGER_FOLDER_COPIED: halted(
    'Another data folder wrote this store: this folder was copied, moved or restored.',
    'After a move of the whole folder, without payments from the old one, run `almoner recover --accept-moved`. For an older backup, `almoner recover` shows what `almoner recover --accept-missing removed` would make a doubt.',
  ),
  ALM_LEDGER_ELSEWHERE: refused(
    'This machine paid the realm from another ledger; this ledger paid nothing there.',
    'Point ALMONER_DATA (and REDIS_URL) to the named ledger. For a new ledger, pass --new-ledger once.',
  ),
  ALM_LEDGER_GIVEN_UP: bug(
    'An operator gave this live sending process up as lost, so it ended.',
    'Start it again. Check its last orders with `almoner doubt list` and `almoner status`.',
  ),
  ALM_LEDGER_FLOOR_DAMAGED: halted(
    'The file that lists removed journals is damaged, so almoner cannot detect a store that forgot too much.',
    'Restore the file from a backup. If the store was never restored nor failed over, remove the file.',
  ),
  ALM_LEDGER_SESSION: usage('No unmerged session has that id.', 'List them with `almoner recover`.'),
  ALM_LEDGER_ARCHIVE_MISSING: halted(
    'The rows of this archived batch are in a file that is not on this machine.',
    'Run the command on the machine whose data folder holds the archive, or copy the file here.',
  ),
  ALM_LEDGER_ARCHIVE_DAMAGED: halted(
    'The archive file of the batch was changed, or another store wrote it.',
    'Restore it from a backup, or put `BATCH.alm.before-TIME` back if you moved one away.',
  ),
  ALM_LEDGER_UNSETTLED: bug(
    'The store refused results until the process had to stop. The journal keeps them, and nothing is sent again.',
    'Remove the store’s fault named in the error, then run `almoner recover` on this machine.',
  ),
  ALM_LEDGER_STALLED: bug(
    'Work was waiting and the store answered, but the process took none and ended itself.',
    'A supervisor starts it again. If it repeats, report it with the log.',
  ),
};

/** Backups of a ledger, and putting one back. */
export const BACKUP_ERRORS = {
  ALM_BACKUP_NOT_EMPTY: usage(
    'The backup folder exists and is not empty.',
    'Name a new folder, or an empty one.',
  ),
  ALM_BACKUP_PLACE: usage(
    'almoner cannot make the backup folder, or cannot put a finished backup in its place.',
    'Name a new folder inside one that this user may write.',
  ),
  ALM_BACKUP_INSIDE: usage(
    'The backup folder lies inside the data folder and would be lost with it.',
    'Name a folder outside the data folder, best on another disk.',
  ),
  ALM_BACKUP_INTERRUPTED: interrupted(
    'The command stopped before its last step. It left no partial backup, and the store is unchanged.',
    'Repeat the command.',
  ),
  ALM_BACKUP_FAILED: bug(
    'A backup file could not be read or written.',
    'Free some space or repair the folder, then repeat the command.',
  ),
  ALM_BACKUP_STORE_REFUSED: halted(
    'The store does not give a copy of itself. Managed Redis and Redis Cluster do not.',
    'Copy Redis by its own means first, then the folders `journal` and `archive` of the data folder.',
  ),
  ALM_BACKUP_INVALID: refused(
    'The folder holds no backup that this version can read.',
    'Name the folder that `almoner backup` wrote, with its manifest.json.',
  ),
  ALM_BACKUP_DAMAGED: refused(
    'Files of the backup are missing or changed.',
    'Use another copy or another backup; `almoner verify --backup DIR` checks it.',
  ),
  ALM_BACKUP_STORE_UNREADABLE: refused(
    'The Redis on this machine cannot load the copied store.',
    'Install the backup’s version of Redis or Valkey, or a later one. Otherwise use another backup.',
  ),
  ALM_BACKUP_IN_USE: halted(
    'Another process uses this data folder.',
    'End the named processes, then repeat the command.',
  ),
  ALM_BACKUP_OTHER_DISK: halted(
    'The data folder and its folder `redis` are on different disks. A restore moves files between them.',
    'Stop almoner, put the whole data folder on one disk, then repeat the command.',
  ),
  ALM_BACKUP_OUTSIDE: halted(
    'The store is an outside Redis (REDIS_URL), which almoner does not replace.',
    'Stop every almoner process and load the backup’s `store.rdb` into that Redis. Run `almoner recover --restored` once, then `almoner recover` on every other sending machine.',
  ),
  ALM_BACKUP_RESTORE_UNFINISHED: halted(
    'A restore of this data folder is running, or was killed. almoner keeps the former store.',
    'Wait for the restore, or repeat the same `almoner restore DIR`: it starts anew.',
  ),
};

/** Reads and other calls of the realm interface. */
export const REALM_ERRORS = {
  ALM_REALM_KEY_REFUSED: halted(
    'The realm answered 401: the API key is wrong or does not exist.',
    'Put the right key where the profile looks for it, then repeat the command.',
  ),
  ALM_REALM_KEY_OTHER_REALM: halted(
    'The realm answered 403: the API key belongs to a different realm.',
    'Use the key of this realm, or the realm of this key.',
  ),
  ALM_REALM_KEY_UNUSABLE: usage(
    'The API key is missing or cannot stand in a header: nothing was sent.',
    'Put the key where the profile looks for it, as one line of plain text.',
  ),
  ALM_REALM_WALLETS_FORBIDDEN: halted(
    'The wallet check got 403: a key of another realm, or a CDN that forbids GET with a body.',
    'Try `almoner member ID`. If it works, set `wallets.method: POST` in the profile.',
  ),
  ALM_REALM_PROXY_AUTH: halted(
    'A proxy answered 407 and wants a login: the realm was not reached.',
    'Let this machine reach the realm directly, or sign in at the proxy.',
  ),
  ALM_REALM_MEMBER_NOT_FOUND: dead(
    'The realm answered 404: it has no such member, or no such realm.',
    'Check the member id, the realm id and the base URL. Ids that a spreadsheet damaged often end in zeros.',
  ),
  ALM_REALM_UNREACHABLE: halted(
    'The realm could not be reached, or hung up before answering.',
    'Check the base URL and the network; `almoner doctor` tells more.',
  ),
  ALM_REALM_BAD_CERTIFICATE: halted(
    "The realm's TLS certificate was not accepted: nothing was sent.",
    'Check the base URL, the clock of this machine and the certificate.',
  ),
  ALM_REALM_TOO_SLOW: halted(
    'The realm did not answer within the time-out.',
    'Try again; raise the time-outs of the profile when it happens often.',
  ),
  ALM_REALM_RATE_LIMITED: halted(
    'The realm asked to slow down.',
    'Wait and try again; lower ALMONER_RATE when it happens often.',
  ),
  ALM_REALM_NOT_JSON: halted(
    'The answer is empty, cut, too large or not JSON.',
    'Check that the base URL names the interface itself, not a web page in front of it.',
  ),
  ALM_REALM_REDIRECTED: usage(
    'The realm answered with a redirect. almoner does not follow it.',
    'Correct the base URL to the redirect’s target.',
  ),
  ALM_REALM_SERVER_ERROR: halted(
    'The realm answered with a server error.',
    'Try again later; name the request id when asking the people who run the realm.',
  ),
  ALM_REALM_REFUSED: dead(
    'The realm refused the request.',
    "Read the realm's message; check ids, currency and base URL.",
  ),
};

export type RealmErrorCode = keyof typeof REALM_ERRORS;

/** The realm service that almoner itself serves. */
export const SERVICE_ERRORS = {
  ALM_SERVICE_KEY_INVALID: usage(
    'An Authorization header cannot carry the realm service’s API key.',
    'Set ALMONER_API_KEY to 1 to 512 visible ASCII characters, or unset it; the service then makes a key.',
  ),
  ALM_SERVICE_KEY_OTHER_REALM: usage(
    'The API key is linked to another realm of the same store.',
    'Serve that realm, or use another key for this one.',
  ),
  ALM_SERVICE_FAULT_INVALID: usage(
    'A --fault switch could not be understood.',
    'Write name:probability or name:probability:value, such as --fault error-after:0.1. `almoner realm serve --help` lists the names.',
  ),
  ALM_SERVICE_MEMBERS_INVALID: refused(
    'The members file has faults. No member was loaded.',
    'Correct the listed lines and start the service again.',
  ),
  ALM_SERVICE_REALM_ID_INVALID: usage(
    'The realm id cannot name a realm.',
    'Use 1 to 128 visible characters without blanks.',
  ),
  ALM_SERVICE_PORT_TAKEN: usage(
    'The port is in use by another program.',
    'Choose another one with --port, or end the other program.',
  ),
};
