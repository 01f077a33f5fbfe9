import { AlmonerError } from '../../core/errors/error.js';
import type { RowView } from '../../ledger/index.js';

/** `--only`: members, or lines of the file that was paid. A number that is both is asked about. */
export class OnlySome {
  private readonly members = new Set<string>();
  private readonly lines = new Set<string>();

  constructor(
    private readonly batch: string,
    private readonly wanted: readonly string[],
  ) {
    for (const one of wanted)
      if (!/^(?:(?:member|line):)?[0-9]+$/.test(one))
        throw this.refusal(`--only ${JSON.stringify(one)} is neither a member nor a line.`);
  }

  has({ member, recipient, line }: RowView): boolean {
    if (this.wanted.length === 0) return true;
    let isWanted = false;
    for (const one of this.wanted) {
      const [kind, value] = one.includes(':') ? one.split(':') : ['', one];
      const byMember = kind !== 'line' && (value === member || value === recipient);
      const byLine = kind !== 'member' && value === String(line);
      if (byMember) this.members.add(one);
      if (byLine) this.lines.add(one);
      isWanted ||= byMember || byLine;
    }
    return isWanted;
  }

  refuseUnmet(): void {
    for (const one of this.wanted) {
      const [isMember, isLine] = [this.members.has(one), this.lines.has(one)];
      if (isMember && isLine)
        throw this.refusal(`--only ${one} is a member and a line: say member:${one} or line:${one}.`);
      if (!isMember && !isLine) throw this.refusal(`No order has the member or the line of --only ${one}.`);
    }
  }

  private refusal(why: string): AlmonerError {
    return new AlmonerError('ALM_BATCH_CANNOT', `Batch ${this.batch}: ${why} No undo file was written.`, {
      next: `Look at results.csv of \`almoner report ${this.batch}\` for its members and lines.`,
    });
  }
}
