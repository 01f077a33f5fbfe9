import type { Certainty } from '../../src/core/profile.js';
import type { Fate } from '../support/machines/played-realm.js';
import { type How, SMOOTHLY, type Until } from './process.js';
import type { Refusal } from './store.js';
import type { ThemeName } from './themes.js';

/**
 * What may happen. A move says all there is to chance in it and means something wherever it stands, so that any of them can
 * be left out of a history. `who` is the place of a process, `machine` of a machine.
 */
export type Move =
  /** Orders of a file are delivered to a process. Unless they are `held` open, their answers come at once. */
  | {
      readonly do: 'send';
      readonly who: number;
      readonly file: number;
      readonly first: number;
      readonly count: number;
      readonly fates: readonly Fate[];
      readonly until: Until;
      readonly how: How;
    }
  | { readonly do: 'answer'; readonly who: number; readonly count: number; readonly how: How }
  | { readonly do: 'go on'; readonly who: number; readonly how: How }
  | { readonly do: 'feed'; readonly who: number }
  | { readonly do: 'look'; readonly who: number; readonly how: How }
  | { readonly do: 'everybody looks' }
  | { readonly do: 'sleep'; readonly who: number }
  | { readonly do: 'wake'; readonly who: number }
  | { readonly do: 'kill'; readonly who: number }
  | { readonly do: 'leave'; readonly who: number }
  | { readonly do: 'lose replies'; readonly who: number; readonly replies: number }
  /** The store, or the way to it, fails so many calls of a process. */
  | { readonly do: 'refuse'; readonly who: number; readonly refusals: readonly Refusal[] }
  | { readonly do: 'lose the machine'; readonly machine: number }
  | { readonly do: 'create anew'; readonly machine: number }
  | { readonly do: 'reboot'; readonly machine: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'step the clock'; readonly machine: number | 'store'; readonly ms: number }
  | { readonly do: 'suspend'; readonly machine: number; readonly ms: number }
  | { readonly do: 'photograph' }
  | { readonly do: 'restore'; readonly to: number; readonly sameServer?: boolean }
  | { readonly do: 'restart the store' }
  /**
   * A data folder gets the contents back that it had then; `store`: and so does the store that lies in it. `inPlace`: the
   * folder keeps its identity.
   */
  | {
      readonly do: 'put back';
      readonly machine: number;
      readonly to: number;
      readonly store: boolean;
      readonly inPlace: boolean;
    }
  /** Another data folder is mounted in its place; the next time the first one again. */
  | { readonly do: 'swap the folder'; readonly machine: number }
  /** A line of a journal of which the writer is dead cannot be read any more. */
  | { readonly do: 'damage a journal'; readonly machine: number; readonly nth: number }
  | { readonly do: 'recover'; readonly machine: number }
  | { readonly do: 'accept missing'; readonly machine: number; readonly nth: number }
  /** Data folders that nobody has looked at are not waited for any more. */
  | { readonly do: 'retire folders'; readonly machine: number }
  | { readonly do: 'resolve doubts' }
  /** Somebody writes down what became of each doubt, and decides by that list later. */
  | { readonly do: 'export doubts' }
  | { readonly do: 'decide as exported' }
  /** What the journals that are here do not know is given up. */
  | { readonly do: 'accept removed'; readonly machine: number }
  | { readonly do: 'retry'; readonly file: number; readonly first: number; readonly count: number }
  /** `held`: the file is shown, and started later or never. `twice`: with each row twice. */
  | {
      readonly do: 'run failed.csv';
      readonly file: number;
      readonly count: number;
      readonly twice: boolean;
      readonly held: boolean;
    }
  | {
      readonly do: 'undo';
      readonly file: number;
      readonly first: number;
      readonly count: number;
      readonly held: boolean;
    }
  | {
      readonly do: 'repeat';
      readonly file: number;
      readonly first: number;
      readonly count: number;
      readonly fresh: number;
      readonly held: boolean;
    }
  | { readonly do: 'run a rule'; readonly first: number; readonly count: number; readonly held: boolean }
  /** The time of the rule has come. */
  | { readonly do: 'the schedule runs'; readonly first: number; readonly count: number }
  /** A file of handles; `corrected`: with a table that gives some of them to other members. */
  | {
      readonly do: 'pay by table';
      readonly first: number;
      readonly count: number;
      readonly corrected: boolean;
      readonly held: boolean;
    }
  | { readonly do: 'start' }
  | { readonly do: 'import again' }
  | { readonly do: 'steer'; readonly file: number; readonly verb: 'pause' | 'resume' | 'cancel' }
  /** Of two people one prepares everything; the other may say go for it, and so may the first, in vain. */
  | { readonly do: 'approve'; readonly file: number; readonly by: 'ada' | 'ben' }
  /** The file that is started next begins so much later. */
  | { readonly do: 'set a time'; readonly ms: number }
  /** Nothing is sent for the first time until then. */
  | { readonly do: 'quiet hours'; readonly ms: number }
  | { readonly do: 'meddle'; readonly member: number }
  /** Of the profile. */
  | { readonly do: 'change the currency'; readonly currency: string }
  | { readonly do: 'blind'; readonly reads: number };

export type Plan = {
  readonly seed: number;
  readonly certainty: Certainty;
  readonly theme: ThemeName;
  readonly machines: number;
  readonly processes: number;
  /** Processes that are there at the beginning; the others start when something is asked of them. */
  readonly early: number;
  readonly files: number;
  /** Orders in each of the first files. */
  readonly orders: number;
  /** Few enough that orders meet on a member. */
  readonly members: number;
  /** Journals are so small that they are followed by new ones all the time. */
  readonly rotates: boolean;
  /** Restores may also forget that the files were ever imported. */
  readonly forgetsFiles: boolean;
  /** No two rows of the first files are equal: what is paid twice is seen without references, too. */
  readonly distinct: boolean;
  /** The realm requires a second person for everything. */
  readonly guarded: boolean;
  /** The store says nothing of which server it is. */
  readonly deniesInfo: boolean;
  /** The store lies in the data folder of the only machine. */
  readonly embedded: boolean;
  /** Photographs show the data folders as well. */
  readonly copiesFolders: boolean;
  readonly moves: readonly Move[];
};

/** What nobody wishes for: counted, to say how hard the world was. */
export function faultsIn(moves: readonly Move[]): number {
  return moves.filter(isFault).length;
}

function isFault(move: Move): boolean {
  switch (move.do) {
    case 'send':
      return move.how !== SMOOTHLY || move.fates.some((fate) => fate !== 'paid');
    case 'answer':
    case 'go on':
    case 'look':
      return move.how !== SMOOTHLY;
    case 'sleep':
    case 'kill':
    case 'lose replies':
    case 'refuse':
    case 'put back':
    case 'swap the folder':
    case 'damage a journal':
    case 'lose the machine':
    case 'create anew':
    case 'reboot':
    case 'step the clock':
    case 'suspend':
    case 'restore':
    case 'restart the store':
    case 'change the currency':
    case 'meddle':
    case 'blind':
      return true;
    default:
      return false;
  }
}
