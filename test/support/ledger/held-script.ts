import type { App } from '../../../src/runtime/app.js';

/** Stops an app before it calls a script, like a process frozen at that point, until `goOn` is called. */
export function heldBefore({ scripts }: App, name: string): { goOn: () => void; held: Promise<void> } {
  const script = scripts.script.bind(scripts);
  let [isHeld, goOn] = [() => {}, () => {}];
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const going = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  scripts.script = async (...call) => {
    if (call[0] === name) {
      isHeld();
      await going;
    }
    return script(...call);
  };
  return { goOn, held };
}
