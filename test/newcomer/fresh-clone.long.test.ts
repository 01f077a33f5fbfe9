import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { onDisk } from '../support/on-disk.js';
import { freshClone } from '../support/program/fresh-clone.js';
import { codeUnder } from '../support/readme.js';
import { all, firstFile, firstPayment, said } from './story.js';

/** From a fresh clone, which takes half a minute: install, rehearse, build, link. */
// An install is too large for memory.
onDisk();

const [twoCommands = ''] = codeUnder('README.md', 'Two commands', 'sh');

firstPayment(async (user, folder) => {
  const clone = join(folder, 'almoner');
  freshClone(clone);
  const rehearsed = await user.shell(said(twoCommands, 'npm ci && npm start'), clone);
  expect(rehearsed.status, all(rehearsed)).toBe(0);
  expect(rehearsed.stdout).toContain('REHEARSAL');
  const report = /^Next: open (.+report\.html)$/m.exec(rehearsed.stdout)?.[1] ?? '';
  expect(readFileSync(report, 'utf8')).toContain('<!doctype html>');
  const linked = await user.shell(said(firstFile, 'npm run build && npm link'), clone);
  expect(linked.status, all(linked)).toBe(0);
});
