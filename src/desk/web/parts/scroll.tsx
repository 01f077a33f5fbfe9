import type { ComponentChildren } from 'preact';

/** Reachable by Tab, so that the arrow keys can scroll what does not fit. */
const REACHABLE = { tabIndex: 0 };

/** Only tables scroll sideways, never the page. */
export function Scroll({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="scroll" aria-label={label} {...REACHABLE}>
      {children}
    </section>
  );
}
