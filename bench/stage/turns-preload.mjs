// Preloaded into a process that is watched: the processor time that its main thread used between two turns of a
// timer. Unlike the time of an answer, it does not depend on what else the machine does.
import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const used = () =>
  Number(readFileSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

if (isMainThread) {
  let before = used();
  setInterval(() => {
    const now = used();
    appendFileSync(process.env.TURNS_FILE, `${Date.now()} ${now - before}\n`);
    before = used();
  }, 5).unref();
}
