import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { tempFolder } from '../support/temp-folder.js';

/** The real npm, asking a registry on this machine about our own lockfile. */
async function audited(listener: RequestListener): Promise<{ status: number | null; said: string }> {
  const registry = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void registry.close());
  await once(registry, 'listening');
  const address = registry.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const cwd = await tempFolder();
  for (const name of ['package.json', 'package-lock.json']) await cp(name, `${cwd}/${name}`);
  const child = spawn(process.execPath, [resolve('scripts/audit.mjs')], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: cwd,
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_userconfig: `${cwd}/npmrc`,
      npm_config_cache: `${cwd}/cache`,
      npm_config_fetch_retries: '0',
    },
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  await once(child, 'close');
  registry.closeAllConnections();
  return { status: child.exitCode, said };
}

/** Answers with one finding; npm then asks about the package itself. */
function finding(severity: string): RequestListener {
  const advisory = {
    id: 1,
    url: 'http://127.0.0.1/1',
    title: 'a hole',
    severity,
    vulnerable_versions: '>=0',
    cwe: [],
    cvss: { score: 9 },
  };
  return (request, response) => {
    const name = decodeURIComponent((request.url ?? '/').slice(1));
    const version = { name, version: '5.0.0', dist: {} };
    const known = { name, 'dist-tags': { latest: '5.0.0' }, versions: { '5.0.0': version } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.method === 'POST' ? { fastify: [advisory] } : known));
  };
}

describe('the audit of the dependencies', () => {
  test('passes where the registry knows nothing against them, and has asked for all of them', async () => {
    const asked = new Set<string>();
    const { status, said } = await audited(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(Buffer.from(chunk));
      const bytes = Buffer.concat(chunks);
      const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      const names: unknown = JSON.parse(text.toString('utf8') || '{}');
      for (const name of Object.keys(Object(names))) asked.add(name);
      response.end('{}');
    });
    expect(said).toContain('audited: nothing is known against what is installed with the package');
    expect(said).toContain('tools for building and testing included');
    expect(status).toBe(0);
    expect([...asked]).toEqual(expect.arrayContaining(['fastify', 'bullmq', 'vitest']));
  });

  test('fails on a grave finding and names the package', async () => {
    const { status, said } = await audited(finding('high'));
    expect(said).toContain('high: fastify');
    expect(status).toBe(1);
  });

  test('says so where the registry has no such answer, without naming it', async () => {
    const { status, said } = await audited((_, response) => response.writeHead(405).end());
    expect(said).toContain('not audited: the registry does not offer it');
    expect(said).not.toContain('127.0.0.1');
    expect(status).toBe(0);
  });

  test('says so where the registry does not answer', async () => {
    const { status, said } = await audited((request) => request.socket.destroy());
    expect(said).toContain('not audited: the registry did not answer');
    expect(status).toBe(0);
  });
});
