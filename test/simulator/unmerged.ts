import type { Sent } from './requests.js';

/**
 * Requests that a rolled-back store has forgotten and that only one machine's journals hold. The program waits for
 * sessions and data folders that the store still knows. It cannot wait for one that the store has forgotten too: a
 * careful operator starts that machine before the others continue (docs/explanation/reliability.md), so no other
 * process sends such an order earlier. If the store has forgotten it and the disk is lost as well, no process can know.
 * The promise covers one of these losses at a time.
 */
export class Unmerged {
  constructor(private entries: readonly (Sent & { readonly waitedFor: boolean })[] = []) {}

  copy(): Unmerged {
    return new Unmerged(this.entries);
  }

  /** The state after a rollback to a moment when the store knew `known` and the requests `since` had not left. */
  without(known: ReadonlySet<string>, since: readonly Sent[]): Unmerged {
    return new Unmerged(
      [...this.entries, ...since].map((sent) => ({
        ...sent,
        waitedFor: known.has(sent.session) || known.has(sent.folder),
      })),
    );
  }

  /** The machine has merged its journals: the store holds their requests again. */
  heard(machine: number): void {
    if (this.entries.length > 0) this.entries = this.entries.filter((sent) => sent.machine !== machine);
  }

  onlyKnownElsewhere(intention: string, machine: number): boolean {
    return this.entries.some(
      (sent) => sent.intention === intention && sent.machine !== machine && !sent.waitedFor,
    );
  }

  /** Whether only this machine holds a request; `unawaited`: and the program does not wait for it. */
  knows(machine: number, unawaited: boolean): boolean {
    return this.entries.some((sent) => sent.machine === machine && !(unawaited && sent.waitedFor));
  }

  get isSafe(): boolean {
    return this.entries.every(({ waitedFor }) => waitedFor);
  }
}
