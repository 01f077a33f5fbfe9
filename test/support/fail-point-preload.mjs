// Loaded before the program by tests only: FAIL_AT=point:signal:n ends or freezes the process when it
// reaches the fail point for the n-th time. Nothing of this is in the program itself.
import { pathToFileURL } from 'node:url';

const [wanted, signal, nth] = (process.env.FAIL_AT ?? '').split(':');
const { onFailPoint } = await import(pathToFileURL(process.env.FAIL_POINTS ?? '').href);
let hits = 0;
onFailPoint((point) => {
  if (point !== wanted) return;
  hits += 1;
  if (hits === Number(nth)) process.kill(process.pid, signal);
});
