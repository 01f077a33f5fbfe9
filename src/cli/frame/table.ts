import type { Colours } from '../text/colours.js';
import type { Command } from './command.js';
import { version } from './version.js';

/**
 * All commands in one flat table. A module of commands/ exports the commands of one group; a test checks that table
 * and folder agree. Only the typed command's module is loaded, so that help and usage errors answer at once.
 */
export type TableEntry = { readonly name: string; readonly group: string; readonly summary: string };

const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Pay from a file': {
    plan: 'check a CSV and show what it would do; sends nothing',
    run: 'plan, ask, pay and report, in this process',
    rehearse: 'the same file on the embedded realm, with members made from it',
    import: 'plan and hand the batch to the workers',
  },
  'Follow and steer': {
    status: 'all batches, or one of them',
    pause: 'stop a batch after what is being sent',
    resume: 'resume a paused or halted batch',
    cancel: 'end a batch; unsent orders stay unsent',
    approve: 'approve what another person has prepared or asked for',
    report: 'write the report files of a batch again',
    find: 'search all batches by reference, file, member, order, amount or day',
    history: 'every order that ever touched a member',
    stats: 'what was paid by day, week or month, and how the realm answered',
    statement: 'what was paid in a month, by realm and currency, for accounting',
    undo: 'write the CSV that takes back what was paid',
    pace: 'the rate of each realm, and what almoner learnt about it',
    'references add': 'mark references as spent that another tool paid',
  },
  'Mend what failed': {
    'dead list': 'orders that ended without being paid',
    'dead show': 'one dead letter with all its attempts',
    'dead retry': 'send dead letters again',
    'dead discard': 'close dead letters, giving a reason',
    'dead export': 'the dead letters of a batch as CSV',
    'doubt list': 'orders that almoner cannot prove paid or unpaid',
    'doubt show': 'the evidence about one doubt',
    'doubt raise': 'make a doubt of an order that stays unknown, giving a reason',
    'doubt resolve': 'end doubts as paid or unpaid, giving a reason',
  },
  'Reward by rules': {
    'rules list': 'the rules and when they run next',
    'rules check': 'check the rule files',
    'rules plan': 'who would get what, and why',
    'rules try': 'one rule on one member',
    'rules run': 'make a batch from a rule',
    'rules sync': 'put the schedules of the rules in force',
    'rules pause': 'let the times of a schedule pass without a run',
    'rules resume': 'end a pause or a skip',
    'rules skip': 'let the next time of a schedule pass',
    'rules revoke': 'withdraw the approval of a rule',
    'rules calendar': 'past and coming times of the schedules, and the missed ones',
    'rules dismiss': 'take missed times off the list, giving a reason',
    'rules explain': 'a past decision, from the facts of that run',
  },
  'Ask the realm': {
    member: "a member's record, or its web3 data",
    wallets: 'which wallets belong to members of the realm',
  },
  'Run services': {
    worker: 'pay imported batches until stopped',
    serve: 'the desk, its API, schedules and notifications',
    'desk token add': 'make a token for the desk',
    'desk token list': 'the tokens of the desk',
    'desk token revoke': 'revoke a token',
    'realm serve': 'the realm service itself, for rehearsals and communities of your own',
  },
  'Set up': {
    init: 'write a first configuration with samples',
    doctor: 'check configuration, folders, store and realm, with remedies',
    completion: 'a completion script for bash, zsh or fish',
    recover: 'recover the ledger after the store was lost or rolled back',
    verify: 'check the whole ledger, or a backup, against its invariants',
    backup: 'a consistent copy of ledger, journals and archive, while everything runs',
    restore: 'put the store of a backup back, and recover',
  },
};

/** The commands in the order of the overview. */
export const TABLE: readonly TableEntry[] = Object.entries(GROUPS).flatMap(([group, commands]) =>
  Object.entries(commands).map(([name, summary]) => ({ name, group, summary })),
);

/** The modules that hold several commands, or one under another name. */
const MODULES: Readonly<Record<string, RegExp>> = {
  pay: /^(plan|run|rehearse|import)$/,
  batches: /^(status|pause|resume|cancel)$/,
  records: /^(report|history|undo)$/,
  dead: /^dead (list|show|export)$/,
  'dead-mend': /^dead (retry|discard)$/,
  doubts: /^doubt /,
  rules: /^rules (list|sync|pause|resume|skip|revoke|explain)$/,
  'rules-calendar': /^rules (calendar|dismiss)$/,
  'rules-plan': /^rules (plan|try)$/,
  'realm-reads': /^(member|wallets)$/,
  'desk-tokens': /^desk token /,
};

/** The module of commands/ that holds a command. */
export function moduleNameOf(name: string): string {
  const found = Object.entries(MODULES).find(([, holds]) => holds.test(name));
  return found?.[0] ?? name.replaceAll(' ', '-');
}

/** Loads the module of one command. */
export async function loadCommand({ name }: TableEntry): Promise<Command> {
  const loaded: Readonly<Record<string, unknown>> = await import(
    /* @vite-ignore */ `../commands/${moduleNameOf(name)}.js`
  );
  const command = Object.values(loaded)
    .filter(isCommand)
    .find((one) => one.name === name);
  if (command === undefined) throw new Error(`commands/${moduleNameOf(name)} does not export ${name}`);
  return command;
}

export function isCommand(exported: unknown): exported is Command {
  return typeof exported === 'object' && exported !== null && 'start' in exported && 'name' in exported;
}

const FIRST_STEPS: readonly (readonly [string, string])[] = [
  ['almoner init', 'a first configuration and a sample file'],
  ['almoner rehearse jobs/airdrop.csv', 'try a file; nobody is paid'],
  ['almoner plan FILE', 'what the file would do, and how long it takes'],
  ['almoner run FILE', 'pay it'],
];

/** The text of `almoner` without a command, for a person who starts it for the first time. */
export function overview(entries: readonly TableEntry[], colours: Colours): string {
  const width = Math.max(...entries.map((entry) => entry.name.length)) + 2;
  const lines = [
    `${colours.bold('almoner')} ${version()}: pays realm members from CSV files and rules, each order at most once.`,
    '',
    colours.bold('First steps'),
    ...FIRST_STEPS.map(([command, what]) => `  ${command.padEnd(36)}${what}`),
  ];
  for (const group of new Set(entries.map((entry) => entry.group))) {
    lines.push(
      '',
      colours.bold(group),
      ...listed(
        entries.filter((entry) => entry.group === group),
        width,
      ),
    );
  }
  lines.push(
    '',
    'Every command takes --help, --json, --config FILE, --realm NAME and --log-level LEVEL.',
    'Without a configured realm everything is a rehearsal on the embedded realm service.',
  );
  return lines.join('\n');
}

/** The text of `almoner dead` and other group words. */
export function groupOverview(words: readonly string[], entries: readonly TableEntry[]): string {
  const width = Math.max(...entries.map((entry) => entry.name.length)) + 2;
  return [`Usage: almoner ${words.join(' ')} <command> [options]`, '', ...listed(entries, width)].join('\n');
}

function listed(entries: readonly TableEntry[], width: number): readonly string[] {
  return entries.map((entry) => `  ${entry.name.padEnd(width)}${entry.summary}`);
}
