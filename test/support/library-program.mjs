// A program that imports the library and pays rows of 300000000000000000 + index. It calls no process.exit: it ends
// when nothing is left running. Arguments: the built library, how many rows, after how many payments it closes (it
// also does when it is asked to by SIGTERM), and what its references begin with.
import { setTimeout as sleep } from 'node:timers/promises';

const [library, rows, closeAfter, event = 'event'] = process.argv.slice(2);
const { open } = await import(library);
const almoner = await open({ operator: 'program' });
let closed;
process.once('SIGTERM', () => (closed ??= almoner.close()));
const status = await almoner
  .pay(
    {
      rows: Array.from({ length: Number(rows) }, (_, index) => ({
        member: String(300_000_000_000_000_000n + BigInt(index)),
        tokens: 1 + index,
        reference: `${event}-${index}`,
      })),
    },
    {
      onProgress({ counts }) {
        if (closeAfter && (counts.paid ?? 0) >= Number(closeAfter)) closed ??= almoner.close();
      },
    },
  )
  .catch(({ code }) => ({ thrown: code }));
// What the library itself would have said by now stands before this line.
await sleep(0);
console.log(JSON.stringify(status));
await almoner.close();
await closed;
