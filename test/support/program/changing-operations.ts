import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Calls of the ledger, and of what is built on it, that change what it holds. */
const CHANGES = new Set(
  `acceptMoved archiveBatch cancelBatch carryReferences closeIfForgotten closeLedger
  columnNotes conclude deskNotes discardOrder dropLedger foldOldDays forgetEnded forgetPace mergeTidings
  pauseBatch registerRealm releaseImport releaseRealm resumeBatch settleOverdue takeReportTurn claimRule takeTurn
  approvals.approve approvals.requestApproval approvals.requestRetry approvals.rejectApproval approvals.withdrawApprovals
  writeAudit appendDeskAudit Session RecoveryWatch importPlan passAddresses PaidSince
  changeScheduledRule changeRun putRun planRun approvedTexts noteWaiting losses.acceptMissing losses.acceptJournal
  losses.retireUnseen afterRollback.resumeAfterRollback afterRollback.noteRestored scheduledTimes.dismissMissed
  scheduledTimes.noteMissed scheduledTimes.noteLastRun folders.retireFolders`.split(/\s+/),
);

/** What operations use of the ledger beside that: it reads, reckons or names. */
const READS = new Set(
  `FORMAT JOURNAL_FOLDER PLAN_BLOCK_ROWS UNKNOWN_ROW PlanReader afterRollback allLedgers approvalNeeded approvals archiveHash attention
  attentionRows balancesSeen batchNumber batchRef batchSource begunImport decodePlanBlock decodeRecord earlierAddresses
  endedBatches findBatch findSpent folderProblem folders hasTrouble idOfBatch inflatePlanBlock isArchiveAway
  isPlannedOrder journalOf judgedAt lastSent ledgerId listJournals listSessions lists localJournals longestSettleMs
  lossAcceptedAt losses mayAmountTo mayMention mergedSessions namedArchives namedBy namedReason newNonce openBatches
  overLimitText overLimits packReferences parsePlanBlock pingStore readArrivals readBatch readBatchStanding readDeskAudit
  readDetails readFence readGate readPaceState readPresence readRealmStanding readRecord readRecovery
  readRow readSigns realmState recordsOfBlock recoveredBatch recoveredBatches
  refuseOtherFormat rowContext rowView rowsToArchive scheduledTimes sentTime sessionsAtWork settlingMs snapshotBatch
  standIn standInText stateOf storeNowMs storedLedgers syncFolder tidingsFor totals verifyLedger withSetTime
  workersAtWork`.split(/\s+/),
);

type Declared = {
  readonly file: string;
  readonly name: string;
  readonly exported: boolean;
  /** Names of the file that it uses, and members of namespaces, as `losses.acceptMissing`. */
  readonly uses: ReadonlySet<string>;
};

const FOLDER = 'src/operations';

/**
 * Exported operations, as `batches/steer.ts pause`, from which a change of the ledger is reached. `known`: operations that
 * answer for themselves; whoever calls them is not a changing operation by that alone.
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

/** Names of the ledger that stand in neither list. */
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
  /** Where a name of a file comes from, where that is another operation. */
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

/** `steering.pauseBatch` as if `pauseBatch` were imported itself. A type of a group changes nothing. */
function withoutGroups(text: string): string {
  const groups = [...text.matchAll(/^import (?!type )\{([^}]*)\} from '[^']*\/ledger\/index\.js'/gm)].flatMap(
    ([, list = '']) =>
      list
        .split(',')
        .map((name) => name.trim())
        .filter((name) => GROUPS.includes(name)),
  );
  const names = new Set<string>();
  const member = new RegExp(`(?<![\\w./])(?:${groups.join('|')})\\.([a-z]\\w*|[A-Z]\\w*(?=[.(]))`, 'g');
  if (groups.length === 0) return text;
  const plain = text.replace(member, (_, name: string) => {
    names.add(name);
    return name;
  });
  return `import { ${[...names].join(', ')} } from '../ledger/index.js';\n${plain.replace(
    /^import \{[^}]*\} from '[^']*\/ledger\/index\.js'/gm,
    (statement) => statement.replace(new RegExp(`\\b(?:${groups.join('|')})\\b,?(?! from)`, 'g'), ''),
  )}`;
}
const GROUPS = ['planning', 'sending', 'steering', 'reading', 'recovery', 'notes'];

/** Values only; a type changes nothing. */
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
