import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

type PanelProps = {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly tone?: 'warn' | 'bad';
  readonly flush?: boolean;
  /** An id to scroll to. */
  readonly anchor?: string;
  readonly children: ComponentChildren;
};

/** A titled box; `flush` for tables that reach its edges. */
export function Panel({ title, aside, tone, flush = false, anchor, children }: PanelProps) {
  const id = useId();
  return (
    <section id={anchor} class={`panel ${tone ?? ''}`} aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div class="aside">{aside}</div>}
      </div>
      <div class={flush ? 'panel-flush' : 'panel-body'}>{children}</div>
    </section>
  );
}

/** Names and values in two columns. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

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

/** Sentences of the program, in which `almoner …` between backticks is something to type. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {text.split('`').map((part, at) => (at % 2 === 1 ? <code key={`${at} ${part}`}>{part}</code> : part))}
    </>
  );
}
