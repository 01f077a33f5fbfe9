import { AlmonerError } from '../../core/errors/error.js';
import type { App } from '../../runtime/app.js';
import { type StoreFinding, storeFindings } from '../../runtime/redis/safety.js';

/**
 * Paying on a store that may forget what it acknowledged pays twice one day. A command that sends refuses
 * such a store unless the operator named the risk in the configuration; reports print named risks.
 */
function riskOf(code: StoreFinding['code']): string {
  return code.replace('ALM_STORE_', '').toLowerCase().replaceAll('_', '-');
}

/** An operator may accept a risk. Nobody can accept a script that does not compile. */
function isRisk({ code }: StoreFinding): boolean {
  return code !== 'ALM_STORE_SCRIPT';
}

export function isAccepted(found: StoreFinding, risks: readonly string[]): boolean {
  return isRisk(found) && risks.includes(riskOf(found.code));
}

export async function refuseUnsafeStore(app: App): Promise<void> {
  const findings = await storeFindings(app.scripts);
  const open = findings.filter((found) => !isAccepted(found, app.config.risks));
  const [first] = open;
  if (first === undefined) return;
  const risks = open.filter(isRisk).map(({ code }) => riskOf(code));
  const accept = ` Or accept it by name: risks: [${risks.join(', ')}] in almoner.config.yaml, or ALMONER_ACCEPT_RISKS.`;
  throw new AlmonerError(
    first.code,
    `${app.store.address} is not safe to pay from. Nothing was enqueued and nothing was sent.`,
    {
      details: open.map(
        (found) => `${found.message} ${found.next}${isRisk(found) ? ` (risk: ${riskOf(found.code)})` : ''}`,
      ),
      next: `${first.next}${risks.length < open.length ? '' : accept}`,
    },
  );
}
