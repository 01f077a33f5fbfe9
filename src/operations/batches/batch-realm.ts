import { REALM_HALTED } from '../../core/classify.js';
import { AlmonerError } from '../../core/errors/error.js';
import { memberId } from '../../core/ids.js';
import { type Standstill, shownState } from '../../core/may-send.js';
import type { RealmProfile } from '../../core/profile.js';
import { changeOf } from '../../core/terms.js';
import {
  type BatchRef,
  type BatchView,
  type Manifest,
  type Reason,
  reading,
  recovery,
  type StoredBatch,
  steering,
} from '../../ledger/index.js';
import { changedReason } from '../../queue/reasons.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import type { Config } from '../../runtime/config/config.js';
import { embeddedProfile } from '../../runtime/config/profiles.js';

/** The profiles of this place. A required argument everywhere: left out, an answer would say nothing of quiet hours. */
export type Profiles = Pick<Config, 'profiles'>;

/** The profile of a realm, by base URL and id: its name may have changed since. */
export function configuredProfile(
  { profiles }: Profiles,
  realm: Pick<RealmProfile, 'baseUrl' | 'realmId'>,
): RealmProfile | undefined {
  return profiles.find(({ baseUrl, realmId }) => baseUrl === realm.baseUrl && realmId === realm.realmId);
}

export function profileOfBatch(config: Profiles, { ledger: { realm } }: BatchRef): RealmProfile | undefined {
  const configured = configuredProfile(config, realm);
  if (configured !== undefined || !isRehearsalOfItsOwn(config, realm)) return configured;
  return { ...rehearsalProfile(Date.now(), null), realmId: realm.realmId };
}

/**
 * Why the profiles of this place may not work the batch; null where one may, and where none is about its
 * realm. A profile whose address was edited is known by its name or by the realm's id.
 */
export function changeHere(config: Profiles, ref: BatchRef, manifest: Manifest): Reason | null {
  // Its profile was made for it.
  if (isRehearsalOfItsOwn(config, ref.ledger.realm)) return null;
  const profile =
    profileOfBatch(config, ref) ??
    config.profiles.find(({ name, realmId }) => name === manifest.realm || realmId === manifest.realmId);
  const change = profile === undefined ? null : changeOf(manifest, profile);
  return profile === undefined || change === null
    ? null
    : reading.reasons.named(changedReason(change, profile.name), ref.id);
}

/** A batch with the session that works it; empty for the workers. */
export type OwnedBatch = BatchView & Pick<StoredBatch, 'owner' | 'gate' | 'whyNot'>;

/** A batch of the workers as the profiles of this place let it stand, where nobody halts it in the ledger. */
export async function byTermsHere<Batch extends OwnedBatch>(
  config: Profiles,
  ref: BatchRef,
  view: Batch,
): Promise<Batch> {
  const { manifest, owner, state, gate } = view;
  if (owner !== '' || (state !== 'running' && state !== 'planned')) return view;
  const reason = changeHere(config, ref, manifest);
  // A worker elsewhere may have the profile that fits, and would halt the batch itself where it does not.
  const isTheirs = reason === null || (await recovery.sessions.workersAtWork(ref.ledger)).length > 0;
  return isTheirs ? view : heldBackBy(view, 'terms', reading.reasons.withSetTime(reason, gate));
}

/** The batch as it is shown where something keeps it from being sent that the ledger does not know. */
export function heldBackBy<Batch extends OwnedBatch>(view: Batch, why: Standstill, reason: Reason): Batch {
  const whyNot = [why, ...view.whyNot];
  return { ...view, whyNot, state: shownState(view.state, whyNot), reason };
}

/** Made by `rehearse` and configured nowhere: no worker ever takes its batches. */
export function isRehearsalOfItsOwn(config: Profiles, realm: BatchRef['ledger']['realm']): boolean {
  return realm.rehearsal && configuredProfile(config, realm) === undefined;
}

export async function realmOfBatch(app: App, ref: BatchRef): Promise<OpenRealm> {
  const profile = profileOfBatch(app.config, ref);
  if (profile !== undefined) return app.realm(profile);
  const { name, realmId, baseUrl } = ref.ledger.realm;
  throw new AlmonerError(
    'ALM_BATCH_REALM_NOT_HERE',
    `Batch ${ref.id} belongs to realm ${name} (${realmId} at ${baseUrl}), which is not configured here. Nothing was done.`,
  );
}

/**
 * A halted realm goes on only after the key was read again and one read was answered. Any answer that does
 * not speak of the key will do: a 404 for a member nobody has proves that the key is taken.
 */
export async function letRealmGoOn(realm: OpenRealm): Promise<void> {
  const { halt } = await reading.realmState.read(realm.ledger);
  if (halt === null) return;
  const result = await realm.client.readMember(PROBE_MEMBER);
  const { status } = result.facts;
  const accepted = result.ok || (status !== null && !REALM_HALTED.has(status) && status < 500);
  if (accepted) return steering.realm.release(realm.ledger);
  if (result.ok) return;
  const { code, message, next } = result.error;
  throw new AlmonerError(code, `${message} The realm stays halted, and nothing was sent.`, {
    next,
    cause: result.error,
  });
}

const PROBE_MEMBER = memberId('0');

/** Each rehearsal has a realm, members and books of its own, so that it can be made again and again. */
export const NAME = 'rehearsal';

/** `currency`: the one that its realm is given beside its own; null: its own. */
export function rehearsalProfile(now: number, currency: string | null): RealmProfile {
  const stamp = new Date(now).toISOString().replaceAll(/[-:.TZ]/g, '');
  return {
    ...embeddedProfile({}),
    name: NAME,
    currency,
    realmId: `${NAME}-${stamp}`,
    // The service is in this process: what does not answer in seconds will not answer.
    timeouts: { connectMs: 2_000, tlsMs: 2_000, responseMs: 2_000, totalMs: 3_000 },
    attempts: { max: 5, backoffMs: 50, backoffMaxMs: 1_000 },
  };
}
