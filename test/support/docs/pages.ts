import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The pages that people read, by their paths. */
export function pagePaths(): string[] {
  const inDocs = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path));
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...inDocs].sort();
}

/** The lines of a page that are not in a code block. */
export function proseLines(text: string): string[] {
  return split(text).prose;
}

/** The lines of its code blocks, whatever their language. */
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

/** The anchors of a page, as GitHub makes them from its headings. */
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

/** The targets of relative links and pictures. Code in backticks is no link. */
export function relativeLinks(text: string): string[] {
  const prose = proseLines(text)
    .join('\n')
    .replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Every command line of almoner in a page: whole lines of shell blocks, and code within sentences. */
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

/** Signs alone, such as the lines of a table, are no words. */
export function wordCount(path: string): number {
  return readFileSync(path, 'utf8')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
