import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { recovery } from '../../ledger/index.js';
import { quietly } from '../../queue/rounds.js';
import type { App } from '../../runtime/app.js';
import { recovering } from './recovery.js';

/**
 * Opens ledgers that a restart or a restore has closed, for as long as `serve` runs. Without it a desk that has no worker
 * beside it would show a closed ledger that waits for no process and offers no decision.
 */
export async function keepLedgersOpen(app: App, stop: AbortSignal): Promise<void> {
  const warn = quietly((message) => app.logger.warn({ message }, 'recovery'), SAID_EVERY_MS);
  const keep = async (profile: RealmProfile) => {
    while (!stop.aborted) {
      await openWhereClosed(app, profile, stop).catch((error: unknown) => warn(messageOf(error)));
      await pause(stop);
    }
  };
  await Promise.all(app.config.profiles.map(keep));
}

async function openWhereClosed(app: App, profile: RealmProfile, stop: AbortSignal): Promise<void> {
  const fence = await recovery.fence.read(app.ledger(profile));
  if (fence.armed || fence.untouched) return;
  // One session while others are waited for: its next looks cost one question each (see watch.ts).
  await recovering(app, profile, async ({ watch }) => {
    while (!stop.aborted && !(await watch.tick())) await pause(stop);
  });
}

function pause(stop: AbortSignal): Promise<unknown> {
  return sleep(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => {});
}

const LOOK_EVERY_MS = 1_000;
const SAID_EVERY_MS = 60_000;
