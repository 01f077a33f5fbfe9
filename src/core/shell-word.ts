/** Quotes a word for a shell, if it holds a blank, a quote or another character that the shell interprets. */
export function shellWord(word: string): string {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
