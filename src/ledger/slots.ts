import type { Books } from './books.js';

/** The slots of the pace that a session died with: the realm need not wait for their time-out. */
export async function freeSlots(books: Books, session: string): Promise<number> {
  return Number(await books.caller.script('free-slots', books.realm, [session]));
}
