import { keepRequirement, readFence } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { isRequired } from './who.js';

/**
 * What the profiles of a process require, kept in every store that it finds: one that was lost under it has forgotten
 * it. Not at every look: what two people have made weaker stays so while the store remembers it. (Whoever sends keeps it
 * where it recovers: ledger/sessions/recovery.ts.)
 */
export function keepingRequired(app: App): () => Promise<void> {
  const stores = new Map<string, string>();
  return async () => {
    for (const profile of app.config.profiles) {
      if (!isRequired(profile.approval)) continue;
      const ledger = app.ledger(profile);
      const { run, era } = await readFence(ledger);
      if (stores.get(ledger.id) === `${run} ${era}`) continue;
      await keepRequirement(ledger);
      stores.set(ledger.id, `${run} ${era}`);
    }
  };
}
