import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Functions of the ledger, and of modules built on it, that change stored data. */
const CHANGES = new Set(
  `registerRealm fence.acceptMoved fence.close journals.closeIfForgotten journals.merge settleOverdue Session RecoveryWatch
  losses.acceptMissing losses.acceptJournal losses.retireUnseen afterRollback.resumeAfterRollback afterRollback.noteRestored
  batch.pause batch.resume batch.cancel batch.audit realm.release realm.drop deadLetters.discard archives.write
  archives.foldOldDays approvals.approve approvals.requestApproval approvals.requestRetry approvals.rejectApproval
  approvals.withdrawApprovals conclude pace.forget imports.release references.carry turns.claimRule turns.take
  turns.takeReport ended.forget deskAudit.append stores.columns stores.desk scheduledTimes.dismissMissed
  scheduledTimes.noteMissed scheduledTimes.noteLastRun importPlan passAddresses PaidSince changeScheduledRule changeRun
  putRun planRun approvedTexts noteWaiting`
    .split(/\s+/)
    .map(asAsked),
);

/** The other functions of the ledger that operations use: they only read, compute or name things. */
const READS = new Set(
  `PLAN_BLOCK_ROWS PlanReader BatchBlocks allLedgers batchNumber batchRef findBatch idOfBatch isArchiveAway
  ledgerId newNonce readBatch sealedManifest storeNowMs syncFolder verifyLedger accounts.overLimitText
  accounts.overLimits addresses.earlier afterRollback.mustWait afterRollback.needResumed
  afterRollback.readWaitAfterRollback approvals.requestedRetries approvals.ruleRequests archives.due archives.hash
  archives.named archives.rowsOf blocks.decode deadLetters.standIn deadLetters.standInText deliveries.open
  deskAudit.read earlier.arrivals earlier.judgedAt ended.list evidence.balancesSeen evidence.lastSent
  evidence.namedBy evidence.sentTime fence.lastRecovery fence.merged fence.read folders.foldersOf folders.problem
  imports.begun journals.folder journals.list journals.local journals.missingAttempts journals.of lists.batchesIn
  lists.batchesLike lists.batchesOfAll lists.countBatches lists.everyBatchIn lists.ledgersNamed lists.newestFirst
  lists.placeOf losses.REMOVED losses.isDamaged losses.lossOf losses.lossOfRetiring orders.context orders.details
  orders.hasTrouble orders.isPlanned orders.record orders.row orders.stateOf orders.unknownRow orders.view
  pace.state progress.settlingMs readback.longestSettleMs realmState.read reasons.approvalNeeded reasons.named
  reasons.withSetTime recovered.batch recovered.batches recovered.lossAcceptedAt references.pack references.spent
  scheduledTimes.missedCounts scheduledTimes.rulesWithPast sessions.atWork sessions.list sessions.presence
  sessions.signs sessions.workersAtWork snapshots.batch standing.batch standing.realm storeFacts.format
  storeFacts.ledgers storeFacts.ping storeFacts.refuseOtherFormat totals.paidEver totals.readGroups
  totals.readTotals totals.readWork unsettled.indexes unsettled.rows`
    .split(/\s+/)
    .map(asAsked),
);

/** Translates a name into the form that `withoutGroups` writes. */
function asAsked(name: string): string {
  return name.replace('.', '_');
}

type Declared = {
  readonly file: string;
  readonly name: string;
  readonly exported: boolean;
  /** The names that the file uses, including members of namespaces such as `losses.acceptMissing`. */
  readonly uses: ReadonlySet<string>;
};

const FOLDER = 'src/operations';

/**
 * Exported operations, such as `batches/steer.ts pause`, from which a change of the ledger can be reached. An operation
 * in `known` is checked on its own, so a caller of it does not count as changing for that reason alone.
 */
export function changingOperations(known: ReadonlySet<string>): string[] {
  const { declared, from } = operations();
  const isChanging = (one: Declared, seen: Set<string>): boolean => {
    const id = idOf(one);
    if (seen.has(id)) return false;
    seen.add(id);
    return [...one.uses].some((name) => {
      if (CHANGES.has(name)) return true;
      const called = declared.get(`${from.get(`${one.file} ${name}`) ?? one.file} ${name}`);
      return called !== undefined && !known.has(idOf(called)) && isChanging(called, seen);
    });
  };
  return [...declared.values()]
    .filter((one) => one.exported && isChanging(one, new Set()))
    .map(idOf)
    .sort();
}

/** Names of the ledger that appear in neither list. */
export function unjudgedMoves(): string[] {
  const names = files().flatMap(({ text }) =>
    importsOf(text)
      .filter(({ source }) => source.endsWith('/ledger/index.js'))
      .map(({ name }) => name),
  );
  return [...new Set(names)].filter((name) => !CHANGES.has(name) && !READS.has(name)).sort();
}

function operations() {
  const declared = new Map<string, Declared>();
  /** Maps an imported name to the operation that defines it. */
  const from = new Map<string, string>();
  for (const { file, text } of files()) {
    const imports = importsOf(text);
    for (const { name, source } of imports)
      if (source.startsWith('.'))
        from.set(`${file} ${name}`, join(dirname(file), source).replace(/\.js$/, '.ts'));
    const found = [...text.matchAll(/^(export )?(?:async )?(?:function\*?|class) (\w+)([\s\S]*?)^\}/gm)].map(
      ([, exported, name = '', body = '']) => ({ exported: exported !== undefined, name, body }),
    );
    const names = new Set([...found, ...imports].map(({ name }) => name));
    for (const { exported, name, body } of found) {
      const uses = [...wordless(body).matchAll(/(?<![\w.])(\w+)(?:\.(\w+))?/g)]
        .filter(([, first = '']) => names.has(first) && first !== name)
        .flatMap(([, first = '', member]) => [first, `${first}.${member}`]);
      declared.set(`${file} ${name}`, { file, name, exported, uses: new Set(uses) });
    }
  }
  return { declared, from };
}

function files() {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({
      file: join(FOLDER, path),
      text: withoutGroups(readFileSync(join(FOLDER, path), 'utf8')),
    }));
}

/**
 * Treats `steering.batch.pause` as if `batch_pause` had been imported, so that each function of a ledger object is
 * judged separately. A type in a group changes nothing.
 */
function withoutGroups(text: string): string {
  const imported = [
    ...text.matchAll(/^import (?!type )\{([^}]*)\} from '[^']*\/ledger\/index\.js'/gm),
  ].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()));
  const groups = imported.filter((name) => GROUPS.includes(name) || OBJECTS.has(name));
  if (groups.length === 0) return text;
  const names = new Set<string>();
  const any = groups.join('|');
  const asked = (object: string, question: string) => {
    names.add(`${object}_${question}`);
    return `${object}_${question}`;
  };
  const member = new RegExp(
    `(?<![\\w/])(?<![^.]\\.)(${any})\\s*\\.\\s*([a-z]\\w*|[A-Z]\\w*(?=[.(]))(?:\\s*\\.\\s*(\\w+))?`,
    'g',
  );
  const plain = text.replace(member, (_, group: string, first: string, second: string | undefined) => {
    const rest = second === undefined ? '' : `.${second}`;
    if (OBJECTS.has(group)) return `${asked(group, first)}${rest}`;
    if (OBJECTS.has(first) && second !== undefined) return asked(first, second);
    names.add(first);
    return `${first}${rest}`;
  });
  return `import { ${[...names].join(', ')} } from '../ledger/index.js';\n${plain.replace(
    /^import \{[^}]*\} from '[^']*\/ledger\/index\.js'/gm,
    (statement) => statement.replace(new RegExp(`\\b(?:${any})\\b,?(?! from)`, 'g'), ''),
  )}`;
}
const GROUPS = ['planning', 'sending', 'steering', 'reading', 'recovery', 'notes'];
/** The objects that the ledger exports. */
const OBJECTS = new Set(
  ['index', ...GROUPS].flatMap((name) =>
    [...readFileSync(`src/ledger/${name}.ts`, 'utf8').matchAll(/^export const (\w+) = \{/gm)].map(
      ([, object = '']) => object,
    ),
  ),
);

/** Lists imported values only, because a type changes nothing. */
function importsOf(text: string) {
  return [...text.matchAll(/^import (?!type )([^;]*?) from '([^']+)'/gm)].flatMap(
    ([, list = '', source = '']) =>
      list
        .replace(/[{}]/g, '')
        .split(',')
        .map((part) => part.trim().replace(/^\* as |^\w+ as /, ''))
        .filter((name) => name !== '' && !name.startsWith('type '))
        .map((name) => ({ name, source })),
  );
}

function wordless(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'/g, '');
}

const idOf = ({ file, name }: Pick<Declared, 'file' | 'name'>) => `${file.slice(FOLDER.length + 1)} ${name}`;
