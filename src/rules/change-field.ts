import type { RealmLedger } from '../ledger/index.js';

/** Asked again after a lost answer, it finds what it has written. */
const REPLACE = `
local known = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if known == ARGV[3] then return 1 end
if known ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 1`;

/**
 * Changes one field of a hash beside others who may do so at the same moment. `change` sees what stands there and says
 * what shall (null: nothing); it is asked again where somebody was quicker, so that nobody's change undoes another's.
 */
export async function changeField(
  { scripts }: RealmLedger,
  key: string,
  field: string,
  change: (known: string | null) => string | null,
): Promise<void> {
  for (;;) {
    const known = await scripts.retryWhileAway('read field', () => scripts.redis.hget(key, field));
    const wanted = change(known);
    if (wanted === known) return;
    const done = await scripts.retryWhileAway('change field', () =>
      scripts.redis.eval(REPLACE, 1, key, field, known ?? '', wanted ?? ''),
    );
    if (done === 1) return;
  }
}
