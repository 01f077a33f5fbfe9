import { type MemberId, memberId } from '../core/ids.js';
import type { AudienceRow } from './audience-row.js';
import type { AudienceInput } from './schema.js';
import type { Place } from './yaml-source.js';

/** Members written into the rule itself; the columns are all names that any of them has. */
export function inlineRows(
  members: NonNullable<AudienceInput['members']>,
  placeOf: (index: number) => Place,
): { readonly columns: readonly string[]; readonly rows: readonly AudienceRow[] } {
  const columns = new Set(['member']);
  for (const entry of members)
    if (typeof entry === 'object') for (const name of Object.keys(entry)) columns.add(name);
  const rows = members.map((entry, index): AudienceRow => {
    const { line } = placeOf(index);
    if (typeof entry !== 'object')
      return { member: idOf(entry), line, cells: [String(entry), ...blanks(columns.size - 1)] };
    const cells = [...columns].map((name) => {
      const value = Object.hasOwn(entry, name) ? entry[name] : null;
      return value === null || value === undefined ? '' : String(value);
    });
    return { member: idOf(entry.member), line, cells };
  });
  return { columns: [...columns], rows };
}

/** The schema has let through 1 to 20 digits, or a whole number. */
function idOf(written: string | number): MemberId {
  return memberId(String(written));
}

function blanks(count: number): string[] {
  return Array.from({ length: count }, () => '');
}
