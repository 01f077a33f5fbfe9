/**
 * Finds long brackets that Lua 5.1 refuses when it is built with its default `LUA_COMPAT_LSTR` 1: an opening `[[`
 * inside a long string or long comment of level 0 ("nesting of [[...]] is deprecated"). Some Redis builds link a Lua
 * without that check, so a local server may not show the fault. Returns the line numbers.
 */
export function nestedLongBrackets(lua: string): number[] {
  const found: number[] = [];
  const lineAt = (at: number) => lua.slice(0, at).split('\n').length;
  let at = 0;
  while (at < lua.length) {
    const comment = lua.startsWith('--', at);
    const start = comment ? at + 2 : at;
    const long = /^\[(=*)\[/.exec(lua.slice(start, start + 20));
    if (long !== null) {
      const end = lua.indexOf(`]${long[1]}]`, start);
      if (end === -1) throw new SyntaxError(`line ${lineAt(at)}: a long bracket is never closed`);
      if (long[1] === '') {
        const nested = lua.slice(start + 2, end).indexOf('[[');
        if (nested !== -1) found.push(lineAt(start + 2 + nested));
      }
      at = end + 2 + (long[1] ?? '').length;
    } else if (comment) {
      const end = lua.indexOf('\n', at);
      at = end === -1 ? lua.length : end;
    } else if (lua[at] === "'" || lua[at] === '"') {
      const quote = lua[at];
      at += 1;
      while (at < lua.length && lua[at] !== quote) at += lua[at] === '\\' ? 2 : 1;
      at += 1;
    } else at += 1;
  }
  return found;
}
