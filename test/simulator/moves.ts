import type { Certainty } from '../../src/core/profile.js';
import type { Fate } from '../support/machines/played-realm.js';
import { type How, SMOOTHLY, type Until } from './process.js';
import type { Refusal } from './store.js';
import type { ThemeName } from './themes.js';

/**
 * The moves of a history. A move holds all its random choices and is valid at any position, so that any move can be
 * left out. `who` is the number of a process, `machine` of a machine.
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
  /** The store, or the connection to it, fails that many calls of a process. */
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
   * A data folder is restored from a copy; `store`: so is the store that lies in it. `inPlace`: the folder keeps its
   * identity.
   */
  | {
      readonly do: 'put back';
      readonly machine: number;
      readonly to: number;
      readonly store: boolean;
      readonly inPlace: boolean;
    }
  /** Another data folder is mounted in its place; the next time the first one returns. */
  | { readonly do: 'swap the folder'; readonly machine: number }
  /** A line in the journal of a dead session becomes unreadable. */
  | { readonly do: 'damage a journal'; readonly machine: number; readonly nth: number }
  | { readonly do: 'recover'; readonly machine: number }
  | { readonly do: 'accept missing'; readonly machine: number; readonly nth: number }
  /** The operator retires data folders that no process has read, so the program stops waiting for them. */
  | { readonly do: 'retire folders'; readonly machine: number }
  | { readonly do: 'resolve doubts' }
  /** A person exports the doubts with their outcomes, and decides by that list later. */
  | { readonly do: 'export doubts' }
  | { readonly do: 'decide as exported' }
  /** The operator accepts as lost what the present journals do not hold. */
  | { readonly do: 'accept removed'; readonly machine: number }
  | { readonly do: 'retry'; readonly file: number; readonly first: number; readonly count: number }
  /** `held`: the file is previewed, and started later or never. `twice`: each row appears twice. */
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
  /** The rule's scheduled time has come. */
  | { readonly do: 'the schedule runs'; readonly first: number; readonly count: number }
  /** A file of handles; `corrected`: with a table that assigns some of them to other members. */
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
  /** One of two people prepares everything. The other may approve it; the first may try, in vain. */
  | { readonly do: 'approve'; readonly file: number; readonly by: 'ada' | 'ben' }
  /** The next file to start begins that much later. */
  | { readonly do: 'set a time'; readonly ms: number }
  /** No order is sent for the first time until then. */
  | { readonly do: 'quiet hours'; readonly ms: number }
  | { readonly do: 'meddle'; readonly member: number }
  /** The profile's currency changes. */
  | { readonly do: 'change the currency'; readonly currency: string }
  | { readonly do: 'blind'; readonly reads: number };

export type Plan = {
  readonly seed: number;
  readonly certainty: Certainty;
  readonly theme: ThemeName;
  readonly machines: number;
  readonly processes: number;
  /** Processes that run from the beginning; the others start when a move needs them. */
  readonly early: number;
  readonly files: number;
  /** Orders in each of the first files. */
  readonly orders: number;
  /** Few enough that orders share members. */
  readonly members: number;
  /** Journal files are so small that they rotate all the time. */
  readonly rotates: boolean;
  /** A rollback may also forget that the files were ever imported. */
  readonly forgetsFiles: boolean;
  /** No two rows of the first files are equal, so that a double payment shows without references, too. */
  readonly distinct: boolean;
  /** The realm requires a second person for everything. */
  readonly guarded: boolean;
  /** The store does not reveal which server it is. */
  readonly deniesInfo: boolean;
  /** The store lies in the data folder of the only machine. */
  readonly embedded: boolean;
  /** Copies of the store include the data folders. */
  readonly copiesFolders: boolean;
  readonly moves: readonly Move[];
};

/** Counts the faults among the moves, to show how hard the history was. */
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
