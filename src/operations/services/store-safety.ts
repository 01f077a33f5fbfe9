import { AlmonerError } from '../../core/errors/error.js';
import type { App } from '../../runtime/app.js';
import { type StoreFinding, storeFindings } from '../../runtime/redis/safety.js';

/**
 * Paying on a store that may forget what it acknowledged pays twice one day. A command that sends refuses
 * such a store unless the operator named the risk in the configuration; reports print named risks.
 */
export function riskOf(code: StoreFinding['code']): string {
  return code.replace('ALM_STORE_', '').toLowerCase().replaceAll('_', '-');
}

export async function refuseUnsafeStore(app: App): Promise<void> {
  const findings = await storeFindings(app.scripts);
  const open = findings.filter(({ code }) => !app.config.risks.includes(riskOf(code)));
  const [first] = open;
  if (first === undefined) return;
  throw new AlmonerError(
    first.code,
    `${app.store.address} is not safe to pay from. Nothing was enqueued and nothing was sent.`,
    {
      details: open.map(({ code, message, next }) => `${message} ${next} (risk: ${riskOf(code)})`),
      next: `${first.next} Or accept it by name: risks: [${open.map(({ code }) => riskOf(code)).join(', ')}] in almoner.config.yaml, or ALMONER_ACCEPT_RISKS.`,
    },
  );
}
