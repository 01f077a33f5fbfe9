import { Cluster, type Redis } from 'ioredis';
import { messageOf } from '../../core/errors/error.js';
import { STORE_ERRORS } from '../../core/errors/store-and-realm.js';
import { type ScriptClient, storeFacts } from '../../ledger/index.js';
import { serverVersion } from './versions.js';

/** A property of this Redis that could lose an order or pay one twice. */
export type StoreFinding = {
  readonly code: keyof typeof STORE_ERRORS;
  readonly message: string;
  readonly next: string;
};

/**
 * Checks whether the store is safe. `doctor` prints the findings; a command that pays refuses to start if there are
 * any. It waits like every other call: an unreachable store says nothing about its safety.
 */
export function storeFindings(scripts: ScriptClient): Promise<StoreFinding[]> {
  return scripts.ask('inspect the store', () => inspectStore(scripts.redis));
}

type Scripts = Parameters<typeof storeFacts.loadScripts>[1];

/** Loads the realm service here only, because few commands need it. */
async function allScripts(): Promise<Scripts> {
  const { SERVICE_SCRIPTS } = await import('../../realm/server/store.js');
  return [...storeFacts.scripts.values(), ...SERVICE_SCRIPTS];
}

export async function inspectStore(client: Redis | Cluster, given?: Scripts): Promise<StoreFinding[]> {
  const scripts = given ?? (await allScripts());
  if (!(client instanceof Cluster)) return await inspectServer(client, scripts);
  const perNode = await Promise.all(client.nodes('master').map((node) => inspectServer(node, scripts)));
  const distinct = new Map(perNode.flat().map((found) => [found.message, found]));
  return [...distinct.values()];
}

/** Checks fsync, eviction, role and version of the server. */
async function inspectServer(client: Redis, scripts: Scripts): Promise<StoreFinding[]> {
  const findings: StoreFinding[] = [];
  const info = await readInfo(client);
  const config = await readConfig(client);

  if (info.denied !== null || config.denied !== null)
    findings.push(
      finding(
        'ALM_STORE_UNPROVEN',
        `Redis denies reading its settings (${config.denied ?? info.denied}), so almoner cannot prove that it fsyncs every write.`,
      ),
    );

  // INFO also shows append-only and eviction. So an unsafe server is found even if CONFIG is denied.
  const appendOnly = config.values.get('appendonly') ?? yesNo(info.values.get('aof_enabled'));
  if (appendOnly !== undefined && appendOnly !== 'yes')
    findings.push(finding('ALM_STORE_NOT_APPEND_ONLY', `Redis has appendonly ${appendOnly}.`));

  const fsync = config.values.get('appendfsync');
  // With the second setting, `always` stops syncing during a rewrite or snapshot.
  const onRewrite = config.values.get('no-appendfsync-on-rewrite');
  if (fsync !== undefined && fsync !== 'always')
    findings.push(finding('ALM_STORE_FSYNC', `Redis has appendfsync ${fsync}.`));
  else if (onRewrite !== undefined && onRewrite !== 'no')
    findings.push(finding('ALM_STORE_FSYNC', `Redis has no-appendfsync-on-rewrite ${onRewrite}.`));

  const policy = config.values.get('maxmemory-policy') ?? info.values.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    findings.push(finding('ALM_STORE_EVICTS', `Redis has maxmemory-policy ${policy}.`));

  if (info.values.get('role') === 'slave')
    findings.push(
      finding(
        'ALM_STORE_REPLICA',
        `This Redis is a replica of ${info.values.get('master_host') ?? 'another'}.`,
      ),
    );

  const version = serverVersion(info.values);
  if (version?.fault === 'too-old')
    findings.push(finding('ALM_STORE_TOO_OLD', `This server is ${version.shown}.`));
  if (version?.fault === 'unsupported')
    findings.push(finding('ALM_STORE_UNSUPPORTED', `This server is ${version.shown}.`));
  return [...findings, ...(await inspectScripts(client, scripts, version?.shown ?? 'This server'))];
}

/** A script that does not compile is a finding of its own, however good the settings are. */
async function inspectScripts(client: Redis, scripts: Scripts, server: string): Promise<StoreFinding[]> {
  const refused = await storeFacts.loadScripts(client, scripts).catch(denied);
  if (!Array.isArray(refused))
    return [
      finding(
        'ALM_STORE_UNPROVEN',
        `Redis denies SCRIPT (${refused.denied}), so almoner cannot prove that it compiles every script.`,
      ),
    ];
  return refused.map(({ script, message }) =>
    finding('ALM_STORE_SCRIPT', `${server} does not compile the script ${script} (${message}).`),
  );
}

type Read = { readonly values: ReadonlyMap<string, string>; readonly denied: string | null };

async function readInfo(client: Redis): Promise<Read> {
  try {
    const lines = (await client.info()).split(/\r?\n/);
    const values = lines.flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)]] : [];
    });
    return { values: new Map(values), denied: null };
  } catch (error) {
    return denied(error);
  }
}

const SETTINGS = ['appendonly', 'appendfsync', 'no-appendfsync-on-rewrite', 'maxmemory-policy'];

async function readConfig(client: Redis): Promise<Read> {
  const values = new Map<string, string>();
  try {
    // One setting per command, because Redis before 7.0 accepts only one name.
    for (const name of SETTINGS) {
      const reply: unknown = await client.config('GET', name);
      if (Array.isArray(reply) && typeof reply[1] === 'string') values.set(name, reply[1]);
    }
    if (values.size < SETTINGS.length) return { values, denied: 'CONFIG GET omits settings' };
    return { values, denied: null };
  } catch (error) {
    return denied(error);
  }
}

/**
 * True for a command that an ACL denies, or that a managed service renamed. Any other error, such as a lost
 * connection, is thrown.
 */
function denied(error: unknown): Read {
  const message = messageOf(error);
  if (
    !/^(NOPERM|ERR unknown command|ERR unknown subcommand|ERR.*not (allowed|supported|permitted))/i.test(
      message,
    )
  )
    throw error;
  return { values: new Map(), denied: message };
}

function finding(code: keyof typeof STORE_ERRORS, message: string): StoreFinding {
  const { means, next } = STORE_ERRORS[code];
  return { code, message: `${message} ${means}`, next };
}

function yesNo(flag: string | undefined): string | undefined {
  return flag === undefined ? undefined : flag === '1' ? 'yes' : 'no';
}
