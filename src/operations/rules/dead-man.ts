import type { App } from '../../runtime/app.js';
import type { SecretSource } from '../../runtime/config/model.js';

/** A service outside is told that all is well; where it hears nothing for a while it raises the alarm itself. */
const ANSWER_MS = 10_000;

/**
 * Calls the configured URL, one call at a time and without anybody waiting for it. The URL is a secret: whoever knows it can
 * say that all is well, so that neither it nor an error that may quote it is logged.
 */
export function deadManPing(app: App, stop: AbortSignal): () => void {
  const { deadMan } = app.config;
  let isCalling = false;
  const call = async (source: SecretSource) => {
    try {
      const { status, ok, body } = await fetch(app.secret(source), {
        redirect: 'manual',
        headers: { 'user-agent': 'almoner' },
        signal: AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)]),
      });
      await body?.cancel();
      if (!ok) app.logger.warn({ status }, 'the dead-man URL did not take the call');
    } catch {
      if (!stop.aborted) app.logger.warn('the dead-man URL could not be called');
    } finally {
      isCalling = false;
    }
  };
  return () => {
    if (deadMan === null || isCalling) return;
    isCalling = true;
    void call(deadMan);
  };
}
