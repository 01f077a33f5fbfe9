import type { ComponentChildren } from 'preact';
import { go, useAddress, withQuery } from '../shell/address.js';
import { Button } from './fields.js';

type PagerProps = {
  readonly onBack: (() => void) | null;
  readonly onNext: (() => void) | null;
  readonly children?: ComponentChildren;
};

/** Null where there is no page in that direction. */
export function Pager({ onBack, onNext, children }: PagerProps) {
  return (
    <div class="pager">
      {children}
      <Button name="Back" disabled={onBack === null} onPress={() => onBack?.()} />
      <Button name="Next" disabled={onNext === null} onPress={() => onNext?.()} />
    </div>
  );
}

type CursorPagerProps = { readonly next: string | null; readonly children?: ComponentChildren };

/**
 * Pages by address. Forward uses a cursor, which costs the same on page 2 and on page 20,000. Backward uses the
 * browser's history, because a cursor knows one direction only.
 */
export function CursorPager({ next, children }: CursorPagerProps) {
  const { query } = useAddress();
  return (
    <Pager
      onBack={query.get('cursor') === null ? null : () => history.back()}
      onNext={next === null ? null : () => go(withQuery({ cursor: next }))}
    >
      {children}
    </Pager>
  );
}
