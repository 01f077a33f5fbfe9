import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { memberId } from './realm.mjs';

/** A CSV as a community manager has it: member, tokens, reference, reason, name. */
export async function writeCsv(path, rows, { members = rows, label = 'week-46', columns = 'all' } = {}) {
  const file = createWriteStream(path);
  file.write(columns === 'all' ? 'member,tokens,reference,reason,name\n' : 'member,tokens\n');
  let text = '';
  for (let i = 0; i < rows; i++) {
    const member = memberId(i % members);
    text +=
      columns === 'all'
        ? `${member},${(i % 500) + 1},${label}/${i},Weekly activity,Person ${i}\n`
        : `${member},${(i % 500) + 1}\n`;
    if (text.length < 65_536) continue;
    if (!file.write(text)) await once(file, 'drain');
    text = '';
  }
  file.end(text);
  await once(file, 'close');
  return path;
}
