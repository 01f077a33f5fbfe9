import { bug, dead, halted, interrupted, refused, usage } from './entry.js';

/** Redis: the embedded one and outside ones. */
export const STORE_ERRORS = {
  ALM_STORE_UNREACHABLE: halted(
    'Redis does not answer.',
    'Check REDIS_URL and that the server runs; `almoner doctor` tells more.',
  ),
  ALM_STORE_DENIED: usage(
    'Redis answers, but refuses the user or password.',
    'Put the right user and password into REDIS_URL (percent-encoded), e.g. rediss://user:password@host:6379/0.',
  ),
  ALM_STORE_NO_SERVER: usage(
    'The embedded store needs redis-server or valkey-server, and neither was found.',
    'Install one (Debian, Ubuntu: `sudo apt-get install redis-server`; macOS: `brew install redis`). For a first start `docker compose up`, or REDIS_URL set to a Redis you have, will do as well; where you have paid before, either is another ledger.',
  ),
  ALM_STORE_FOLDER: usage(
    'The data folder cannot be used for the embedded store.',
    'Check that ALMONER_DATA names your data folder, make it writable for this user, or free space on its disk. An empty folder instead would know nothing of what was paid.',
  ),
  ALM_STORE_PORT_TAKEN: halted(
    'Another program holds the loopback port that belongs to this data folder.',
    'End that program; or, while it runs, remove the file `redis/port` in the data folder so that a new port is chosen.',
  ),
  ALM_STORE_START_FAILED: halted(
    'The embedded redis-server did not start.',
    'Read `redis/server.log` in the data folder; the usual causes are a full disk and a folder owned by another user.',
  ),
  ALM_STORE_DAMAGED: halted(
    'The append-only file of the embedded store is damaged, and redis-server refuses to load it.',
    'Copy the folder `redis` first, then run `redis-check-aof --fix` on the file ending in `.manifest` there, then `almoner recover`.',
  ),
  ALM_STORE_NOT_APPEND_ONLY: halted(
    'Redis keeps no append-only file: a restart could forget that an order was sent.',
    'Set `appendonly yes` (CONFIG SET appendonly yes, and in redis.conf).',
  ),
  ALM_STORE_FSYNC: halted(
    'Redis acknowledges writes before they are on disk: a power cut could forget that an order was sent.',
    'Set `appendfsync always` and `no-appendfsync-on-rewrite no` (with CONFIG SET, and in redis.conf).',
  ),
  ALM_STORE_EVICTS: halted(
    'Redis may throw keys away when memory is short.',
    'Set `maxmemory-policy noeviction` (CONFIG SET maxmemory-policy noeviction, and in redis.conf).',
  ),
  ALM_STORE_REPLICA: halted(
    'REDIS_URL names a replica, which takes no writes.',
    'Name the primary in REDIS_URL, or use the Sentinel form, which follows it.',
  ),
  ALM_STORE_UNPROVEN: halted(
    'Redis does not let this user read its settings, so its safety cannot be checked.',
    'Allow `CONFIG GET` and `INFO` for this user, or attest the settings in the configuration; every report says so then.',
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
    'The store holds ledgers of an older version of almoner, which this one does not read.',
    'End what is open with the version that wrote it (`almoner status`), then give this version a store or a data folder of its own and carry the spent references over: `almoner references add PAID.CSV…` with the paid.csv files of the old reports.',
  ),
  ALM_STORE_NEWER: halted(
    'The store holds ledgers of a newer version of almoner.',
    'Update almoner on this machine to the version that the others have.',
  ),
  ALM_STORE_SCRIPT: halted(
    'The server refuses to compile one of the Lua scripts that move orders. This cannot be accepted as a risk.',
    'Use Redis 6.2, 7.0, 7.2, 7.4 or 8, or Valkey 7.2 or 8, and report this with the output of `almoner doctor`.',
  ),
};

/** The ledger: broken invariants and safety stops. */
export const LEDGER_ERRORS = {
  ALM_LEDGER_DOES_NOT_TIE: bug(
    'Counts or sums do not add up to the manifest; nothing is printed from such books.',
    'Keep the data folder as it is and report this with the output of `almoner doctor`.',
  ),
  ALM_LEDGER_PLAN_MISSING: halted(
    'A part of a batch’s plan is not in the store.',
    'Restore the store from its backup; keep the data folder as it is.',
  ),
  ALM_LEDGER_JOURNAL_FAILED: bug(
    'The journal of what is about to be sent could not be written or fsynced, so the process sends nothing more and ends.',
    'Free some space or mend the data folder, then start the same command again; it finds what was left.',
  ),
  ALM_LEDGER_DISARMED: halted(
    'The ledger is closed: the store was restarted, failed over or restored, and the journals of at least one session or data folder are not merged yet. Nothing is sent.',
    'Run `almoner recover` on the machine of each session and data folder named; where a disk is lost, `almoner recover` says which command gives it up.',
  ),
  ALM_LEDGER_ROLLED_BACK: halted(
    'The store has forgotten moves that a sending process had seen acknowledged, from further back than the journals here still know.',
    'Restore a newer copy of the store. Where there is none, `almoner recover` says what `almoner recover --accept-missing removed` would make a doubt.',
  ),
  ALM_LEDGER_AFTER_ROLLBACK: halted(
    'The store was rolled back, and the journals restored the payments that they know. The store may have lost a pause or a cancel. New payments wait until you check. Unclear payments are still being settled.',
    'Look at the batches (`almoner status`), cancel any batch you no longer want, then `almoner resume --after-rollback`.',
  ),
  ALM_LEDGER_FOLDER_BEHIND: halted(
    'The data folder was put back to an earlier time together with its journals, and this machine has paid from it since.',
    'Put the newer data folder back if you still have it. Where you do not, `almoner recover` says what `almoner recover --accept-missing removed` would make a doubt.',
  ),
  ALM_LEDGER_FOLDER_COPIED: halted(
    'The store was written in another data folder: this folder was copied, moved or restored from a backup.',
    'If you moved the whole folder and nothing was paid from the old one since, run `almoner recover --accept-moved`. If it is an older backup, `almoner recover` says what `almoner recover --accept-missing removed` would make a doubt.',
  ),
  ALM_LEDGER_ELSEWHERE: refused(
    'This ledger has paid nothing in this realm yet, and this machine has paid the realm from another ledger.',
    'Set ALMONER_DATA (and REDIS_URL where you use one) to the named ledger: it knows what was paid. If a new ledger is meant, pass --new-ledger once.',
  ),
  ALM_LEDGER_GIVEN_UP: bug(
    'An operator gave this sending process up as lost while it lived, so it ended.',
    'Start it again: it comes back as a new session. Look at what it was sending with `almoner doubt list` and `almoner status`.',
  ),
  ALM_LEDGER_FLOOR_DAMAGED: halted(
    'The note of which journals were removed is damaged, so that a store that forgot too much could not be told.',
    'Restore the file from a backup of the data folder. Where the store was never restored from a backup nor failed over, remove the file instead.',
  ),
  ALM_LEDGER_SESSION: usage('No unmerged session has that id.', 'List them with `almoner recover`.'),
  ALM_LEDGER_ARCHIVE_MISSING: halted(
    'The rows of an archived batch are in a file that cannot be read here.',
    'Run the command on the machine whose data folder holds the archive, or copy the file to the same place here.',
  ),
  ALM_LEDGER_ARCHIVE_DAMAGED: halted(
    'The file of an archived batch is not what was written, or another store wrote it.',
    'Restore it from the backup of the data folder’s archive, or put `BATCH.alm.before-TIME` back beside it where you moved one away.',
  ),
  ALM_LEDGER_UNSETTLED: bug(
    'The store refused the results of requests until the process had to stop. The journal keeps them, and nothing is sent again.',
    'Mend what the error text says of the store; then run `almoner recover` on this machine, or start almoner there again: it settles them from the journal.',
  ),
  ALM_LEDGER_STALLED: bug(
    'Work was waiting, the store answered, and the process took none: it ended so that it is started afresh.',
    'A supervisor starts it again; should it happen again and again, report it with the log.',
  ),
};

/** Backups of a ledger, and putting one back. */
export const BACKUP_ERRORS = {
  ALM_BACKUP_NOT_EMPTY: usage(
    'The folder for the backup is there and holds something.',
    'Name a folder that does not exist yet, or an empty one.',
  ),
  ALM_BACKUP_PLACE: usage(
    'The folder for the backup cannot be made, or is no folder that a finished backup can take the place of.',
    'Name a folder that does not exist yet, inside one that this user may write.',
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
    'Install the version of Redis or Valkey that the backup was made with, or a later one; if it is installed, use another backup.',
  ),
  ALM_BACKUP_IN_USE: halted(
    'Another process is at work on this data folder.',
    'End the named processes, then give the same command again.',
  ),
  ALM_BACKUP_OTHER_DISK: halted(
    'The folder `redis` of the data folder is on another disk than the data folder, and a restore moves files between the two.',
    'Stop every almoner command and put the whole data folder on one disk, with `redis` as a plain folder in it; then give the same command again.',
  ),
  ALM_BACKUP_OUTSIDE: halted(
    'The store is an outside Redis (REDIS_URL), which almoner does not replace.',
    'Stop every almoner command, load `store.rdb` of the backup with the means of that Redis, then run `almoner recover --restored` once, and `almoner recover` on every other machine that sends.',
  ),
  ALM_BACKUP_RESTORE_UNFINISHED: halted(
    'A restore of this data folder is under way, or was killed amid it. The former store is kept.',
    'Wait for the restore, or give the same `almoner restore DIR` again: it begins anew.',
  ),
};

/** Reads and other calls of the realm interface. */
export const REALM_ERRORS = {
  ALM_REALM_KEY_REFUSED: halted(
    'The realm answered 401: the API key is wrong or does not exist.',
    'Put the right key where the profile looks for it, then run the command again.',
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
    'The wallet check was answered with 403: a key of another realm, or a CDN that forbids GET with a body.',
    'Try `almoner member ID`: if that works, the key is right and the profile needs `wallets.method: POST`.',
  ),
  ALM_REALM_PROXY_AUTH: halted(
    'A proxy answered 407 and wants a login: the realm was not reached.',
    'Let this machine reach the realm directly, or sign in at the proxy.',
  ),
  ALM_REALM_MEMBER_NOT_FOUND: dead(
    'The realm answered 404: it has no such member, or no such realm.',
    'Check the member id, the realm id and the base URL; ids damaged by a spreadsheet often end in zeros.',
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
    'The realm answered with a redirect, which is not followed: the key would travel with it.',
    'Correct the base URL to where the redirect points.',
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
    'The API key for the realm service cannot be carried by an Authorization header.',
    'Set ALMONER_API_KEY to 1 to 512 visible ASCII characters, or leave it unset to have a key made.',
  ),
  ALM_SERVICE_KEY_OTHER_REALM: usage(
    'The API key is linked to another realm of the same store.',
    'Serve that realm, or use another key for this one.',
  ),
  ALM_SERVICE_FAULT_INVALID: usage(
    'A --fault switch could not be understood.',
    'Write name:probability or name:probability:value, for example --fault error-after:0.1; `almoner realm serve --help` lists the names.',
  ),
  ALM_SERVICE_MEMBERS_INVALID: refused(
    'The members file has faults; all of them are listed and no member was loaded.',
    'Mend the listed lines and start the service again.',
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
