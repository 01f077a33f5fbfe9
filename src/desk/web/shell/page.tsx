import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { createStore, useStore } from '../live/store.js';

type PageProps = {
  readonly title: string;
  readonly rehearsal?: boolean;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
};

let firstPage = true;

/**
 * The frame of every page. Its heading takes the focus after navigation, so that a screen reader says the page's name
 * and the Tab key starts at the top.
 */
export function Page({ title, rehearsal = false, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!firstPage) {
      heading.current?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
    firstPage = false;
  }, []);
  useEffect(() => {
    document.title = `${rehearsal ? 'REHEARSAL · ' : ''}${title} · almoner desk`;
  }, [title, rehearsal]);
  return (
    <main class="page" id="page">
      {rehearsal && <RehearsalStrip />}
      <div class="heading">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <div class="soft">{lead}</div>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </main>
  );
}

function RehearsalStrip() {
  return (
    <p class="strip rehearsal">
      <b>REHEARSAL</b> <span>On the embedded realm service. No real member is paid.</span>
    </p>
  );
}

const spoken = createStore('');

/** Announces a sentence to screen readers without moving the focus. A repeated sentence is announced again. */
export function announce(text: string): void {
  spoken.set(spoken.get() === text ? `${text}\u00a0` : text);
}

/** The live region in which `announce` speaks. */
export function Announcer() {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {useStore(spoken)}
    </div>
  );
}
