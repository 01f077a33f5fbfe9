import type { ErrorEntry } from './entry.js';

/** Faults and warnings of single CSV rows and cells. */
export const ROW_ERRORS = {
  ALM_ROW_TOKENS_INVALID: {
    means: 'The amount is not a whole number of points.',
    next: 'Write plain digits, with a leading minus to subtract.',
    exit: 3,
  },
  ALM_ROW_TOKENS_ZERO: {
    means: 'The amount is zero; there is nothing to pay.',
    next: 'Remove the row or write the amount.',
    exit: 3,
  },
  ALM_ROW_TOKENS_TOO_LARGE: {
    means: 'The amount is above 9007199254740991, the largest that is exact.',
    next: 'Check the amount; often an id was pasted into the wrong column.',
    exit: 3,
  },
  ALM_ROW_TOKENS_OVER_CAP: {
    means: 'The amount is above the realm’s cap for one order (maxTokensPerOrder).',
    next: 'Check the amount, or raise the cap in the realm’s profile.',
    exit: 3,
  },
  ALM_ROW_ID_INVALID: {
    means: 'A member or recipient id is not made of decimal digits alone.',
    next: 'Write the id as plain digits, exactly as its source shows it.',
    exit: 3,
  },
  ALM_ROW_ID_DIGITS_LOST: {
    means: 'A spreadsheet wrote the id in scientific notation; its last digits are lost.',
    next: 'Format the id column as text before the ids are put in, and export again.',
    exit: 3,
  },
  ALM_ROW_OP_UNKNOWN: {
    means: 'The op is not credit, debit or transfer.',
    next: 'Write credit, debit or transfer, or leave the cell empty.',
    exit: 3,
  },
  ALM_ROW_OP_AGAINST_SIGN: {
    means: 'The op and the sign of the amount contradict each other.',
    next: 'credit and transfer take positive amounts only; debit takes 5 or -5.',
    exit: 3,
  },
  ALM_ROW_RECIPIENT_MISSING: {
    means: 'The row has no recipient, and nothing says that it needs none.',
    next: 'Fill in the recipient, or write credit or debit into an op column.',
    exit: 3,
  },
  ALM_ROW_RECIPIENT_UNEXPECTED: {
    means: 'A credit or debit has a recipient.',
    next: 'Empty the recipient, or write transfer as the op.',
    exit: 3,
  },
  ALM_ROW_SELF_TRANSFER: {
    means: 'Member and recipient are the same.',
    next: 'Correct one of the two ids.',
    exit: 3,
  },
  ALM_ROW_REALM_OTHER: {
    means: 'The row is meant for another realm than the one of this run.',
    next: 'Run it with --realm of that realm, or remove the row.',
    exit: 3,
  },
  ALM_ROW_CURRENCY_OTHER: {
    means: 'The row is meant for another currency than the one of this run.',
    next: 'Set realmPointId in the realm’s profile to that currency, or remove the row.',
    exit: 3,
  },
  ALM_ROW_REFERENCE_INVALID: {
    means: 'The reference cannot be used as a key.',
    next: 'Use up to 200 visible characters; `undo:` is for almoner’s own undo files.',
    exit: 3,
  },
  ALM_ROW_REFERENCE_CONFLICT: {
    means: 'The same reference stands for another order.',
    next: 'Give each order a reference of its own; the same one only for the same order.',
    exit: 3,
  },
  ALM_ROW_ORDER_INVALID: {
    means: 'The almoner_order cell does not hold an order’s id.',
    next: 'Leave the cell as the report wrote it, or empty it.',
    exit: 3,
  },
  ALM_ROW_TOO_SHORT: {
    means: 'The row has fewer cells than the header.',
    next: 'Fill up the row, also with empty cells.',
    exit: 3,
  },
  ALM_ROW_TOO_LONG: {
    means: 'The row has more cells than the header.',
    next: 'Put cells that hold the delimiter into quotes.',
    exit: 3,
  },
  ALM_ROW_QUOTES: {
    means: 'A quote stands where none may stand.',
    next: 'Put the whole cell into quotes and write each quote inside it twice.',
    exit: 3,
  },
  ALM_ROW_CARRIAGE_RETURN: {
    means: 'The row holds a CR that is not part of a line end.',
    next: 'Save the file with LF or CR LF line ends throughout.',
    exit: 3,
  },
  ALM_ROW_DUPLICATE: {
    means: 'The row’s reference is already spent by an order with the same content; it is not paid again.',
    next: 'Nothing to do; the named order pays or has paid it.',
    exit: 3,
  },
  ALM_ROW_REFERENCE_SPENT: {
    means: 'The row’s reference is already spent by an order with other content.',
    next: 'Give the row a reference of its own, or leave it out.',
    exit: 3,
  },
  ALM_ROW_ORDER_UNKNOWN: {
    means: 'The order in almoner_order is not in the books of this realm.',
    next: 'Use the books (data folder or REDIS_URL) that the report came from, or remove the column.',
    exit: 3,
  },
  ALM_ROW_ORDER_MAY_BE_PAID: {
    means: 'The order in almoner_order, or the one that keeps the reference, was paid or may still be paid.',
    next: 'Leave the row out; settle the order first (`almoner status`, `almoner doubt list`), and wait where its request may still arrive.',
    exit: 3,
  },
  ALM_ROW_ORDER_ARCHIVED: {
    means:
      'The row stands in for an order of a batch that is archived, and can no longer be marked as replaced.',
    next: 'Look the order up with `almoner report`; to pay it, empty its almoner_order cell and give it a reference.',
    exit: 3,
  },
  ALM_ROW_ORDER_REPLACED: {
    means: 'The order in almoner_order was already put into another file.',
    next: 'Leave the row out, or mend the order of that batch.',
    exit: 3,
  },
  ALM_ROW_ORDER_TWICE: {
    means: 'The same order stands in almoner_order on two rows of the file; both would pay it.',
    next: 'Leave one of the two rows; where the second is meant as well, empty its almoner_order cell and give it a reference.',
    exit: 3,
  },
  ALM_ROW_REFERENCE_OTHER: {
    means: 'The row stands in for an order, and not under that order’s reference, which would stay free.',
    next: 'Leave the reference as the report wrote it; where the row is another payment, empty its almoner_order cell.',
    exit: 3,
  },
  ALM_ROW_UNDO_OTHER: {
    means: 'The row’s reference says that it undoes an order, and it is not what takes that order back.',
    next: 'Leave undo rows as `almoner undo BATCH` wrote them; give any other row a reference of its own.',
    exit: 3,
  },
  ALM_ROW_UNDO_OF_UNDO: {
    means: 'The row undoes an order that is itself an undo.',
    next: 'To give the points again, make a new order with a reference of its own.',
    exit: 3,
  },
  ALM_ROW_UNDO_NOT_PAID: {
    means: 'The row undoes an order that is not paid.',
    next: 'Make the undo file again with `almoner undo BATCH`.',
    exit: 3,
  },
} as const satisfies Record<string, ErrorEntry>;
