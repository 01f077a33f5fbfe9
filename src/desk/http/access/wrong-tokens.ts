import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';

/**
 * Wrong tokens, counted per address in this process. Only these are counted and only these are made to wait:
 * a right token is recognised before anybody looks here, so strangers at a shared address, or many of them,
 * keep nobody out. Tokens cannot be guessed; slowing the tries makes them cheap, and telling of them seen.
 * They are told together and seldom: whoever sends them must not fill the disk, nor push out of the audit,
 * which is bounded, what people did.
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

export class WrongTokens {
  private readonly windows = new LRUCache<string, Window>({ max: ADDRESSES_MAX });
  private readonly untold = new Map<string, number>();
  private untoldElsewhere = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: WrongTokensOptions) {}

  /** Seconds that the address is to wait before its next try; 0 while it has tries left. */
  async note(from: string): Promise<number> {
    const address = networkOf(from);
    const now = this.options.now();
    const last = this.windows.get(address);
    const same = last !== undefined && now - last.startedAt < WINDOW_MS;
    const { startedAt, wrong } = same ? { ...last, wrong: last.wrong + 1 } : { startedAt: now, wrong: 1 };
    this.windows.set(address, { startedAt, wrong });
    if (this.untold.has(address) || this.untold.size < NAMED_MAX)
      this.untold.set(address, (this.untold.get(address) ?? 0) + 1);
    else this.untoldElsewhere += 1;
    if (this.timer === null) await this.tellNow();
    return wrong <= PER_ADDRESS ? 0 : Math.ceil((startedAt + WINDOW_MS - now) / 1000);
  }

  /** What was gathered is still told. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.untold.size > 0) void this.options.tell(this.words());
  }

  private async tellNow(): Promise<void> {
    const again = () => {
      this.timer = null;
      if (this.untold.size > 0) void this.tellNow();
    };
    this.timer = setTimeout(again, this.options.tellEveryMs ?? TELL_EVERY_MS).unref();
    await this.options.tell(this.words());
  }

  private words(): string {
    const named = [...this.untold].map(([address, count]) => `${count} from ${address}`);
    if (this.untoldElsewhere > 0) named.push(`${this.untoldElsewhere} from elsewhere`);
    this.untold.clear();
    this.untoldElsewhere = 0;
    return `wrong desk tokens: ${named.join(', ')}`;
  }
}

/** Whoever has one IPv6 address has the 2^64 beside it; an IPv4 one may be written as the other kind. */
function networkOf(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  if (!isIPv6(plain)) return plain;
  const [head = ''] = plain.split('::');
  return `${head.split(':').slice(0, 4).join(':')}::/64`;
}
