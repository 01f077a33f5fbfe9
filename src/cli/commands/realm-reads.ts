import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { isMemberId } from '../../core/ids.js';
import type { RealmProfile } from '../../core/profile.js';
import { plainJson, prettyJson } from '../../realm/json.js';
import { pacedReads } from '../../runtime/paced-reads.js';
import { counted } from '../../words/spelling.js';
import type { CommandBase } from '../frame/command.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, argumentList, flag, notAMemberId, text, usage } from '../frame/options.js';

/** A person waits for a read, so that a store that does not answer is reported after 10 s. */
const PATIENCE_MS = 10_000;

/** Reads a member's record, or its web3 data, from the realm. */
export const member = storeCommand({
  name: 'member',
  description: "Reads a member's record from the realm, or its web3 data. Changes nothing.",
  arguments: { id: argument('the member id: decimal digits') },
  options: { web3: flag('read the web3 data instead of the record') },
  examples: ['almoner member 119876543210987654', 'almoner member 119876543210987654 --web3'],
  patienceMs: PATIENCE_MS,
  archives: false,
  run: async (context) => {
    const { args, options, output } = context;
    const { id } = args;
    if (!isMemberId(id)) throw notAMemberId(id);
    const profile = await context.profile();
    return async (app) => {
      const reads = pacedReads(await app.realm(profile), profile.currency);
      const head = { member: id, realm: profile.name, rehearsal: profile.rehearsal };
      if (options.web3) {
        const { raw } = await reads.web3(id);
        output.print({
          json: { ...head, web3: plainJson(raw) },
          text: [`Web3 data of member ${id}, ${realmTitle(profile)}`, prettyJson(raw)],
        });
        return;
      }
      const { balance, raw } = await reads.member(id);
      output.print({
        json: { ...head, balance, record: plainJson(raw) },
        text: [
          `Member ${id}, ${realmTitle(profile)}`,
          `Balance: ${balance ?? 'not found in the record'}`,
          prettyJson(raw),
        ],
        next: balance === null ? 'name the place of the balance with `balancePath` in the profile.' : null,
      });
    };
  },
});

/** Asks the realm which wallets belong to members. */
export const wallets = storeCommand({
  name: 'wallets',
  description: 'Asks the realm which wallets belong to its members. Changes nothing.',
  arguments: { address: argumentList('wallets to check') },
  options: {
    file: text('F', 'a file with one wallet a line, or a CSV with a column `wallet`; - reads stdin'),
  },
  examples: [
    'almoner wallets 0x52908400098527886E0F7030069857D2E4169EE7',
    'almoner wallets --file wallets.txt',
  ],
  patienceMs: PATIENCE_MS,
  archives: false,
  run: async (context) => {
    const { args, options, output } = context;
    const listed = options.file === undefined ? [] : walletsIn(await contentOf(context, options.file));
    const asked = [...new Set([...args.address, ...listed])];
    if (asked.length === 0) throw usage('No wallet was named. Nothing was asked.');
    const profile = await context.profile();
    return async (app) => {
      const verdicts = await pacedReads(await app.realm(profile), profile.currency).wallets(asked);
      const counts = { member: 0, 'not-member': 0, undetermined: 0 };
      for (const verdict of verdicts.values()) counts[verdict]++;
      const answers = asked.map((wallet) => ({ wallet, verdict: verdicts.get(wallet) ?? 'undetermined' }));
      output.print({
        json: { realm: profile.name, rehearsal: profile.rehearsal, counts, wallets: answers },
        text: [
          `${counted(asked.length, 'wallet')}, ${realmTitle(profile)}`,
          ...answers.map(({ wallet, verdict }) => `${verdict.padEnd(12)}  ${wallet}`),
          `${counts.member} belong to members, ${counts['not-member']} do not, ${counts.undetermined} undetermined`,
        ],
        next:
          counts.undetermined === 0
            ? null
            : "the realm's reply could not be read for some wallets; ask about them one at a time.",
      });
    };
  },
});

function realmTitle({ name, realmId, baseUrl, rehearsal }: RealmProfile): string {
  return rehearsal ? `REHEARSAL: realm ${name}` : `realm ${name} (${realmId} at ${baseUrl})`;
}

/** Reads a file, or standard input for `-`. */
function contentOf({ stdin }: Pick<CommandBase, 'stdin'>, file: string): Promise<string> {
  if (file === '-') return textOf(stdin);
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usage(`${file} cannot be read (${error.code ?? 'unknown reason'}). Nothing was asked.`);
  });
}

const HEADER = /^(wallets?|address(es)?|wallet_?address)$/i;

/**
 * Reads one wallet a line, or a CSV with a column named wallet or address. Wallets contain no delimiters and no
 * quotes, so that a split is enough. Blank lines and lines that begin with # are skipped.
 */
export function walletsIn(content: string): readonly string[] {
  const rows = content
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'))
    .map((line) => line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1')));
  const column = rows[0]?.findIndex((cell) => HEADER.test(cell)) ?? -1;
  if (column < 0 && rows.some((cells) => cells.length > 1))
    throw usage(
      'The list of wallets has several columns and none of them is named wallet. Nothing was asked.',
    );
  const body = column < 0 ? rows : rows.slice(1);
  return body.map((cells) => cells[Math.max(column, 0)] ?? '').filter((wallet) => wallet !== '');
}
