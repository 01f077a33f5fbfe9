import type { ComponentChildren } from 'preact';
import { go } from './address.js';

type LinkProps = {
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly current?: boolean;
  readonly onFollow?: () => void;
};

/** A real link (new tab, copy address, middle click all work) that changes the page without loading it anew. */
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

export function BatchLink({ batch }: { readonly batch: string }) {
  return (
    <Link to={`/batches/${encodeURIComponent(batch)}`} class="mono">
      {batch}
    </Link>
  );
}

export function OrderLink({ order }: { readonly order: string }) {
  return (
    <Link to={`/orders/${encodeURIComponent(order)}`} class="mono">
      {order}
    </Link>
  );
}

export function MemberLink({ member }: { readonly member: string | null }) {
  if (member === null) return <span class="soft">none</span>;
  return (
    <Link to={`/members/${encodeURIComponent(member)}`} class="mono">
      {member}
    </Link>
  );
}
