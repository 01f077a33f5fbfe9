import type { ComponentChildren } from 'preact';
import type { CallFailed } from '../live/call.js';
import { Prose } from './panel.js';

export type Tone = 'bad' | 'warn' | 'good' | 'plain' | 'loud';

export function Notice({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <div class={`notice ${tone}`}>{children}</div>;
}

/** A failed call in the server's own words: what happened, what to do, and the code to look up. */
export function Failure({
  failure,
  onRetry,
}: {
  readonly failure: CallFailed;
  readonly onRetry?: () => void;
}) {
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
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
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
export function Loading({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div class="loading" role="status">
      <span class="unseen">Loading</span>
      {Array.from({ length: rows }, (_, at) => at).map((at) => (
        <div key={at} class="bone" aria-hidden="true" />
      ))}
    </div>
  );
}
