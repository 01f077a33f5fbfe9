import type { Redis } from 'ioredis';
import { memberId } from '../../src/core/ids.js';
import { REMOVED } from '../../src/ledger/sessions/accept-missing.js';
import { playClocks } from './clocks.js';
import { rollingFor } from './dice.js';
import { type Judgement, judge, lazyDoubts, unnamed } from './judge.js';
import { playDeaths } from './machine.js';
import type { Move, Plan } from './moves.js';
import type { BatchSight } from './operator.js';
import {
  approve,
  decideAsExported,
  exportDoubts,
  importMissing,
  payByTable,
  repeat,
  resolveDoubts,
  resumeAll,
  retry,
  runFailed,
  runRule,
  runSchedule,
  start,
  undo,
} from './people.js';
import { SMOOTHLY } from './process.js';
import { SETTLE_MS } from './realm.js';
import { Scene } from './scene.js';

/** Plays one history of failing machines, people, a realm and a store to its end, and judges it. */

/** Every move takes a moment, so that work postponed by one move is due at the next. */
const MOVE_MS = 300;

export async function play(plan: Plan, redis: Redis, folder: string): Promise<Judgement> {
  const stopDice = rollingFor(plan.seed);
  const stopClocks = playClocks();
  const stopDeaths = playDeaths();
  const scene = new Scene(plan, redis, folder);
  try {
    await scene.begin();
    for (const move of plan.moves) await make(scene, move);
    return await end(scene);
  } finally {
    await scene.close();
    stopDeaths();
    stopClocks();
    stopDice();
  }
}

async function make(scene: Scene, move: Move): Promise<void> {
  scene.realm.pass(MOVE_MS);
  switch (move.do) {
    case 'send':
      return scene.send(move);
    case 'answer':
      return scene.present(move.who).then((one) => one?.answer(move.count, move.how));
    case 'go on':
      return scene.present(move.who).then((one) => one?.goOn(move.how));
    case 'feed':
      return scene.present(move.who).then((one) => one?.feed());
    case 'look':
      return scene.look(await scene.present(move.who), move.how);
    case 'everybody looks':
      return scene.everybodyLooks();
    case 'sleep': {
      const one = scene.places[move.who];
      if (one?.alive === true) one.asleep = true;
      return;
    }
    case 'wake':
      return scene.wake(scene.places[move.who]);
    case 'kill':
      return scene.places[move.who]?.die();
    case 'leave': {
      const one = scene.places[move.who];
      return one?.acts === true ? one.leave() : undefined;
    }
    case 'lose replies':
      scene.places[move.who]?.loseReplies(move.replies);
      return;
    case 'refuse':
      scene.places[move.who]?.refuse(move.refusals);
      return;
    case 'lose the machine':
      return scene.loseMachine(move.machine);
    case 'create anew':
    case 'reboot': {
      const machine = scene.machine(move.machine);
      for (const one of scene.places) if (one?.machine === machine) await one.die();
      if (move.do === 'reboot') machine.reboot();
      else machine.recreate();
      return;
    }
    case 'pass':
      return scene.realm.pass(move.ms);
    case 'step the clock':
      if (move.machine === 'store') scene.clocks.storeStepMs += move.ms;
      else scene.machine(move.machine).clocks.wallStepMs += move.ms;
      return;
    case 'suspend':
      scene.machine(move.machine).clocks.sleptMs += move.ms;
      return scene.realm.pass(move.ms);
    case 'photograph':
      return scene.photograph();
    case 'restore':
      return scene.restore(move.to, move.sameServer);
    case 'put back':
      return scene.putBack(move);
    case 'swap the folder':
      return scene.swapFolder(move.machine);
    case 'damage a journal':
      return scene.damage(move.machine, move.nth);
    case 'restart the store':
      return scene.store.restart();
    case 'recover': {
      const machine = scene.machine(move.machine);
      if (machine.lost) return;
      await scene.operator.recover(machine, null);
      return scene.heard(machine);
    }
    case 'accept missing':
      return scene.accept(move.machine, move.nth);
    case 'retire folders':
      return scene.retireFolders(move.machine);
    case 'accept removed': {
      const machine = scene.machine(move.machine);
      return machine.lost ? undefined : scene.operator.recover(machine, REMOVED);
    }
    case 'export doubts':
      return scene.byOperator(() => exportDoubts(scene));
    case 'decide as exported':
      return scene.byOperator(() => decideAsExported(scene));
    case 'resolve doubts':
      return scene.byOperator(() => resolveDoubts(scene));
    case 'retry':
      return scene.byOperator(() => retry(scene, move));
    case 'run failed.csv':
      return scene.byOperator(() => runFailed(scene, move));
    case 'undo':
      return scene.byOperator(() => undo(scene, move));
    case 'repeat':
      return scene.byOperator(() => repeat(scene, move));
    case 'run a rule':
      return scene.byOperator(() => runRule(scene, move));
    case 'the schedule runs':
      return scene.byOperator(() => runSchedule(scene, move));
    case 'pay by table':
      return scene.byOperator(() => payByTable(scene, move));
    case 'start':
      return scene.byOperator(() => start(scene));
    case 'import again':
      return scene.byOperator(() => importMissing(scene));
    case 'steer':
      return scene.byOperator(async () => {
        await scene.operator.release();
        const file = scene.file(move.file);
        const batch = await scene.operator.look(file);
        if (batch !== undefined) await scene.operator.steer(move.verb, file, batch.no);
      });
    case 'approve':
      return scene.byOperator(() => approve(scene, scene.file(move.file), move.by));
    case 'set a time':
      scene.nextStartMs = move.ms;
      return;
    case 'quiet hours':
      scene.quietUntilMs = scene.clocks.storeMs + move.ms;
      return;
    case 'change the currency':
      return scene.changeCurrency(move.currency);
    case 'meddle':
      return scene.realm.meddle(memberId(String(1 + (move.member % scene.plan.members))));
    case 'blind':
      scene.realm.blind = move.reads;
      return;
  }
}

/** The faults end. First the program works by itself, then people do what it asks for. */
async function end(scene: Scene): Promise<Judgement> {
  scene.realm.blind = 0;
  scene.quietUntilMs = 0;
  for (let i = 0; i < scene.places.length; i++) {
    scene.places[i]?.loseReplies(0);
    scene.places[i]?.refuse([]);
    await scene.wake(scene.places[i]);
    await scene.places[i]?.goOn();
    await scene.places[i]?.answerAll();
    await scene.present(i);
  }
  await scene.byOperator(() => importMissing(scene));
  await scene.everybodyLooks();
  // A process that found itself given up has ended by now; its supervisor restarts it.
  for (let i = 0; i < scene.places.length; i++) await scene.present(i);
  await scene.byOperator(() => importMissing(scene));
  const left = await workOff(scene);
  const still = left > 0 ? await unnamed(scene.files, scene.operator) : [];
  still.push(...(await lazyDoubts(scene)));
  if (left > 0) await help(scene);
  // Requests that are still under way arrive too.
  scene.realm.pass(SETTLE_MS);
  if (scene.beyondPromise) return { orders: 0, doubts: 0, faults: [] };
  return judge(scene, still);
}

async function help(scene: Scene): Promise<void> {
  const asked = scene.machines.find(({ lost }) => !lost);
  if (asked === undefined) return;
  const living = new Set(scene.acting().map(({ id }) => id));
  for (const session of await scene.operator.sessions())
    if (!living.has(session)) await scene.operator.recover(asked, session);
  if (!(await scene.operator.armed())) await scene.operator.recover(asked, REMOVED);
  if (!(await scene.operator.armed())) await scene.operator.retireFolders(asked);
  await scene.everybodyLooks();
  // An unknown order may become a doubt, and orders that waited for the doubt's members continue after it.
  for (let round = 0; round < 3; round++) {
    await resumeAll(scene);
    if ((await workOff(scene)) === 0) return;
    scene.realm.pass(SETTLE_MS);
    await scene.byOperator(() => resolveDoubts(scene));
    await scene.byOperator(() => importMissing(scene));
  }
}

/**
 * One worker delivers the open orders until nothing moves any more, through all waiting times. Returns the number of
 * orders that are left to people.
 */
async function workOff(scene: Scene): Promise<number> {
  let [before, unmoved] = ['', 0];
  for (let round = 0; ; round++) {
    const worker = scene.acting()[0];
    if (worker === undefined) return 0;
    await worker.recover();
    if (round > 0) await worker.probe();
    await worker.feed();
    const states: string[] = [];
    let [open, doubts] = [0, 0];
    for (const file of scene.files) {
      const batch = await scene.operator.look(file);
      if (batch === undefined) continue;
      const left = batch.records.flatMap(({ code }, i) => (MOVING.includes(code) ? [i + 1] : []));
      states.push(batch.state, ...batch.records.map(({ code, attempts }) => `${code}${attempts}`));
      open += batch.state === 'cancelled' ? left.filter((index) => isSent(batch, index)).length : left.length;
      doubts += batch.records.filter(({ code }) => code === 'D').length;
      if (batch.state !== 'running' && batch.state !== 'cancelled') continue;
      await worker.deliver(
        file.id,
        left.map((index) => ({ no: batch.no, index })),
        ['paid'],
        'answered',
        SMOOTHLY,
      );
      await worker.answerAll();
    }
    const now = states.join(' ');
    unmoved = now === before ? unmoved + 1 : 0;
    before = now;
    if (open === 0 || unmoved === WAITS.length || round > ROUNDS_MAX) return open + doubts;
    scene.realm.pass(WAITS[unmoved % WAITS.length] ?? 0);
  }
}

/** Planned, waiting, unknown and sending; another process must settle an order that it is sending. */
const MOVING = ['p', 'w', 'u', 's'];

/** Returns false for orders that were cancelled before they were sent. */
function isSent({ records }: BatchSight, index: number): boolean {
  return ['s', 'u'].includes(records[index - 1]?.code ?? '');
}

const WAITS = [1_000, 2_000, SETTLE_MS, 1_000, SETTLE_MS, 1_000, SETTLE_MS, 1_000, SETTLE_MS, 1_000];
const ROUNDS_MAX = 60;
