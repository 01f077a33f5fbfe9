import type { Sent } from './requests.js';

/**
 * What a restored store has forgotten and the journals of a machine still know. A session that the store
 * knows is waited for, and so is a data folder. One that it has forgotten as well nobody can wait for: a careful operator starts its
 * machine before others go on (docs/explanation/reliability.md), so nobody else sends such an order before. And where
 * the store has forgotten and the disk is lost too, nobody knows: one of them at a time is what is promised.
 */
export class Unmerged {
  constructor(private entries: readonly (Sent & { readonly waitedFor: boolean })[] = []) {}

  copy(): Unmerged {
    return new Unmerged(this.entries);
  }

  /** After a restore to when these sessions and data folders were known and these requests had not left. */
  without(known: ReadonlySet<string>, since: readonly Sent[]): Unmerged {
    return new Unmerged(
      [...this.entries, ...since].map((sent) => ({
        ...sent,
        waitedFor: known.has(sent.session) || known.has(sent.folder),
      })),
    );
  }

  /** The machine has looked: what it knows is in the store again. */
  heard(machine: number): void {
    if (this.entries.length > 0) this.entries = this.entries.filter((sent) => sent.machine !== machine);
  }

  onlyKnownElsewhere(intention: string, machine: number): boolean {
    return this.entries.some(
      (sent) => sent.intention === intention && sent.machine !== machine && !sent.waitedFor,
    );
  }

  /** Whether this machine knows what nobody else does; `unawaited`: and nobody waits for it. */
  knows(machine: number, unawaited: boolean): boolean {
    return this.entries.some((sent) => sent.machine === machine && !(unawaited && sent.waitedFor));
  }

  get isSafe(): boolean {
    return this.entries.every(({ waitedFor }) => waitedFor);
  }
}
