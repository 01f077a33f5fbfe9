import { refused } from './entry.js';

/** Faults and warnings of single CSV rows and cells. */
export const ROW_ERRORS = {
  ALM_ROW_FIELD: refused(
    'A row from a program has an unknown field or a wrong type.',
    'Give ids, references and reasons as strings, tokens as a safe integer, a bigint or digits.',
  ),
  ALM_ROW_TOKENS_INVALID: refused(
    'The amount is not a whole number of points.',
    'Write plain digits, with a leading minus to subtract.',
  ),
  ALM_ROW_TOKENS_ZERO: refused(
    'The amount is zero; there is nothing to pay.',
    'Remove the row or write the amount.',
  ),
  ALM_ROW_TOKENS_TOO_LARGE: refused(
    'The amount is above 9007199254740991, the largest that is exact.',
    'Check the amount; often an id was pasted into the wrong column.',
  ),
  ALM_ROW_TOKENS_OVER_CAP: refused(
    'The amount is above the realm’s cap for one order (maxTokensPerOrder).',
    'Check the amount, or raise the cap in the realm’s profile.',
  ),
  ALM_ROW_ID_INVALID: refused(
    'An id is not made of decimal digits alone.',
    'Write the id as plain digits, exactly as its source shows it.',
  ),
  ALM_ROW_ID_LEADING_ZERO: refused(
    'An id begins with a zero. A realm that reads numbers would take it for another member.',
    'Write the id as its source shows it, without added zeros.',
  ),
  ALM_ROW_ID_DIGITS_LOST: refused(
    'A spreadsheet wrote the id in scientific notation; its last digits are lost.',
    'Format the empty id column as text, enter the ids, and export again.',
  ),
  ALM_ROW_OP_UNKNOWN: refused(
    'The op is not credit, debit or transfer.',
    'Write credit, debit or transfer, or leave the cell empty.',
  ),
  ALM_ROW_OP_AGAINST_SIGN: refused(
    'The op contradicts the sign of the amount.',
    'credit and transfer take positive amounts; debit takes 5 or -5.',
  ),
  ALM_ROW_RECIPIENT_MISSING: refused(
    'The row has no recipient, and nothing says that it needs none.',
    'Fill in the recipient, or an op column with credit or debit.',
  ),
  ALM_ROW_RECIPIENT_UNEXPECTED: refused(
    'A credit or debit has a recipient.',
    'Empty the recipient, or write transfer as the op.',
  ),
  ALM_ROW_MEMBER_UNKNOWN: refused(
    'The member table lacks this wallet or handle.',
    'Add it to the table, or correct the cell.',
  ),
  ALM_ROW_MEMBER_AMBIGUOUS: refused(
    'The member table has two members for one wallet or handle.',
    'Remove one of the two rows.',
  ),
  ALM_ROW_SELF_TRANSFER: refused('Member and recipient are the same.', 'Correct one of the two ids.'),
  ALM_ROW_REALM_OTHER: refused(
    'The row names another realm than this run.',
    'Run it with --realm of that realm, or remove the row.',
  ),
  ALM_ROW_CURRENCY_OTHER: refused(
    'The row names another currency than this run.',
    'Choose that currency with `--currency`, if the profile lists it, or remove the row.',
  ),
  ALM_ROW_REFERENCE_INVALID: refused(
    'The reference cannot be used as a key.',
    'Use up to 200 visible characters; `undo:` is for almoner’s own undo files.',
  ),
  ALM_ROW_REFERENCE_CONFLICT: refused(
    'Two different orders have the same reference.',
    'Give each order a reference of its own.',
  ),
  ALM_ROW_ORDER_INVALID: refused(
    'The almoner_order cell does not hold an order’s id.',
    'Leave the cell as the report wrote it, or empty it.',
  ),
  ALM_ROW_TOO_SHORT: refused(
    'The row has fewer cells than the header.',
    'Fill up the row, also with empty cells.',
  ),
  ALM_ROW_TOO_LONG: refused(
    'The row has more cells than the header.',
    'Put cells that hold the delimiter into quotes.',
  ),
  ALM_ROW_QUOTES: refused(
    'A quote stands in a wrong place.',
    'Quote the whole cell and double each quote inside it.',
  ),
  ALM_ROW_CARRIAGE_RETURN: refused(
    'The row holds a CR that is not part of a line end.',
    'Save the file with LF or CR LF line ends throughout.',
  ),
  ALM_ROW_DUPLICATE: refused(
    'An order with the same content has this reference; almoner does not pay it again.',
    'Nothing to do; the named order pays or has paid it.',
  ),
  ALM_ROW_REFERENCE_SPENT: refused(
    'An order with other content has this reference.',
    'Give the row its own reference, or leave it out.',
  ),
  ALM_ROW_ORDER_UNKNOWN: refused(
    'The realm’s ledger does not know the order in almoner_order.',
    'Use the ledger of the report (data folder or REDIS_URL), or remove the column.',
  ),
  ALM_ROW_ORDER_MAY_BE_PAID: refused(
    'The order in almoner_order, or the holder of the reference, was or may be paid.',
    'Leave the row out. Settle that order first (`almoner status`, `almoner doubt list`), and wait for its settle time.',
  ),
  ALM_ROW_ORDER_ARCHIVED: refused(
    'The row replaces an order of an archived batch, which cannot be marked any more.',
    'Check it with `almoner report`. To pay it, empty almoner_order and give the row a reference.',
  ),
  ALM_ROW_ORDER_REPLACED: refused(
    'The order in almoner_order was already put into another file.',
    'Leave the row out, or mend the order of that batch.',
  ),
  ALM_ROW_ORDER_TWICE: refused(
    'Two rows name the same order in almoner_order.',
    'Keep one row. If you mean both, empty the second almoner_order and give that row a reference.',
  ),
  ALM_ROW_REFERENCE_OTHER: refused(
    'The row replaces an order but has another reference.',
    'Keep the reference of the report. For another payment, empty almoner_order.',
  ),
  ALM_ROW_UNDO_OTHER: refused(
    'The row’s reference undoes an order, but the row is not its exact inverse.',
    'Keep undo rows as `almoner undo BATCH` wrote them. Give other rows their own reference.',
  ),
  ALM_ROW_UNDO_OF_UNDO: refused(
    'The row undoes an undo.',
    'To give the points again, make a new order with its own reference.',
  ),
  ALM_ROW_UNDO_NOT_PAID: refused(
    'The row undoes an order that is not paid.',
    'Make the undo file again with `almoner undo BATCH`.',
  ),
};
