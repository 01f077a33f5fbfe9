import { counted } from '../../words/spelling.js';
import { defineCommand } from '../frame/command.js';
import { argumentList, text, usage } from '../frame/options.js';
import { realmTitle, withRealmReads } from '../realm-reads.js';
import { readWalletList } from '../wallet-list.js';

/** Interface call 3. */
export const command = defineCommand({
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
  async run({ args, options, ...context }) {
    const listed = options.file === undefined ? [] : await readWalletList(options.file);
    const wallets = [...new Set([...args.address, ...listed])];
    if (wallets.length === 0) throw usage('No wallet was named. Nothing was asked.');
    return withRealmReads(context, 'wallets', async (reads, profile) => {
      const verdicts = await reads.wallets(wallets);
      const counts = { member: 0, 'not-member': 0, undetermined: 0 };
      for (const verdict of verdicts.values()) counts[verdict]++;
      context.output.print({
        json: {
          realm: profile.name,
          rehearsal: profile.rehearsal,
          counts,
          wallets: wallets.map((wallet) => ({ wallet, verdict: verdicts.get(wallet) ?? 'undetermined' })),
        },
        text: [
          `${counted(wallets.length, 'wallet')}, ${realmTitle(profile)}`,
          ...wallets.map((wallet) => `${(verdicts.get(wallet) ?? 'undetermined').padEnd(12)}  ${wallet}`),
          `${counts.member} belong to members, ${counts['not-member']} do not, ${counts.undetermined} undetermined`,
        ],
        next:
          counts.undetermined === 0
            ? null
            : "the realm's reply could not be read for some wallets; ask about them one at a time.",
      });
      return 0;
    });
  },
});
