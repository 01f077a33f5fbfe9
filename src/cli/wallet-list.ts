import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { usage } from './frame/options.js';

const HEADER = /^(wallets?|address(es)?|wallet_?address)$/i;

/** Wallets from a file or from stdin (`-`), in their order. */
export async function readWalletList(file: string): Promise<readonly string[]> {
  const content =
    file === '-' ? await text(process.stdin) : await readFile(file, 'utf8').catch(unreadable(file));
  return walletsIn(content);
}

/**
 * One wallet a line, or a CSV with a column named wallet or address. Wallets hold no delimiters and no
 * quotes, so that a split is enough; blank lines and lines with # are skipped.
 */
export function walletsIn(content: string): readonly string[] {
  const rows = content
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'))
    .map((line) => line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1')));
  const column = rows[0]?.findIndex((cell) => HEADER.test(cell)) ?? -1;
  if (column < 0 && rows.some((cells) => cells.length > 1))
    throw usage(
      'The list of wallets has several columns and none of them is named wallet. Nothing was asked.',
    );
  const body = column < 0 ? rows : rows.slice(1);
  return body.map((cells) => cells[Math.max(column, 0)] ?? '').filter((wallet) => wallet !== '');
}

function unreadable(file: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw usage(`${file} cannot be read (${error.code ?? 'unknown reason'}). Nothing was asked.`);
  };
}
