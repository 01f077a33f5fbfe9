import { FAIL_POINTS } from '../../src/core/fail-point.js';
import type { Certainty } from '../../src/core/profile.js';
import type { Fate } from '../support/machines/played-realm.js';
import { Dice } from './dice.js';
import type { JournalTail } from './journal-tail.js';
import type { Move, Plan } from './moves.js';
import { type How, SMOOTHLY, type Until } from './process.js';
import { REFUSAL_NAMES, type Refusal } from './store.js';
import {
  HOUR_MS,
  type Kind,
  SOON,
  THEME_NAMES,
  THEMES,
  type Theme,
  type ThemeName,
  type Weights,
} from './themes.js';

/** The themes that histories with this certainty may have. */
export function themesOf(certainty: Certainty): ThemeName[] {
  return THEME_NAMES.filter((name) => {
    const theme: Theme = THEMES[name];
    return theme.only === undefined || theme.only === certainty;
  });
}

/** Generates the whole history of a seed. */
export function planOf(seed: number, certainty: Certainty, wanted?: ThemeName): Plan {
  const dice = new Dice(seed);
  const fitting = themesOf(certainty);
  const name = wanted ?? fitting[dice.below(fitting.length)] ?? 'everything';
  const theme: Theme = THEMES[name];
  const several = 2 + dice.below(2);
  const machines = theme.embedded === true ? 1 : several;
  const some = machines + dice.below(3);
  const processes = theme.processes ?? some;
  const shape = {
    machines,
    processes,
    early: 1 + dice.below(processes),
    files: 1 + dice.below(3),
    orders: theme.orders ?? 85 + dice.below(42),
    rotates: theme.rotates ?? dice.chance(0.05),
    forgetsFiles: theme.forgetsFiles ?? false,
    distinct: theme.distinct ?? false,
    guarded: theme.guarded ?? false,
    deniesInfo: theme.deniesInfo ?? false,
    embedded: theme.embedded ?? false,
    copiesFolders: theme.copiesFolders ?? false,
  };
  const weights = new Map<Kind, number>();
  for (const some of theme.weights)
    for (const [kind, weight] of kindsOf(some)) weights.set(kind, (weights.get(kind) ?? 0) + weight);
  const writer = new Writer(dice, theme, shape);
  const moves = Array.from({ length: 25 + dice.below(50) }, () => writer.move(pick(dice, weights)));
  return {
    seed,
    certainty,
    theme: name,
    ...shape,
    members: theme.members ?? 3 + dice.below(shape.orders),
    moves,
  };
}

function kindsOf(weights: Weights): (readonly [Kind, number])[] {
  return KINDS.flatMap((kind) => {
    const weight = weights[kind];
    return weight === undefined ? [] : [[kind, weight] as const];
  });
}

function pick(dice: Dice, weights: ReadonlyMap<Kind, number>): Kind {
  let left = dice.next() * [...weights.values()].reduce((sum, one) => sum + one, 0);
  for (const [kind, weight] of weights) {
    left -= weight;
    if (left < 0) return kind;
  }
  return 'send';
}

/** The most files a history can have, in themes where people make many. */
const FILES_MADE = 12;

type Shape = Pick<Plan, 'machines' | 'processes' | 'orders' | 'files'>;

class Writer {
  constructor(
    private readonly dice: Dice,
    private readonly theme: Theme,
    private readonly shape: Shape,
  ) {}

  move(kind: Kind): Move {
    const { dice, shape } = this;
    const who = dice.below(shape.processes);
    const machine = dice.below(shape.machines);
    // Files that are made during the history come last.
    const file = dice.below(this.theme.orders === undefined ? shape.files + 1 : FILES_MADE);
    switch (kind) {
      case 'send':
        return {
          do: kind,
          who,
          file,
          first: 1 + dice.below(shape.orders),
          count: dice.one([1, 1, 2, 4, 8, 16]),
          fates: Array.from({ length: 1 + dice.below(3) }, () => this.fate()),
          until: dice.one(this.theme.untils ?? UNTILS),
          how: this.how(this.theme.trouble ?? 0.12),
        };
      case 'answer':
        return { do: kind, who, count: 1 + dice.below(4), how: this.how(0.15) };
      case 'go on':
      case 'look':
        return { do: kind, who, how: this.how(0.1) };
      case 'lose replies':
        return { do: kind, who, replies: 1 + dice.below(3) };
      case 'pass':
        return { do: kind, ms: dice.one(this.theme.passes ?? SOON) };
      case 'step the clock':
        return {
          do: kind,
          machine: dice.chance(0.5) ? 'store' : machine,
          // No promise about keys holds if the store goes back by hours while processes restart.
          ms: dice.one(
            this.theme.passes === undefined ? [-HOUR_MS, HOUR_MS, -90_000, 90_000] : [90_000, HOUR_MS],
          ),
        };
      case 'suspend':
        return { do: kind, machine, ms: dice.one([60_000, HOUR_MS]) };
      case 'restore':
        return { do: kind, to: dice.below(8), sameServer: this.theme.sameServer ?? false };
      case 'refuse':
        return { do: kind, who, refusals: Array.from({ length: 1 + dice.below(12) }, () => this.refusal()) };
      case 'put back':
        return {
          do: kind,
          machine,
          to: dice.below(8),
          store: this.theme.embedded ?? false,
          inPlace: dice.chance(0.5),
        };
      case 'damage a journal':
        return { do: kind, machine, nth: dice.below(8) };
      case 'accept missing':
        return { do: kind, machine, nth: dice.below(4) };
      case 'retry':
        return { do: kind, file, first: 1 + dice.below(shape.orders), count: 1 + dice.below(6) };
      case 'run failed.csv':
        return { do: kind, file, count: 1 + dice.below(6), twice: dice.chance(0.1), held: this.held() };
      case 'undo':
        return {
          do: kind,
          file,
          first: dice.below(shape.orders),
          count: 1 + dice.below(6),
          held: this.held(),
        };
      case 'repeat':
        return {
          do: kind,
          file,
          first: dice.one([0, dice.below(shape.orders)]),
          count: dice.one([1, 4, 30, shape.orders]),
          fresh: dice.below(4),
          held: this.held(),
        };
      case 'run a rule':
        return { do: kind, first: dice.below(9), count: dice.one([2, 10, 200]), held: this.held() };
      case 'the schedule runs':
        return { do: kind, first: dice.below(9), count: dice.one([2, 10, 200]) };
      case 'pay by table':
        return {
          do: kind,
          first: dice.below(12),
          count: dice.one([1, 4, 12]),
          corrected: dice.chance(0.5),
          held: this.held(),
        };
      case 'quiet hours':
        return { do: kind, ms: dice.one([60_000, HOUR_MS]) };
      case 'steer':
        return { do: kind, file, verb: dice.one(['pause', 'resume', 'resume', 'resume', 'cancel']) };
      case 'approve':
        return { do: kind, file, by: dice.one(['ada', 'ben', 'ben', 'ben']) };
      case 'set a time':
        return { do: kind, ms: dice.one([60_000, HOUR_MS, 3 * HOUR_MS]) };
      case 'change the currency':
        return { do: kind, currency: 'gems' };
      case 'meddle':
        return { do: kind, member: dice.below(3) };
      case 'blind':
        return { do: kind, reads: 1 + dice.below(4) };
      case 'feed':
      case 'sleep':
      case 'wake':
      case 'kill':
      case 'leave':
        return { do: kind, who };
      case 'lose the machine':
      case 'create anew':
      case 'reboot':
      case 'recover':
      case 'accept removed':
      case 'retire folders':
      case 'swap the folder':
        return { do: kind, machine };
      case 'everybody looks':
      case 'photograph':
      case 'restart the store':
      case 'resolve doubts':
      case 'export doubts':
      case 'decide as exported':
      case 'start':
      case 'import again':
        return { do: kind };
    }
  }

  private held(): boolean {
    return this.dice.chance(0.3);
  }

  private refusal(): Refusal {
    return this.dice.one(REFUSAL_NAMES);
  }

  private fate(): Fate {
    const { dice, theme } = this;
    if (dice.chance(1 - (theme.faulty ?? 0.4))) return 'paid';
    return dice.one(
      theme.fates ?? ['lost-after', 'lost-before', 'lost-late', 'refused', 'not-sent', 'slow-down'],
    );
  }

  private how(trouble: number): How {
    const { dice } = this;
    if (!dice.chance(trouble)) return SMOOTHLY;
    if (dice.chance(0.3)) return { ...SMOOTHLY, freezeAfter: dice.below(this.theme.freezes ?? 3) };
    const tail: JournalTail = dice.one(['written', 'lost', 'torn']);
    return { crashAt: dice.one(FAIL_POINTS), after: dice.below(3), tail, freezeAfter: null };
  }
}

const UNTILS: readonly [Until, ...Until[]] = ['answered', 'answered', 'answered', 'sent', 'sent', 'claimed'];

const KINDS: readonly Kind[] = [
  'send',
  'answer',
  'go on',
  'feed',
  'look',
  'everybody looks',
  'sleep',
  'wake',
  'kill',
  'leave',
  'lose replies',
  'lose the machine',
  'create anew',
  'reboot',
  'pass',
  'step the clock',
  'suspend',
  'photograph',
  'restore',
  'restart the store',
  'recover',
  'accept missing',
  'resolve doubts',
  'retry',
  'run failed.csv',
  'undo',
  'repeat',
  'run a rule',
  'the schedule runs',
  'pay by table',
  'start',
  'import again',
  'steer',
  'approve',
  'set a time',
  'quiet hours',
  'meddle',
  'blind',
  'refuse',
  'put back',
  'swap the folder',
  'damage a journal',
  'export doubts',
  'decide as exported',
  'accept removed',
  'retire folders',
];
