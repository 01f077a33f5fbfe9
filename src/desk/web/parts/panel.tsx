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

export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values in two columns; false where there is nothing to say. */
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

/** Reachable by Tab, so that the arrow keys can scroll what does not fit. */
const REACHABLE = { tabIndex: 0 };

type ScrollProps = { readonly label: string; readonly children: ComponentChildren };

/** Only tables scroll sideways, never the page. */
export function Scroll({ label, children }: ScrollProps) {
  return (
    <section class="scroll" aria-label={label} {...REACHABLE}>
      {children}
    </section>
  );
}

type HeadsProps = {
  /** `n` behind a name: the column holds numbers. `unseen`: the name is only heard. */
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

/** A table's frame; its rows are the children. */
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

/** What commands do that a button or a page of the desk does too: here nobody has to leave it to type them. */
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

/** Sentences of the program, in which `almoner …` between backticks is something to type. */
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

/** A command that ends something; nothing where a button or a page of the desk does. */
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

export function Notice({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <div class={`notice ${tone}`}>{children}</div>;
}

type FailureProps = {
  readonly failure: Pick<CallFailed, 'code' | 'message' | 'next' | 'details'> | null;
  readonly onRetry?: () => void;
};

/** A failed call in the server's own words: what happened, what to do, and the code to look up. */
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

/** Keeps the room its content will need, so that nothing jumps when it comes. */
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

/** Stands where a document of the API will be: that it is on its way, or why it does not come. */
export function Pending({ of: { value, failure, reload }, rows }: PendingProps) {
  if (failure !== null) return <Failure failure={failure} onRetry={reload} />;
  return value === null ? <Loading rows={rows} /> : null;
}
