import { render, type VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { SessionReply } from '../api/index.js';
import { asFailure, CallFailed, read, session, signedIn } from './live/call.js';
import { createStore, useStore } from './live/store.js';
import { joinStream, leaveStream } from './live/stream.js';
import { ApprovalPage } from './pages/approvals/approval-page.js';
import { ApprovalsPage } from './pages/approvals/approvals-page.js';
import { AuditPage } from './pages/audit.js';
import { BatchPage } from './pages/batch/batch-page.js';
import { BatchesPage } from './pages/batches.js';
import { DeadPage } from './pages/dead/dead-page.js';
import { DoubtPage } from './pages/doubt/doubt-page.js';
import { DoubtsPage } from './pages/doubt/doubts-page.js';
import { FindPage } from './pages/find.js';
import { HistoryPage } from './pages/history/history-page.js';
import { ImportPage } from './pages/import/import-page.js';
import { MemberPage } from './pages/member.js';
import { NoticesPage } from './pages/notices.js';
import { OrderPage } from './pages/order.js';
import { OverviewPage } from './pages/overview.js';
import { PeoplePage } from './pages/people.js';
import { RecoveryPage } from './pages/recovery.js';
import { CalendarPage } from './pages/rules/calendar-page.js';
import { RulePlanPage } from './pages/rules/rule-plan-page.js';
import { RulesPage } from './pages/rules/rules-page.js';
import { Empty, Failure } from './parts/panel.js';
import { type Address, Link, useAddress } from './shell/address.js';
import { Frame } from './shell/frame.js';
import { Login } from './shell/login.js';
import { Page } from './shell/page.js';
import { applyTheme } from './shell/theme.js';

/** The failure that hides who the viewer is. Not being signed in is no failure. */
const trouble = createStore<CallFailed | null>(null);

async function whoAmI(): Promise<void> {
  trouble.set(null);
  // The login page knows that nobody is signed in. Asking would make the browser log the refusal as an error.
  if (location.pathname === '/login') return session.set(null);
  try {
    session.set(await read<SessionReply>('/api/session'));
  } catch (error) {
    if (error instanceof CallFailed && error.status === 401) session.set(null);
    else trouble.set(asFailure(error));
  }
}

function Desk() {
  const who = useStore(session);
  const address = useAddress();
  const failure = useStore(trouble);
  const isSignedIn = signedIn(who) !== null;
  useEffect(() => {
    if (!isSignedIn) return;
    joinStream();
    return leaveStream;
  }, [isSignedIn]);
  if (failure !== null)
    return (
      <main class="login">
        <Failure failure={failure} onRetry={whoAmI} />
      </main>
    );
  if (who === 'asking') return null;
  if (who === null) return <Login />;
  return (
    <Frame who={who} path={address.path}>
      {pageFor(address)}
    </Frame>
  );
}

applyTheme();
const place = document.getElementById('desk');
if (place !== null) render(<Desk />, place);
// `whoAmI` shows its own failure.
void whoAmI();

/** Chooses the page for an address. The key gives another batch its own page state and focus. */
function pageFor({ path, query, visit }: Address): VNode {
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
    case 'approvals':
      if (second === '') return <ApprovalsPage key="approvals" />;
      return <ApprovalPage key={`a ${second}`} batch={second} />;
    case 'import':
      return <ImportPage key={`import ${visit}`} />;
    case 'rules':
      if (second !== 'plans' || third === '') return <RulesPage key="rules" />;
      return <RulePlanPage key={`p ${third}`} plan={third} />;
    case 'calendar':
      return <CalendarPage key="calendar" />;
    case 'history':
      return <HistoryPage key="history" />;
    case 'notices':
      return <NoticesPage key="notices" />;
    case 'recovery':
      return <RecoveryPage key="recovery" />;
    case 'find': {
      const text = query.get('q')?.trim() ?? '';
      return text === '' ? <NoPage key="none" /> : <FindPage key={`f ${text}`} text={text} />;
    }
    case 'people':
      return <PeoplePage key="people" />;
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
          Begin at the <Link to="/">overview</Link>, or search above for a reference, file, member, order,
          amount or day.
        </Empty>
      </section>
    </Page>
  );
}
