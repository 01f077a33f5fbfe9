import { CATALOGUE } from '../../core/errors/catalogue.js';
import { UNDO } from '../../core/ids.js';
import { planning, reading, steering } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import { contextOf, idOf, type OrderPlace } from '../orders/find-orders.js';
import type { OrderRow } from '../views/order.js';
import { orderRow } from './order-row.js';

/** One order with everything it met, oldest first, and what can be done about it now. */
export async function orderStory(place: OrderPlace) {
  const { ref, index } = place;
  const [row, history, { arrivesUntil, replacedBy }, arrivals] = await Promise.all([
    reading.orders.row(await contextOf(ref), index),
    reading.orders.details(ref, index),
    reading.orders.record(ref, index),
    planning.earlier.arrivals(ref.ledger),
  ]);
  const shown = orderRow(ref, row);
  const other =
    replacedBy === null
      ? null
      : steering.deadLetters.standInText(await steering.deadLetters.standIn(ref.ledger, replacedBy));
  return {
    ...shown,
    /** The same as `status`, under its name in results.csv. */
    httpStatus: row.httpStatus,
    history,
    next:
      other === null ? waysOut(idOf(place), shown, arrivals.until(arrivesUntil)) : [`${sentence(other)}.`],
  };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function waysOut(
  order: string,
  { state, marks, batch, reference, class: code }: OrderRow,
  arrivesUntil: number | null,
): string[] {
  const early = arrivesUntil === null ? '' : ` (not before ${isoTime(arrivesUntil)}: its request may arrive)`;
  const advice = code === null ? [] : [CATALOGUE[code].next];
  if (marks.includes('discarded')) return ['It was discarded; put its row into a new file to pay it.'];
  switch (state) {
    case 'refused':
    case 'exhausted':
      return [
        ...advice,
        `almoner dead retry ${order}${early}`,
        `almoner dead discard ${order} --reason …`,
        `almoner dead export --batch ${batch}, mend the row and run that file`,
      ];
    case 'doubt':
      return [`almoner doubt show ${order}`, `almoner doubt resolve ${order} --paid|--unpaid --reason …`];
    case 'unknown':
      return [
        `almoner status ${batch}`,
        `almoner doubt raise ${order} --reason … where nothing resolves it by itself`,
      ];
    case 'planned':
    case 'sending':
      return [`almoner status ${batch}`];
    case 'paid':
      return reference?.startsWith(UNDO) === true
        ? [CATALOGUE.ALM_ROW_UNDO_OF_UNDO.next]
        : [`almoner undo ${batch}`];
    default:
      return ['Mend the row and run it in a new file.'];
  }
}
