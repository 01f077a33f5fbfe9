// Takes the pictures of docs/reference/desk.md: `npm run build`, then `node scripts/desk-pictures.mjs`. A realm service, a desk
// with a worker and headless Chromium are started on loopback, in a folder that is removed again; members, files and
// rules are the same every time. With names (`recovery people`) only those are taken. CHROMIUM_PATH names another browser.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);
const ROOT = join(dirname(here), '..');
const PICTURES = join(ROOT, 'docs', 'images');
const MAIN = join(ROOT, 'dist', 'cli', 'main.js');
const SIZE = { width: 1200, height: 800 };
const QUALITY = 70;

/** Every page of the desk, by the component that src/desk/web shows; a test holds the list, the page and the files equal. */
export const PAGES = [
  { page: 'Login', picture: 'login', path: () => '/login' },
  { page: 'OverviewPage', picture: 'overview', path: () => '/' },
  { page: 'BatchesPage', picture: 'batches', path: () => '/batches' },
  { page: 'HistoryPage', picture: 'history', path: () => '/history?realm=town' },
  { page: 'BatchPage', picture: 'batch', path: ({ mixed }) => `/batches/${mixed}` },
  { page: 'OrderPage', picture: 'order', path: ({ refused }) => `/orders/${refused}` },
  { page: 'MemberPage', picture: 'member', path: () => `/members/${MEMBERS[1]}` },
  { page: 'FindPage', picture: 'find', path: () => `/find?q=${MEMBERS[1]}` },
  { page: 'DeadPage', picture: 'dead', path: () => '/dead' },
  { page: 'DoubtsPage', picture: 'doubts', path: () => '/doubts' },
  { page: 'DoubtPage', picture: 'doubt', path: ({ doubt }) => `/doubts/${doubt}` },
  { page: 'ApprovalsPage', picture: 'approvals', path: () => '/approvals', as: 'ben' },
  {
    page: 'ApprovalPage',
    picture: 'approval',
    path: ({ waiting }) => `/approvals/${waiting}`,
    as: 'ben',
  },
  { page: 'ImportPage', picture: 'import', path: () => '/import', before: offerFile },
  { page: 'RulesPage', picture: 'rules', path: () => '/rules' },
  { page: 'CalendarPage', picture: 'calendar', path: () => '/calendar', before: missTimes },
  { page: 'RulePlanPage', picture: 'rule-plan', path: ({ plan }) => `/rules/plans/${plan}` },
  { page: 'NoticesPage', picture: 'notices', path: () => '/notices' },
  { page: 'RecoveryPage', picture: 'recovery', path: () => '/recovery', before: awaitDecision },
  { page: 'AuditPage', picture: 'audit', path: () => '/audit' },
  { page: 'PeoplePage', picture: 'people', path: () => '/people' },
];

export const pictureFile = ({ picture }) => `desk-${picture}.webp`;

const MEMBERS = Array.from({ length: 240 }, (_, at) => String(119_837_460_192_837_465n + BigInt(at * 7919)));
const STRANGERS = ['119000000000000001', '119000000000000002', '119000000000000003'];

const csv = (rows) => `member,tokens,reference,reason\n${rows.map((row) => row.join(',')).join('\n')}\n`;
const FILES = [
  {
    name: 'spring-gift.csv',
    realm: 'town',
    rows: MEMBERS.map((id, at) => [id, 10 + (at % 5) * 10, `spring/${at}`, 'Spring gift']),
  },
  {
    name: 'raffle.csv',
    realm: 'harbour',
    rows: MEMBERS.slice(0, 60).map((id, at) => [id, 25, `raffle/${at}`, 'Raffle']),
  },
  {
    name: 'helpers.csv',
    realm: 'town',
    rows: [...MEMBERS.slice(0, 20), ...STRANGERS].map((id, at) => [id, 40, `helpers/${at}`, 'Thank you']),
  },
];
/** Of a realm that requires a second person: the first goes alone, the second waits. */
const PREPARED = [0, 1].map((month) => ({
  name: ['october.csv', 'november.csv'][month],
  realm: 'quay',
  rows: MEMBERS.slice(month * 2, month * 2 + 12).map((id, at) => [
    id,
    at % 4 === 0 ? 20 + month * 60 : 20,
    `month/${month}/${at}`,
    'Harbour duty',
  ]),
}));
const LONG = {
  name: 'season-end.csv',
  realm: 'town',
  rows: MEMBERS.flatMap((id, at) =>
    [0, 1, 2, 3].map((part) => [id, 5 + part, `season/${at}/${part}`, 'Season']),
  ),
};

const RULE = `name: weekly-thanks
description: Fifty points for everybody who helped three times
realm: town
period: week
schedule:
  cron: 0 9 * * 1
  timezone: Europe/Berlin
  missed: once
audience:
  members: [${MEMBERS.slice(0, 30).join(', ')}]
condition: int(member.attributes.helped) >= 3
award:
  tokens: 50
limits:
  perMember: 50
  perRun: 2000
reason: Helped this week
`;

async function offerFile(page, folder) {
  await page.locator('input[type=file]').setInputFiles(join(folder, LONG.name));
  await page
    .getByLabel('Realm')
    .selectOption('town')
    .catch(() => {});
  await page
    .getByRole('button', { name: /^Plan/ })
    .first()
    .click({ timeout: 5_000 })
    .catch(() => {});
  await page
    .getByLabel(/confirm/i)
    .first()
    .waitFor({ timeout: 15_000 })
    .catch(() => {});
}

async function storeOf(folder) {
  const { Redis } = await import('ioredis');
  const { openStoreFolder } = await import('../dist/runtime/redis/folder.js');
  const { port, password } = await openStoreFolder(join(folder, 'data'));
  return new Redis({ port, password });
}

const DAY_MS = 24 * 3_600_000;

/** As after two weeks in which no desk ran, of which one is run late. */
async function missTimes(page, folder, api) {
  const [rule] = (await api.ask('/api/rules')).rules.filter((one) => one.rule === 'weekly-thanks');
  if (rule.text !== null) await api.ask('/api/rules/weekly-thanks/approve', { hash: rule.text.hash });
  const redis = await storeOf(folder);
  const [schedules] = await redis.keys('*:rules:schedules');
  const entry = JSON.parse(await redis.hget(schedules, 'weekly-thanks'));
  const next = Date.parse(rule.nextRuns[0].at);
  entry.approved.at = next - 30 * DAY_MS;
  await redis.hset(schedules, 'weekly-thanks', JSON.stringify(entry));
  redis.disconnect();
  await api.until('/api/calendar', ({ past }) => past.length > 0);
  await page.reload();
}

/** As after a restore: the ledgers are closed, and their first sends wait once the worker has opened them again. */
async function putStoreBack(folder) {
  const redis = await storeOf(folder);
  for (const key of await redis.keys('almoner:{*}'))
    if (/^almoner:\{[0-9a-f]+\}$/.test(key) && (await redis.zcard(`${key}:open`)) > 0)
      await redis.hset(key, 'forgot', '1', 'armed', 'another-server');
  redis.disconnect();
}

async function awaitDecision(page) {
  await page
    .getByRole('button', { name: /^Resume/ })
    .first()
    .waitFor();
}

class Stage {
  children = [];

  constructor(folder) {
    this.folder = folder;
  }

  /** A service of almoner; resolves with what it says when it is ready. */
  async start(args, env) {
    const child = spawn(process.execPath, [MAIN, ...args, '--json'], {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: this.folder, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.children.push(child);
    const [line] = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      once(child, 'exit').then(() => {
        throw new Error(`almoner ${args.join(' ')} ended before it was ready`);
      }),
    ]);
    return JSON.parse(line);
  }

  async end() {
    for (const child of this.children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }
}

class Api {
  constructor({ url, token }) {
    this.url = url;
    this.token = token;
  }

  async ask(path, body, type = 'application/json') {
    const reply = await fetch(`${this.url}${path}`, {
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined
        ? {}
        : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const told = await reply.json();
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${JSON.stringify(told)}`);
    return told;
  }

  async import({ name, realm, rows }) {
    const { upload } = await this.ask(`/api/uploads?name=${name}`, csv(rows), 'text/csv');
    const plan = await this.ask(`/api/uploads/${upload}/plan`, { realm });
    const sure = { realm, rows: plan.rows, tokens: plan.payable.tokens };
    return (await this.ask(`/api/uploads/${upload}/start`, sure)).summary.batch;
  }

  async until(path, isSo) {
    for (;;) {
      const told = await this.ask(path);
      if (isSo(told)) return told;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function stageBooks(stage) {
  const { folder } = stage;
  const members = ['member,tokens,helped', ...MEMBERS.map((id, at) => `${id},1000,${at % 6}`)];
  await writeFile(join(folder, 'members.csv'), `${members.join('\n')}\n`);
  const realm = async (realmId, ...faults) =>
    stage.start(
      ['realm', 'serve', '--port', '0', '--realm-id', realmId, '--members', 'members.csv', ...faults],
      {
        ALMONER_DATA: join(folder, `realm-${realmId}`),
      },
    );
  const town = await realm('town');
  const quay = await realm('quay');
  const harbour = await realm('harbour', '--fault', 'reset-after:0.15');
  const profile = ({ url }, realmId, certainty, rate) => ({
    baseUrl: url,
    realmId,
    keyEnv: `${realmId.toUpperCase()}_KEY`,
    certainty,
    rate,
  });
  // JSON is YAML.
  const config = {
    dataFolder: join(folder, 'data'),
    realms: {
      town: profile(town, 'town', 'idempotent', '1200/min'),
      harbour: profile(harbour, 'harbour', 'manual', '1200/min'),
      quay: { ...profile(quay, 'quay', 'idempotent', '1200/min'), approval: { overTokens: 500 } },
    },
  };
  await writeFile(join(folder, 'almoner.config.yaml'), JSON.stringify(config));
  await mkdir(join(folder, 'jobs'));
  await writeFile(join(folder, 'jobs', 'weekly-thanks.yaml'), RULE);
  await writeFile(join(folder, LONG.name), csv(LONG.rows));
  const keys = { TOWN_KEY: town.key, HARBOUR_KEY: harbour.key, QUAY_KEY: quay.key, ALMONER_OPERATOR: 'olga' };
  const desk = await stage.start(['serve', '--port', '0', '--with-worker'], keys);
  const api = new Api(desk);
  const batches = [];
  for (const file of FILES) batches.push(await api.import(file));
  for (const batch of batches)
    await api.until(`/api/batches/${batch}`, ({ summary }) => summary.state === 'done');
  const tokenOf = async (name, ...roles) => (await api.ask('/api/tokens', { name, roles })).token;
  const ada = new Api({ url: desk.url, token: await tokenOf('ada', 'operator') });
  const ben = await tokenOf('ben', 'approver', 'admin');
  const [, waiting] = [await ada.import(PREPARED[0]), await ada.import(PREPARED[1])];
  const { task } = await api.ask('/api/rules/weekly-thanks/plan', {});
  const planned = await api.until(`/api/tasks/${task}`, ({ state }) => state !== 'running');
  const [doubt] = (await api.ask('/api/doubts')).orders;
  const mixed = batches.at(-1);
  const [refused] = (await api.ask(`/api/batches/${mixed}/orders?state=refused`)).orders;
  return {
    desk,
    api,
    ben,
    seen: { waiting, mixed, plan: planned.result.plan, doubt: doubt.order, refused: refused.order },
  };
}

async function takePictures(stage) {
  const { chromium } = await import('playwright-core');
  const { desk, api, ben, seen } = await stageBooks(stage);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  try {
    const context = await browser.newContext({
      viewport: SIZE,
      colorScheme: 'light',
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    const camera = await context.newCDPSession(page);
    await mkdir(PICTURES, { recursive: true });
    const wanted = process.argv.slice(2);
    const take = async (one) => {
      if (wanted.length > 0 && !wanted.includes(one.picture)) return;
      await page.goto(`${desk.url}${one.path(seen)}`);
      await page.locator('h1').first().waitFor();
      await one.before?.(page, stage.folder, api);
      // What is still coming has bones in its place; the live stream never rests.
      await page.waitForFunction('document.querySelector(".bone") === null').catch(() => {});
      await page.evaluate('document.fonts.ready.then(() => new Promise((so) => setTimeout(so, 400)))');
      const { data } = await camera.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
      await writeFile(join(PICTURES, pictureFile(one)), Buffer.from(data, 'base64'));
      process.stdout.write(`docs/images/${pictureFile(one)}\n`);
    };
    const [login, ...others] = PAGES;
    await take(login);
    const signIn = async (token) => {
      await context.clearCookies();
      // Another fragment alone would load nothing.
      await page.goto('about:blank');
      await page.goto(`${desk.url}/login#token=${token}`);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    };
    await signIn(ben);
    for (const one of others.filter(({ as }) => as === 'ben')) await take(one);
    await signIn(desk.token);
    const last = others.filter(({ page: name }) => name === 'OverviewPage' || name === 'RecoveryPage');
    for (const one of others.filter((each) => !last.includes(each) && each.as === undefined)) await take(one);
    // Last, with a batch under way, which then waits.
    await api.import(LONG);
    await page.waitForTimeout(4_000);
    const [overview, recovery] = last;
    await take(overview);
    await putStoreBack(stage.folder);
    await take(recovery);
  } finally {
    await browser.close();
  }
}

if (process.argv[1] !== undefined && (await realpath(process.argv[1])) === here) {
  const stage = new Stage(await mkdtemp(join(tmpdir(), 'almoner-pictures-')));
  try {
    await takePictures(stage);
  } finally {
    await stage.end();
    await rm(stage.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
