import type { VNode } from 'preact';
import { AuditPage } from '../pages/audit.js';
import { BatchPage } from '../pages/batch/batch-page.js';
import { BatchesPage } from '../pages/batches.js';
import { DeadPage } from '../pages/dead/dead-page.js';
import { DoubtPage } from '../pages/doubt/doubt-page.js';
import { DoubtsPage } from '../pages/doubt/doubts-page.js';
import { ImportPage } from '../pages/import/import-page.js';
import { MemberPage } from '../pages/member.js';
import { OrderPage } from '../pages/order.js';
import { OverviewPage } from '../pages/overview.js';
import { RulePlanPage } from '../pages/rules/rule-plan-page.js';
import { RulesPage } from '../pages/rules/rules-page.js';
import { Empty } from '../parts/notice.js';
import type { Address } from './address.js';
import { Link } from './link.js';
import { Page } from './page.js';

/** The page of an address. Keys make another batch another page, with its own state and focus. */
export function pageFor({ path, visit }: Address): VNode {
  const [first = '', second = '', third = ''] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  switch (first) {
    case '':
    case 'login':
      return <OverviewPage key="overview" />;
    case 'batches':
      return second === '' ? <BatchesPage key="batches" /> : <BatchPage key={`b ${second}`} batch={second} />;
    case 'orders':
      return second === '' ? <NoPage key="none" /> : <OrderPage key={`o ${second}`} order={second} />;
    case 'members':
      return second === '' ? <NoPage key="none" /> : <MemberPage key={`m ${second}`} member={second} />;
    case 'dead':
      return <DeadPage key="dead" />;
    case 'doubts':
      return second === '' ? <DoubtsPage key="doubts" /> : <DoubtPage key={`d ${second}`} order={second} />;
    case 'import':
      return <ImportPage key={`import ${visit}`} />;
    case 'rules':
      return second === 'plans' && third !== '' ? (
        <RulePlanPage key={`p ${third}`} plan={third} />
      ) : (
        <RulesPage key="rules" />
      );
    case 'audit':
      return <AuditPage key="audit" />;
    default:
      return <NoPage key="none" />;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function NoPage() {
  return (
    <Page title="No such page">
      <section class="panel">
        <Empty title="There is nothing at this address.">
          Begin at the <Link to="/">overview</Link>, or search above for a member, batch or order.
        </Empty>
      </section>
    </Page>
  );
}
