import { isMemberId, MEMBER_ID_DIGITS_MAX } from '../../core/ids.js';
import { plainJson, prettyJson } from '../../realm/json.js';
import { defineCommand } from '../frame/command.js';
import { argument, flag, usage } from '../frame/options.js';
import { realmTitle, withRealmReads } from '../realm-reads.js';

/** Interface calls 1 and 2. */
export const command = defineCommand({
  name: 'member',
  description: "Reads a member's record from the realm, or its web3 data. Changes nothing.",
  arguments: { id: argument('the member id: decimal digits') },
  options: { web3: flag('read the web3 data instead of the record') },
  examples: ['almoner member 119876543210987654', 'almoner member 119876543210987654 --web3'],
  async run({ args, options, ...context }) {
    const { id } = args;
    if (!isMemberId(id))
      throw usage(`expected a member id of 1 to ${MEMBER_ID_DIGITS_MAX} digits, got ${JSON.stringify(id)}`);
    return withRealmReads(context, 'member', async (reads, profile) => {
      const head = { member: id, realm: profile.name, rehearsal: profile.rehearsal };
      if (options.web3) {
        const { raw } = await reads.web3(id);
        context.output.print({
          json: { ...head, web3: plainJson(raw) },
          text: [`Web3 data of member ${id}, ${realmTitle(profile)}`, prettyJson(raw)],
        });
        return 0;
      }
      const { balance, raw } = await reads.member(id);
      context.output.print({
        json: { ...head, balance, record: plainJson(raw) },
        text: [
          `Member ${id}, ${realmTitle(profile)}`,
          `Balance: ${balance ?? 'not found in the record'}`,
          prettyJson(raw),
        ],
        next: balance === null ? 'name the place of the balance with `balancePath` in the profile.' : null,
      });
      return 0;
    });
  },
});
