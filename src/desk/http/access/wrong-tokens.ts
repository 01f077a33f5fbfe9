import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';

/**
 * Counts unknown tokens per address, in this process. Only senders of unknown tokens have to wait: a valid token is
 * recognised first, so that strangers at a shared address cannot lock people out.
 *
 * Tokens are too long to guess; the wait keeps attempts cheap for the desk, and the audit entry makes them visible.
 * Entries are summed up and rare, so that a sender of wrong tokens cannot fill the disk or push people's actions out
 * of the bounded audit.
 */
const PER_ADDRESS = 10;
const WINDOW_MS = 60_000;
const ADDRESSES_MAX = 10_000;
const TELL_EVERY_MS = 5 * 60_000;
const NAMED_MAX = 5;

type Window = { readonly startedAt: number; readonly wrong: number };

export type WrongTokensOptions = {
  readonly now: () => number;
  readonly tell: (what: string) => Promise<void>;
  readonly tellEveryMs?: number | undefined;
};

/** Counts unknown tokens and reports them to the audit in summed-up entries. */
export class WrongTokens {
  private readonly windows = new LRUCache<string, Window>({ max: ADDRESSES_MAX });
  private readonly unreported = new Map<string, number>();
  private unreportedElsewhere = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: WrongTokensOptions) {}

  /** Counts a try and returns the seconds that the address has to wait; 0 while it has tries left. */
  async note(from: string): Promise<number> {
    const address = networkOf(from);
    const now = this.options.now();
    const last = this.windows.get(address);
    const same = last !== undefined && now - last.startedAt < WINDOW_MS;
    const { startedAt, wrong } = same ? { ...last, wrong: last.wrong + 1 } : { startedAt: now, wrong: 1 };
    this.windows.set(address, { startedAt, wrong });
    if (this.unreported.has(address) || this.unreported.size < NAMED_MAX)
      this.unreported.set(address, (this.unreported.get(address) ?? 0) + 1);
    else this.unreportedElsewhere += 1;
    if (this.timer === null) await this.reportNow();
    return wrong <= PER_ADDRESS ? 0 : Math.ceil((startedAt + WINDOW_MS - now) / 1000);
  }

  /** Writes the tries counted so far. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.unreported.size > 0) void this.options.tell(this.words());
  }

  private async reportNow(): Promise<void> {
    const again = () => {
      this.timer = null;
      if (this.unreported.size > 0) void this.reportNow();
    };
    this.timer = setTimeout(again, this.options.tellEveryMs ?? TELL_EVERY_MS).unref();
    await this.options.tell(this.words());
  }

  private words(): string {
    const named = [...this.unreported].map(([address, count]) => `${count} from ${address}`);
    if (this.unreportedElsewhere > 0) named.push(`${this.unreportedElsewhere} from elsewhere`);
    this.unreported.clear();
    this.unreportedElsewhere = 0;
    return `wrong desk tokens: ${named.join(', ')}`;
  }
}

/**
 * The network that an address counts for. The owner of an IPv6 address controls a /64 of 2^64 addresses, and an IPv4
 * address may be written in IPv6 form.
 */
function networkOf(address: string): string {
  const plain = address.toLowerCase().replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  // URL normalises the address: no leading zeros and no dots.
  const spelt = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [left = [], right = []] = spelt.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...left, ...new Array(8 - left.length - right.length).fill('0'), ...right];
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return `${groups.slice(0, 4).join(':')}::/64`;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
