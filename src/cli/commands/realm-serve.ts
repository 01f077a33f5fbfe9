import { once } from 'node:events';
import { counted } from '../../core/counted.js';
import type { Rate } from '../../core/profile.js';
import { parseRate } from '../../core/profile.js';
import { createRealmAdmin, prepareRealm } from '../../realm/server/admin.js';
import { FAULT_NAMES, parseFaults } from '../../realm/server/faults.js';
import { isCurrency, OWN_CURRENCY } from '../../realm/server/request.js';
import { createRealmService } from '../../realm/server/service.js';
import { readKey } from '../../runtime/config/secrets.js';
import { registerSecret } from '../../runtime/logger.js';
import { openStore } from '../../runtime/redis/store.js';
import { withStopSignals } from '../../runtime/stop-signals.js';
import { defineCommand } from '../frame/command.js';
import { flag, text, texts, usage, wholeNumber } from '../frame/options.js';

const USUAL_HOST = '127.0.0.1';
const USUAL_PORT = 8787;
const USUAL_REALM = 'main';
const FAULTS_HELP = `a fault to rehearse, as name:probability[:value]; names: ${FAULT_NAMES.join(', ')}, all`;

/** Runs the realm service itself: all five calls of the interface, with optional faults. */
export const realmServe = defineCommand({
  name: 'realm serve',
  description:
    'Serves the realm interface: all five calls, with members and balances in Redis. The first key comes from ALMONER_API_KEY where set.',
  options: {
    host: text('H', `address to listen on (default: ${USUAL_HOST})`),
    port: wholeNumber('P', `port, 0 for any free one (default: ${USUAL_PORT})`, { min: 0, max: 65_535 }),
    realmId: text('ID', `the realm to serve (default: ALMONER_REALM_ID, or ${USUAL_REALM})`),
    members: text('FILE', 'CSV of members to add: member, tokens, wallets, web3, attributes'),
    currency: texts('C', 'a further currency of the realm, beside its own; may be given again'),
    rotateKey: flag('make a new key and end all others of this realm'),
    rate: text('R', 'requests allowed per realm, e.g. 24/min (default: none)'),
    fault: texts('F', FAULTS_HELP),
    faultSeed: wholeNumber('N', 'seed of the faults: the same seed repeats them (default: 1)', { min: 0 }),
  },
  examples: [
    'almoner realm serve --members members.csv',
    'almoner realm serve --rate 24/min --fault error-after:0.05 --fault latency:0.2:300',
  ],
  async run({ options, env, output, ...context }) {
    const rateLimit = rateOf(options.rate);
    const wrong = options.currency.find((name) => !isCurrency(name));
    if (wrong !== undefined)
      throw usage(
        `--currency: expected 1 to 128 letters, digits and any of . _ : -, and not "${OWN_CURRENCY}", got ${JSON.stringify(wrong)}. The realm service was not started.`,
      );
    const faults = options.fault.length === 0 ? undefined : parseFaults(options.fault, options.faultSeed);
    const realmId = options.realmId ?? (env.ALMONER_REALM_ID?.trim() || USUAL_REALM);
    const config = await context.config({ environmentRealm: 'ignored' });
    const ownKey = ownKeyOf(env);
    if (ownKey !== null) registerSecret(ownKey);
    const logger = await context.logger();
    const { redisUrl, dataFolder, limits } = config;
    const answerMs = limits.storeAnswerMs;
    const store = await openStore({ redisUrl, dataFolder, clientName: 'realm-serve', logger, answerMs });
    try {
      const { newKey, membersCreated } = await prepareRealm(createRealmAdmin(store.ledger), {
        realmId,
        ownKey,
        rotateKey: options.rotateKey,
        membersFile: options.members ?? null,
        currencies: options.currency,
      });
      if (newKey !== null) registerSecret(newKey);
      const service = createRealmService({ redis: store.ledger, logger, faults, rateLimit });
      await withStopSignals(async (stop) => {
        const { url } = await service.listen({
          host: options.host ?? USUAL_HOST,
          port: options.port ?? USUAL_PORT,
        });
        output.print({
          json: { url, realm: realmId, ...(newKey === null ? {} : { key: newKey }) },
          text: [
            `Realm ${realmId} is served at ${url}/api/v4`,
            newKey !== null
              ? `Key (shown this once): ${newKey}`
              : ownKey !== null
                ? 'The key from ALMONER_API_KEY works.'
                : 'The keys that it has go on working.',
            ...(options.members === undefined ? [] : [`${counted(membersCreated, 'member')} added.`]),
            ...(faults === undefined ? [] : [`Faults are switched on: ${options.fault.join(' ')}`]),
          ],
          next:
            newKey === null && ownKey === null
              ? 'without the key at hand, start again with --rotate-key. Ctrl-C stops the service.'
              : 'set ALMONER_REALM_URL, ALMONER_REALM_ID and ALMONER_API_KEY to use it. Ctrl-C stops the service.',
        });
        if (!stop.aborted) await once(stop, 'abort');
      });
      await service.close();
    } finally {
      await store.close();
    }
  },
});

function rateOf(written: string | undefined): Rate | null {
  if (written === undefined) return null;
  const parsed = parseRate(written);
  if ('fault' in parsed) throw usage(`--rate: ${parsed.fault}, got ${JSON.stringify(written)}`);
  return parsed.rate;
}

/** The realm service's key from the environment. Without one it makes its own and prints it once. */
function ownKeyOf(env: NodeJS.ProcessEnv): string | null {
  if (env.ALMONER_API_KEY) return readKey({ from: 'env', name: 'ALMONER_API_KEY' }, env);
  if (env.ALMONER_API_KEY_FILE) return readKey({ from: 'file', path: env.ALMONER_API_KEY_FILE }, env);
  return null;
}
