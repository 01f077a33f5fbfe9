import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { CallFailed } from '../live/call.js';
import type { Resource } from '../live/resource.js';
import { Button } from './fields.js';

type PanelProps = {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly tone?: 'warn' | 'bad';
  readonly flush?: boolean;
  /** An id to scroll to. */
  readonly anchor?: string;
  readonly children: ComponentChildren;
};

/** A titled box. `flush` lets a table reach its edges. */
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

export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values in two columns; false leaves a row out. */
export function Facts({ facts }: { readonly facts: readonly (Fact | false)[] }) {
  return (
    <dl class="facts">
      {facts
        .filter((fact) => fact !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Reachable by Tab, so that the arrow keys can scroll wide content. */
const REACHABLE = { tabIndex: 0 };

type ScrollProps = { readonly label: string; readonly children: ComponentChildren };

/** Scrolls a wide table sideways, so that the page itself never does. */
export function Scroll({ label, children }: ScrollProps) {
  return (
    <section class="scroll" aria-label={label} {...REACHABLE}>
      {children}
    </section>
  );
}

type HeadsProps = {
  /** `n`: the column holds numbers. `unseen`: only screen readers get the name. */
  readonly heads: readonly (string | readonly [name: string, kind: 'n' | 'unseen' | 'wide-only'])[];
};

export function Heads({ heads }: HeadsProps) {
  return (
    <thead>
      <tr>
        {heads.map((head) => {
          const [name, kind] = typeof head === 'string' ? [head] : head;
          return (
            <th key={name} scope="col" class={kind === 'unseen' ? undefined : kind}>
              {kind === 'unseen' ? <span class="unseen">{name}</span> : name}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

type TableProps = ScrollProps & HeadsProps & { readonly css?: string };

/** A table with its heads; the rows are the children. */
export function Table({ label, css, heads, children }: TableProps) {
  return (
    <Scroll label={label}>
      <table class={css}>
        <Heads heads={heads} />
        <tbody>{children}</tbody>
      </table>
    </Scroll>
  );
}

/**
 * Commands that a button or page of the desk replaces. The page names that button, so that people need not type the
 * command.
 */
const ON_THE_DESK: readonly (readonly [command: RegExp, here: string])[] = [
  [/^almoner resume --after-rollback\b/, 'the page Recovery'],
  [/^almoner resume\b.* --now\b/, '“Begin now”'],
  [/^almoner resume\b/, '“Resume”'],
  [/^almoner pause\b/, '“Pause”'],
  [/^almoner cancel\b/, '“Cancel the rest”'],
  [/^almoner report\b(?!.*--)/, '“Write the report”'],
  [/^almoner undo\b/, '“Undo file”'],
  [/^almoner status\b/, 'the page Batches'],
  [/^almoner (stats|statement)\b/, 'the page History'],
  [/^almoner approve\b/, 'the page Approvals'],
  [/^almoner doubt\b/, 'the page Doubts'],
  [/^almoner dead\b/, 'the page Dead letters'],
  [/^almoner rules (calendar|dismiss)\b/, 'the page Calendar'],
];

function onTheDesk(command: string): string | undefined {
  return ON_THE_DESK.find(([pattern]) => pattern.test(command))?.[1];
}

/** A sentence of the program. An `almoner …` in backticks becomes a command to type, or the desk's button for it. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((part, at) =>
          at % 2 === 1 ? (onTheDesk(part) ?? <code key={`${at} ${part}`}>{part}</code>) : part,
        )}
    </>
  );
}

/** The command that ends something; nothing where the desk has a button or page for it. */
export function Typed({ command }: { readonly command: string | null }) {
  return command === null || onTheDesk(command) !== undefined ? null : <code>{command}</code>;
}

/** What happened, and what to do about it. */
export function Said({ message, next }: { readonly message: string; readonly next: string }) {
  return (
    <>
      <b>
        <Prose text={message} />
      </b>{' '}
      <Prose text={next} />
    </>
  );
}

type Tone = 'bad' | 'warn' | 'good' | 'plain' | 'loud';

/** A highlighted box for something a person should read. */
export function Notice({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <div class={`notice ${tone}`}>{children}</div>;
}

type FailureProps = {
  readonly failure: Pick<CallFailed, 'code' | 'message' | 'next' | 'details'> | null;
  readonly onRetry?: () => void;
};

/** A failed call in the server's own words: what happened, what to do, and the code. */
export function Failure({ failure, onRetry }: FailureProps) {
  if (failure === null) return null;
  return (
    <div class="notice bad" role="alert">
      <p>
        <b>
          <Prose text={failure.message} />
        </b>
      </p>
      {failure.next !== '' && (
        <p>
          <Prose text={failure.next} />
        </p>
      )}
      {failure.details.length > 0 && (
        <ul class="bullets">
          {failure.details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      <p class="small soft">
        <code>{failure.code}</code>
      </p>
      {onRetry !== undefined && <Button name="Try again" onPress={onRetry} />}
    </div>
  );
}

type EmptyProps = { readonly title: string; readonly children?: ComponentChildren };

export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <p>
        <b>{title}</b>
      </p>
      {children !== undefined && <p class="soft">{children}</p>}
    </div>
  );
}

/** Keeps the space of the content to come, so that the page does not jump. */
export function Loading({ rows }: { readonly rows: number }) {
  return (
    <div class="loading" role="status">
      <span class="unseen">Loading</span>
      {Array.from({ length: rows }, (_, at) => at).map((at) => (
        <div key={at} class="bone" aria-hidden="true" />
      ))}
    </div>
  );
}

type PendingProps = { readonly of: Resource<unknown>; readonly rows: number };

/** The placeholder of a document: loading, or why it failed. */
export function Pending({ of: { value, failure, reload }, rows }: PendingProps) {
  if (failure !== null) return <Failure failure={failure} onRetry={reload} />;
  return value === null ? <Loading rows={rows} /> : null;
}
