import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/runtime/config/config.js';
import { VARIABLES } from '../../src/runtime/config/layers.js';
import { stopDeadlineMs } from '../../src/runtime/stop-signals.js';
import { almoner, type Started, startAlmoner } from '../support/program/almoner.js';
import { freePort, startRedis } from '../support/redis-server.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const healthcheck = z.object({ test: z.array(z.string()).min(2), interval: z.string(), timeout: z.string() });
const service = z.object({
  image: z.string().optional(),
  build: z.string().optional(),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  secrets: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
  profiles: z.array(z.string()).default([]),
  healthcheck,
});
const compose = z
  .object({
    services: z.record(z.string(), service),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
    volumes: z.record(z.string(), z.null()),
  })
  .parse(parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }));

const PROGRAMS = ['realm', 'worker', 'desk'] as const;
const CONFIG_EXAMPLE = 'deploy/almoner.config.yaml';
const ALL = Object.entries(compose.services);
/** `${NAME:-usual}` without NAME. */
const usual = (text: string) => text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');

describe('docker compose', () => {
  test('the image is built and runs on Node 24', () => {
    const froms = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, from]) => from);
    expect(froms).toEqual(['node:24-slim', 'node:24-slim']);
    for (const name of PROGRAMS) expect(compose.services[name]?.build).toBe('.');
  });

  test('every service has a health check and names the version of its image', () => {
    for (const [name, { healthcheck: check, image, build }] of ALL) {
      expect([name, check.test[0]]).toEqual([name, expect.stringMatching(/^CMD(-SHELL)?$/)]);
      if (build === undefined) expect([name, image]).toEqual([name, expect.stringMatching(/:v?\d/)]);
    }
  });

  test('keys are secrets in files that exist, and the realm to try has a key of its own', () => {
    const made = ['./deploy/monitoring/desk-token'];
    for (const { file } of Object.values(compose.secrets))
      expect([file, made.includes(file) || existsSync(usual(file))]).toEqual([file, true]);
    for (const [name, { secrets, environment }] of ALL) {
      for (const secret of secrets) expect(Object.keys(compose.secrets)).toContain(secret);
      expect([name, Object.keys(environment).filter((key) => /KEY$|TOKEN$/.test(key))]).toEqual([name, []]);
    }
    expect(PROGRAMS.map((name) => compose.services[name]?.secrets)).toEqual([
      ['try-key'],
      ['realm-key'],
      ['realm-key'],
    ]);
  });

  test('files that are mounted exist, and volumes are declared', () => {
    for (const volume of ALL.flatMap(([, { volumes }]) => volumes.map(usual))) {
      const [from = ''] = volume.split(':');
      const isThere = from.startsWith('.') ? existsSync(from) : Object.hasOwn(compose.volumes, from);
      expect([volume, isThere]).toEqual([volume, true]);
    }
    for (const name of ['worker', 'desk'] as const) {
      const { volumes = [], environment = {} } = compose.services[name] ?? {};
      expect(volumes.map(usual)).toContain(`./${CONFIG_EXAMPLE}:${environment.ALMONER_CONFIG}:ro`);
    }
  });

  test('a stop has time for every request under way', async () => {
    const config = await loadConfig({ env: {}, cwd: dirname(CONFIG_EXAMPLE), flags: {} });
    for (const name of PROGRAMS) expect(compose.services[name]?.stop_grace_period).toBe('2m');
    expect(stopDeadlineMs(config)).toBeLessThan(110_000);
  });

  test('the example configuration is valid, and so is the realm that is commented out in it', async () => {
    const config = await loadConfig({ env: {}, cwd: dirname(CONFIG_EXAMPLE), flags: {} });
    expect(config.profiles).toMatchObject([
      { name: 'main', baseUrl: 'http://realm:8787', certainty: 'idempotent' },
    ]);
    const folder = await tempFolder();
    const [head = '', own = ''] = readFileSync(CONFIG_EXAMPLE, 'utf8').split(/^ {2}# Your own realm.*$/m);
    const text = `${head.split(/^ {2}main:$/m)[0]}${own.replace(/^ {2}# /gm, '  ')}`;
    writeFileSync(join(folder, 'almoner.config.yaml'), text);
    const { profiles } = await loadConfig({ env: {}, cwd: folder, flags: {} });
    expect(profiles).toMatchObject([{ name: 'town', baseUrl: 'https://points.example.org' }]);
  });
});

describe('the services of docker-compose.yml, as processes of this machine', () => {
  const ports = new Map<string, number>();
  /** Ports and addresses of the containers, as they are here. */
  const here = (text: string) =>
    [...ports]
      .reduce((said, [port, own]) => said.replaceAll(port, String(own)), text)
      .replace('0.0.0.0', '127.0.0.1');

  /** As the containers have it: a store, the mounted configuration, the secret, and folders for what is kept. */
  async function surroundings() {
    const store = await startRedis();
    onTestFinished(() => store.stop());
    const folder = await tempFolder();
    for (const port of ['8787', '9464', '8080']) ports.set(port, await freePort());
    const config = readFileSync(CONFIG_EXAMPLE, 'utf8')
      .replace('http://realm:8787', here('http://127.0.0.1:8787'))
      .replace('/run/secrets/realm-key', resolve(usual(compose.secrets['realm-key']?.file ?? '')));
    writeFileSync(join(folder, 'mounted.yaml'), config);
    return {
      REDIS_URL: store.url,
      ALMONER_CONFIG: join(folder, 'mounted.yaml'),
      ALMONER_DATA: join(folder, 'data'),
      ALMONER_STATE: join(folder, 'state'),
      ALMONER_REPORTS: join(folder, 'reports'),
    };
  }

  const run = promisify(execFile);
  const isHealthy = async (name: string) => {
    const [, program = '', ...args] = compose.services[name]?.healthcheck.test ?? [];
    expect(program).toBe('node');
    return run(process.execPath, args.map(here)).then(
      () => true,
      () => false,
    );
  };

  test('they start, become healthy, pay files of jobs/ to members that the realm has, and end in order', async () => {
    const env = { ...(await surroundings()), ALMONER_RATE: 'none' };
    const keyFile = resolve(compose.secrets['try-key']?.file ?? '');
    const realmEnv = {
      REDIS_URL: env.REDIS_URL,
      ALMONER_REALM_ID: 'main',
      ALMONER_API_KEY_FILE: keyFile,
    };
    const running: Started[] = [];
    onTestFinished(async () => {
      for (const one of running) await one.kill();
    });
    for (const name of PROGRAMS) {
      expect(await isHealthy(name)).toBe(false);
      const { command = [] } = compose.services[name] ?? {};
      running.push(startAlmoner(command.map(here), { env: name === 'realm' ? realmEnv : env }));
      await until(`${name} to be healthy`, () => isHealthy(name));
    }
    for (const file of ['jobs/airdrop.csv', 'jobs/transfers.csv']) {
      const planned = await almoner(['plan', file, '--check', '--json'], { env });
      expect([file, planned.status, planned.stdout]).toEqual([
        file,
        0,
        expect.stringContaining('"faults":[]'),
      ]);
      const imported = await almoner(['import', file, '--yes', '--json'], { env });
      const { batch, rows } = z
        .object({ batch: z.string(), rows: z.number() })
        .parse(JSON.parse(imported.stdout));
      await until(`${file} to be paid`, async () => {
        const { stdout } = await almoner(['status', batch, '--json'], { env });
        const { state, counts } = z
          .object({ state: z.string(), counts: z.record(z.string(), z.number()) })
          .parse(JSON.parse(stdout));
        return state === 'done' && counts.paid === rows;
      });
    }
    for (const one of running.toReversed()) {
      one.child.kill('SIGTERM');
      expect(await one.ended, one.stderr()).toBe(0);
    }
  });
});

describe('systemd', () => {
  const UNITS = ['almoner-worker.service', 'almoner-desk.service'] as const;
  const textOf = (unit: string) => readFileSync(join('deploy/systemd', unit), 'utf8');
  /** Settings that stand once, by section and name; of others the last. */
  const settingsOf = (unit: string) =>
    new Map(
      [...textOf(unit).matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
    );

  test.each(UNITS)('%s pauses at SIGTERM, comes back, and may touch its own files only', async (unit) => {
    const settings = settingsOf(unit);
    expect(Object.fromEntries(settings)).toMatchObject({
      Type: 'exec',
      Restart: 'always',
      StartLimitIntervalSec: '0',
      KillMode: 'mixed',
      User: 'almoner',
      StateDirectory: 'almoner almoner-state',
      StateDirectoryMode: '0700',
      UMask: '0077',
      EnvironmentFile: '/etc/almoner/almoner.env',
      NoNewPrivileges: 'yes',
      PrivateDevices: 'yes',
      PrivateTmp: 'yes',
      ProtectHome: 'yes',
      ProtectSystem: 'strict',
      CapabilityBoundingSet: '',
      RestrictAddressFamilies: 'AF_INET AF_INET6 AF_UNIX',
      SystemCallFilter: '@system-service',
    });
    // V8 makes pages executable.
    expect(settings.has('MemoryDenyWriteExecute')).toBe(false);
    const { limits, profiles } = await loadConfig({ env: {}, cwd: dirname(CONFIG_EXAMPLE), flags: {} });
    expect(Number(settings.get('TimeoutStopSec')) * 1000).toBeGreaterThan(
      stopDeadlineMs({ limits, profiles }),
    );
    expect(textOf(unit)).not.toMatch(/^Environment=\w*(KEY|TOKEN|URL)/m);
  });

  test('what the program writes is in folders that systemd makes for it', () => {
    const settings = [...textOf('almoner.env').matchAll(/^(\w+)=(.*)$/gm)].map(([, ...setting]) => setting);
    const known: readonly string[] = VARIABLES.map(({ name }) => name);
    for (const [name = ''] of settings) expect(known).toContain(name);
    const written = settings.filter(([name = '']) => /_(DATA|REPORTS|STATE)$/.test(name));
    expect(written.length).toBe(3);
    for (const [, path] of written) expect(path).toMatch(/^\/var\/lib\/almoner(-state)?(\/|$)/);
  });

  test('almoner-admin gives a command with the settings of the services, in the name of its caller', async () => {
    const folder = await tempFolder();
    const shim = (name: string, text: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      return join(folder, name);
    };
    shim('sudo', '[ "$1 $2" = "-u almoner" ] || exit 9; shift 2; exec "$@"');
    const told = shim('told', 'printf "%s\\n" "$ALMONER_OPERATOR" "$REDIS_URL" "$ALMONER_STATE" "$@"');
    const script = textOf('almoner-admin')
      .replace('/etc/almoner/almoner.env', resolve('deploy/systemd/almoner.env'))
      .replace('/usr/local/bin/almoner', told);
    const env = { PATH: `${folder}:${process.env.PATH}`, SUDO_USER: 'ada' };
    const said = execFileSync('sh', ['-c', script, 'almoner-admin', 'import', 'my file.csv'], {
      env,
      encoding: 'utf8',
    });
    expect(said.trimEnd().split('\n')).toEqual([
      'ada',
      'redis://:PASSWORD@127.0.0.1:6379/0',
      '/var/lib/almoner-state',
      'import',
      'my file.csv',
    ]);
  });

  test.each(UNITS)('the command of %s is one that almoner has', async (unit) => {
    const [program, command = '', ...options] = (settingsOf(unit).get('ExecStart') ?? '').split(' ');
    expect(program).toBe('/usr/local/bin/almoner');
    const { status, stdout } = await almoner([command, '--help']);
    expect(status).toBe(0);
    for (const option of options.filter((word) => word.startsWith('--'))) expect(stdout).toContain(option);
  });

  // The settings above are held on every machine. A machine with systemd also reads the units as systemd does.
  test('systemd finds no fault in the units', async () => {
    const folder = await tempFolder();
    const files = UNITS.map((unit) => {
      expect(textOf(unit)).toMatch(
        /^\[Unit\]$[\s\S]*^\[Service\]$[\s\S]*^\[Install\]\nWantedBy=multi-user\.target$/m,
      );
      const file = join(folder, unit);
      writeFileSync(file, textOf(unit).replaceAll('/usr/local/bin/almoner', process.execPath));
      return file;
    });
    const path = (process.env.PATH ?? '').split(':').map((one) => join(one, 'systemd-analyze'));
    const analyze = path.find((one) => existsSync(one));
    if (analyze !== undefined) execFileSync(analyze, ['verify', '--man=no', ...files], { stdio: 'pipe' });
  });
});
