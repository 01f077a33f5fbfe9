// Makes sure that a Chromium is there for the browser tests. Nothing else needs one.
import { fileURLToPath } from 'node:url';
import { canRun, ensureProgram, findProgram, orExit } from './system-packages.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FURTHER_FOLDERS = ['/usr/local/bin', '/opt/google/chrome', '/snap/bin', '/opt/homebrew/bin'];
const MAC_PROGRAMS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const WAYS = `Any one of these will do:
  - Debian:          sudo apt-get install chromium
  - macOS:           brew install --cask google-chrome
  - Google Chrome:   from https://www.google.com/chrome
  - already there:   CHROMIUM_PATH=/path/to/chromium npm test
(docker compose runs almoner without one; only its tests need a browser.)`;

export function ensureChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && named !== '') {
    if (!canRun(named)) throw new Error(`CHROMIUM_PATH names no program: ${named}\n${WAYS}`);
    return named;
  }
  return ensureProgram({
    title: 'Chromium',
    find: () => findProgram(NAMES, FURTHER_FOLDERS) ?? MAC_PROGRAMS.find(canRun) ?? null,
    apt: ['chromium'],
    brew: ['--cask', 'google-chrome'],
    ways: WAYS,
  }).path;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(`Chromium: ${orExit(ensureChromium)}`);
