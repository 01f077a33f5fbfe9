import type { ComponentChildren } from 'preact';
import { createStore, useStore } from '../live/store.js';

/** Path and query of the address bar. Every view can be shared as a link. */
export type Address = {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Counts navigations: a link to the present page begins it anew. */
  readonly visit: number;
};

let visit = 0;
const here = () => ({ path: location.pathname, query: new URLSearchParams(location.search), visit });
const address = createStore<Address>(here());

window.addEventListener('popstate', () => {
  visit += 1;
  address.set(here());
});

export function useAddress(): Address {
  return useStore(address);
}

/** Changes the page without loading it anew. */
export function go(to: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') {
    history.pushState(null, '', to);
    visit += 1;
  } else history.replaceState(null, '', to);
  address.set(here());
}

/** The same page with other filters. Empty values are removed from the address. */
export function withQuery(changes: Query): string {
  const { path, query } = address.get();
  return pathWith(path, { ...Object.fromEntries(query), ...changes });
}

/** Sets a filter of this page and returns to its first screen. */
export function filterBy(name: string, value: string): void {
  go(withQuery({ [name]: value, cursor: null }), 'replace');
}

type Query = Readonly<Record<string, string | null>>;

/** A path with those parameters that have a value. */
export function pathWith(path: string, parameters: Query): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== '') query.set(name, value);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

type LinkProps = {
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly current?: boolean;
  readonly onFollow?: () => void;
};

/** A real link that changes the page without loading it anew. New tab, copy address and middle click work. */
export function Link({ to, children, current, onFollow, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
    onFollow?.();
  };
  return (
    <a href={to} onClick={follow} aria-current={current === true ? 'page' : undefined} {...rest}>
      {children}
    </a>
  );
}

const PLACES = {
  batch: 'batches',
  order: 'orders',
  member: 'members',
  doubt: 'doubts',
  approval: 'approvals',
} as const;

/** The address of a batch, an order, a member or a doubt. */
export function placeOf(kind: keyof typeof PLACES, id: string): string {
  return `/${PLACES[kind]}/${encodeURIComponent(id)}`;
}

type IdLinkProps = { readonly kind: keyof typeof PLACES; readonly id: string };

function IdLink({ kind, id }: IdLinkProps) {
  return (
    <Link to={placeOf(kind, id)} class="mono">
      {id}
    </Link>
  );
}

export function BatchLink({ batch }: { readonly batch: string }) {
  return <IdLink kind="batch" id={batch} />;
}

export function OrderLink({ order }: { readonly order: string }) {
  return <IdLink kind="order" id={order} />;
}

export function MemberLink({ member }: { readonly member: string | null }) {
  return member === null ? <span class="soft">none</span> : <IdLink kind="member" id={member} />;
}
