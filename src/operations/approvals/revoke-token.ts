import type { App } from '../../runtime/app.js';
import { record } from '../people/audit.js';
import { isSamePerson, revokeIn, type Withdrawn } from '../people/manage-tokens.js';

/** `prepared`: batches of theirs that wait for an approval, and go on waiting. */
type Revoked = Withdrawn & { readonly prepared: readonly string[] };

/** Takes the token, and with it every approval that has led to nothing yet. */
export async function revokeToken(app: App, name: string): Promise<Revoked> {
  const withdrawn = await revokeIn(app.scripts, name, app.config.operator);
  // Previews of batches come with it, which no other command about tokens needs.
  const { askedBy, waitingForApproval } = await import('./approvals.js');
  const prepared = (await waitingForApproval(app))
    .filter(({ view }) => isSamePerson(askedBy(view), name))
    .map(({ ref }) => ref.id);
  await record(app, { what: `revoked desk token ${name}`, why: null, batches: withdrawn.waiting });
  return { ...withdrawn, prepared };
}
