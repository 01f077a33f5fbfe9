import { type RealmRecovery, type RecoverResult, recoverRealms } from '../../runtime/operations/recovery.js';
import { defineCommand } from '../command.js';
import { withApp } from '../open-app.js';
import { text } from '../options.js';

export const command = defineCommand({
  name: 'recover',
  description:
    'After the store was restarted, failed over or restored: merges the journals of this machine and lets orders be sent again where nothing is missing.',
  arguments: {},
  options: {
    acceptMissing: text('SESSION', 'this session’s journal is lost: what it may have sent becomes a doubt'),
  },
  examples: ['almoner recover', 'almoner recover --accept-missing 0f3a9c21b7de'],
  run: async (context) =>
    withApp(context, 'recover', async (app) => {
      const result = await recoverRealms(app, context.options.acceptMissing ?? null);
      context.output.print({ json: result, text: lines(result), ...next(result) });
      return result.realms.every(isFine) ? 0 : 5;
    }),
});

/** Books that nothing was ever sent from arm themselves at the first order. */
function isFine(realm: RealmRecovery): boolean {
  return realm.armed || realm.untouched;
}

function lines({ realms, merged, doubts }: RecoverResult): string[] {
  return [
    ...realms.flatMap(realmLines),
    `${merged} orders were put right from journals; ${doubts} became doubts. Nothing was sent.`,
  ];
}

function realmLines(realm: RealmRecovery): string[] {
  const { rollback } = realm;
  return [
    `Realm ${realm.realm}: ${isFine(realm) ? 'safe to send' : 'nothing is sent until every journal is merged'}`,
    ...(rollback === null
      ? []
      : [
          `  the store had forgotten moves ${rollback.found + 1} to ${rollback.seen} on ${new Date(rollback.at).toISOString()}`,
        ]),
    ...(isFine(realm)
      ? []
      : realm.sessions.map(
          ({ session, kind, pid, machine, liveness }) =>
            `  not merged: session ${session} (${kind}, pid ${pid}, machine ${machine}, ${SAID[liveness]})`,
        )),
    ...realm.parked.map(
      ({ batch, orders }) =>
        `  ${orders} payments are known of batch ${batch}, which the store has forgotten`,
    ),
  ];
}

const SAID = {
  alive: 'alive here: it merges by itself unless it is frozen',
  dead: 'dead; its journal is not where it was',
  elsewhere: 'on another machine: run `almoner recover` there',
} as const;

function next({ realms }: RecoverResult): { next?: string } {
  const missing = realms.filter((realm) => !isFine(realm)).flatMap(({ sessions }) => sessions);
  if (missing.some(({ liveness }) => liveness !== 'alive'))
    return {
      next: 'almoner recover on the machine of each session; where its disk is lost, almoner recover --accept-missing SESSION',
    };
  if (missing.length > 0) return { next: 'let the frozen process go on (kill -CONT), or end it' };
  return realms.some(({ parked }) => parked.length > 0)
    ? { next: 'run the file of each forgotten batch again: what was paid stays paid' }
    : {};
}
