import { allWaiting } from '../../operations/batches/waiting.js';
import { recoverRealms } from '../../operations/services/recover.js';
import { storeCommand } from '../frame/open-app.js';
import { flag, text } from '../frame/options.js';
import { isFine, lostLine, recoverLines, recoverNext } from '../text/recover-text.js';

export const recover = storeCommand({
  name: 'recover',
  description:
    'After the store was restarted, failed over or restored: merges the journals of this machine and lets orders be sent again where nothing is missing.',
  options: {
    acceptMoved: flag(
      'the data folder was moved whole, and nothing was paid from the old one since: nothing is missing',
    ),
    acceptMissing: text(
      'SESSION',
      'this session is lost with its journal: what it was sending becomes unknown; `removed`: journals, or a newer data folder, are gone for good',
    ),
  },
  examples: ['almoner recover', 'almoner recover --accept-missing 0f3a9c21b7de'],
  run: (context) => async (app) => {
    const { acceptMissing = null, acceptMoved } = context.options;
    const result = await recoverRealms(app, acceptMissing, acceptMoved);
    const lost = (await allWaiting(app)).flatMap(({ waiting }) =>
      waiting.filter(({ session }) => session !== null),
    );
    context.output.print({
      json: { ...result, waiting: lost },
      text: [...recoverLines(result), ...lost.map(lostLine)],
      next: recoverNext(result, lost),
    });
    return result.realms.every(isFine) ? 0 : 5;
  },
});
