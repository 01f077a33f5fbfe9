import type { App } from '../../../src/runtime/app.js';

/** Makes an import die before it opens its batch, or after it has stored its first block. */
export function dying({ scripts }: App, at: 'opening' | 'storing'): Promise<void> {
  let [dead, die] = [false, () => {}];
  const death = new Promise<void>((resolve) => {
    die = () => {
      dead = true;
      resolve();
    };
  });
  const [script, send] = [scripts.script.bind(scripts), scripts.redis.sendCommand.bind(scripts.redis)];
  scripts.script = async (...call) => {
    const [name, , args] = call;
    if (name === 'open-batch' && at === 'opening') die();
    if (name === 'put-block' && args[2] !== 0) await death;
    const reply = await script(...call);
    if (name === 'put-block') die();
    return reply;
  };
  scripts.redis.sendCommand = (sent, stream) => {
    if (dead && sent.name !== 'quit') throw new TypeError('this process is dead');
    return send(sent, stream);
  };
  return death;
}
