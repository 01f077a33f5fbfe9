import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { Program } from '../support/program/program.js';

/** Names that try to leave their folder, and folders that were made to lead elsewhere. */
const NAMES = ['../outside', '..', '.', '/etc', 'a/b', 'a\\b', 'a\u0000b', '%2e%2e', '-rf', 'A'.repeat(300)];

describe('batch names', () => {
  let world: Program;
  beforeAll(async () => {
    world = await Program.start({ members: [{ member: '1', tokens: 0 }] });
    await world.file('a.csv', 'member,tokens\n1,5\n');
  });
  afterAll(() => world.end());

  test('that are no names are refused, and nothing is written or sent', async () => {
    for (const name of ['../outside', '..', '/etc', 'a/b', '-rf']) {
      const ran = await world.run('run', 'a.csv', '--yes', `--batch-id=${name}`);
      expect([name, ran.status]).toEqual([name, 2]);
    }
    expect(await world.applied()).toEqual([]);
    expect(existsSync(join(world.folder, 'reports'))).toBe(false);
    expect(existsSync(join(world.folder, 'outside'))).toBe(false);
  });

  test('asked for in any command are looked up, never opened', async () => {
    for (const command of [
      ['status'],
      ['report'],
      ['undo'],
      ['pause'],
      ['dead', 'export', '--batch'],
      ['dead', 'show'],
    ]) {
      const ran = await world.run(...command, '../../etc/passwd');
      expect([command, ran.status]).toEqual([command, 2]);
      expect(ran.stdout + ran.stderr).not.toContain('root:');
    }
  });

  test('a report folder that is a link is not written through', async () => {
    const elsewhere = join(world.folder, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'results.csv'), 'precious');
    mkdirSync(join(world.folder, 'reports'), { recursive: true });
    symlinkSync(elsewhere, join(world.folder, 'reports', 'linked'));
    const ran = await world.run('run', 'a.csv', '--yes', '--batch-id', 'linked');
    expect(ran.stdout + ran.stderr).toContain('link');
    expect(readdirSync(elsewhere)).toEqual(['results.csv']);
    expect(readFileSync(join(elsewhere, 'results.csv'), 'utf8')).toBe('precious');
    rmSync(join(world.folder, 'reports', 'linked'));
    const again = await world.run('report', 'linked');
    expect(again.status, again.stderr).toBe(0);
  });
});

describe('downloads of the desk', () => {
  let desk: TestDesk;
  let batch = '';
  beforeAll(async () => {
    desk = await startDesk();
    const csv = 'member,tokens\n1,5\n';
    const uploaded = await desk.call('/api/uploads?name=a.csv', { method: 'POST', body: csv });
    const { upload } = z.object({ upload: z.string() }).parse(uploaded.json());
    const body = { rows: 1, tokens: '5' };
    const started = await desk.call(`/api/uploads/${upload}/start`, { method: 'POST', body });
    batch = z.object({ summary: z.object({ batch: z.string() }) }).parse(started.json()).summary.batch;
    await desk.call(`/api/batches/${batch}/report`, { method: 'POST' });
  });
  afterAll(() => desk.close());

  test('are files of the report by their own names, and nothing else', async () => {
    expect((await desk.call(`/api/batches/${batch}/files/report.html`)).status).toBe(200);
    for (const name of [
      ...NAMES,
      '../../../../etc/passwd',
      'report.html/../../secret',
      '.git',
      'results.csv\u0000.html',
    ]) {
      const reply = await desk.call(`/api/batches/${batch}/files/${encodeURIComponent(name)}`);
      expect([name, reply.status >= 400 && reply.status < 500]).toEqual([name, true]);
    }
  });

  test('a file that was replaced by a link is not followed', async () => {
    const secret = join(desk.folder, 'secret');
    writeFileSync(secret, 'the secret');
    const file = join(desk.folder, 'reports', batch, 'audit.csv');
    rmSync(file);
    symlinkSync(secret, file);
    const reply = await desk.call(`/api/batches/${batch}/files/audit.csv`);
    expect(reply.text).not.toContain('the secret');
    expect(reply.status).toBe(404);
  });
});

test('a rule’s name cannot lead out of the jobs folder', async () => {
  const desk = await startDesk();
  try {
    for (const name of ['../secret', '..%2fsecret', '%2e%2e/secret']) {
      const reply = await desk.call(`/api/rules/${encodeURIComponent(name)}/approve`, {
        method: 'POST',
        body: {},
      });
      expect([name, reply.status >= 400 && reply.status < 500]).toEqual([name, true]);
    }
  } finally {
    await desk.close();
  }
});
