import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The paths of all documentation pages. */
export function pagePaths(): string[] {
  const inDocs = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path));
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...inDocs].sort();
}

/** The lines of a page outside code blocks. */
export function proseLines(text: string): string[] {
  return split(text).prose;
}

/** The lines inside code blocks of any language. */
export function codeLines(text: string): string[] {
  return split(text).code;
}

function split(text: string): { readonly prose: string[]; readonly code: string[] } {
  const [prose, code]: [string[], string[]] = [[], []];
  let inCode = false;
  for (const line of text.split('\n')) {
    if (line.trimStart().startsWith('```')) inCode = !inCode;
    else (inCode ? code : prose).push(line);
  }
  return { prose, code };
}

/** The anchors that GitHub derives from the headings of a page. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const heading of headingsOf(text)) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

export function headingsOf(text: string): string[] {
  return proseLines(text).flatMap((line) => {
    const [, heading] = /^#+ (.+)$/.exec(line) ?? [];
    return heading === undefined ? [] : [heading.trim()];
  });
}

/** The targets of relative links and pictures. Text in backticks is not a link. */
export function relativeLinks(text: string): string[] {
  const prose = proseLines(text)
    .join('\n')
    .replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Every almoner command line on a page: whole lines of shell blocks, and inline code in sentences. */
export function commandsOf(text: string): { readonly whole: string[]; readonly inSentences: string[] } {
  const blocks = [...text.matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  const lines = blocks
    .flatMap((code) => code.replaceAll('\\\n', ' ').split('\n'))
    .map((line) => line.replace(/\s+#\s.*$/, '').trim())
    .filter((line) => line.startsWith('almoner '));
  const spans = [
    ...proseLines(text)
      .join('\n')
      .matchAll(/`([^`]+)`/g),
  ]
    .map(([, span = '']) => span.replaceAll(/\s+/g, ' '))
    .filter((span) => span.startsWith('almoner '));
  return { whole: lines, inSentences: spans };
}

/** Counts words. A group of symbols without letters, such as a table border, is not a word. */
export function wordCount(path: string): number {
  return readFileSync(path, 'utf8')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
