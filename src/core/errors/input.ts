import { refused } from './entry.js';

/** A whole file or batch that is refused before anything is sent, and what is odd about a whole file. */
export const PLAN_ERRORS = {
  ALM_PLAN_CURRENCY: refused(
    'The realm’s profile does not pay in the chosen currency.',
    'Choose a currency of the profile, or add this one to its `currencies`.',
  ),
  ALM_PLAN_TIME: refused(
    'The batch’s start or finish time cannot be read, or is past.',
    'Write 18:00 or 2026-11-20 18:00 in the profile’s time zone, or give an offset.',
  ),
  ALM_PLAN_LATE: refused(
    'Warning: at the realm’s pace the batch finishes later than asked.',
    'Start earlier, make the file smaller, or ask the realm for a higher rate.',
  ),
  ALM_PLAN_LOOKS_PAID: refused(
    'Rows without references repeat orders of the last 30 days that were or may be paid. Fewer than five rows and a fifth of the file give a warning. More rows, a replacing row or a recovered batch refuse the file.',
    'Compare the named batches. --new-rows-only pays the other rows, --again LABEL all of them. A reference column prevents this.',
  ),
  ALM_PLAN_CHANGED: refused(
    'Other batches, or this one, changed after the preview. The file would not do what the preview showed.',
    'Plan the file again and confirm the new numbers.',
  ),
  ALM_PLAN_OTHER_ADDRESS: refused(
    'The same realm id was paid under another address, which has a ledger of its own.',
    'For the same realm, configure the named address. For a moved or another realm, pass --new-address once.',
  ),
  ALM_PLAN_MAYBE_FORGOTTEN: refused(
    'The file may have been paid: a person accepted in the last 30 days that payments were lost, or its recovered batch is incomplete.',
    'Check balances upstream. If part was paid, run `almoner references add paid.csv` with the old report first. Then run the file with `--again LABEL`. A rule pays again in its next period.',
  ),
  ALM_PLAN_KEPT_COLUMNS: refused(
    'A saved column mapping changes the meaning of this file, or would move a column with a standard name. A start without a preview (--yes, library, API) is refused; a person gets a warning.',
    'Repeat --map, or drop the saved mapping with --forget-map.',
  ),
  ALM_PLAN_IDS_DAMAGED: refused(
    'Many long ids end in zeros after digit 15: a spreadsheet has rounded them.',
    'Export the ids again from their source as text; rounding cannot be undone.',
  ),
  ALM_PLAN_OVER_BATCH_CAP: refused(
    'The file’s sum exceeds the realm’s cap for one batch (maxTokensPerBatch).',
    'Split the file, or raise the cap in the profile.',
  ),
  ALM_PLAN_SUM_TOO_LARGE: refused(
    'The file’s sum does not fit a signed 64-bit integer.',
    'Check the amounts; split the file if they are right.',
  ),
  ALM_PLAN_MEMBER_REPEATED: refused(
    'Warning: some members stand in more than one row.',
    'Check that they are meant to be paid more than once.',
  ),
  ALM_PLAN_MEMBER_GAINS_AND_LOSES: refused(
    'Warning: some members both gain and lose, and almoner does not promise an order between rows.',
    'Pass --in-order if the order matters, or split the file.',
  ),
  ALM_PLAN_ROW_INSIDE_CELL: refused(
    'Warning: a quoted cell looks like whole rows. almoner does not pay those.',
    'Look for a quote that was opened and closed in different rows.',
  ),
  ALM_PLAN_AMOUNT_UNUSUAL: refused(
    'Warning: an amount is more than 100 times the usual amount of the file.',
    'Check the named lines for a slipped decimal point or a pasted id.',
  ),
  ALM_PLAN_ID_ENDS_IN_ZEROS: refused(
    'Warning: a long id ends in zeros after digit 15, like an id that a spreadsheet rounded.',
    'Compare the named ids with their source.',
  ),
  ALM_PLAN_READ_AS: refused(
    'Warning: some cells are written unusually but have one meaning.',
    'Check that almoner read them as you mean them.',
  ),
  ALM_FILE_NOT_FOUND: refused('There is no such file.', 'Check the name and the folder.'),
  ALM_FILE_UNREADABLE: refused(
    'The file cannot be read.',
    'Check that it is a file and that you may read it.',
  ),
  ALM_FILE_CHANGED: refused(
    'The file was changed while it was being read.',
    'Wait until it is complete and run the command again.',
  ),
  ALM_FILE_TOO_LARGE: refused('The file is larger than the limit.', 'Split it into several files.'),
  ALM_FILE_TOO_MANY_ROWS: refused('The file has more rows than the limit.', 'Split it into several files.'),
  ALM_FILE_TOO_MANY_COLUMNS: refused(
    'The header has more columns than the limit.',
    'Remove columns that are not needed.',
  ),
  ALM_FILE_RECORD_TOO_LARGE: refused(
    'One record exceeds the limit, often through a quote that is never closed.',
    'Close the quote on the named line, or shorten the cell.',
  ),
  ALM_FILE_EMPTY: refused(
    'The file is empty.',
    'Export it again; a header line and at least one row are needed.',
  ),
  ALM_FILE_NO_ROWS: refused('There are no rows to pay.', 'Export the file again with its rows.'),
  ALM_FILE_ENCODING: refused(
    'The file is not UTF-8.',
    'Export it as "CSV UTF-8 (comma delimited)" in Excel, or choose UTF-8 where you save it.',
  ),
  ALM_FILE_NOT_CSV: refused(
    'The file is not a CSV file.',
    'Open it in its own program and export it as "CSV UTF-8".',
  ),
  ALM_FILE_LINE_ENDS: refused(
    'The lines end with a lone CR.',
    'Save the file with LF or CR LF line ends, for example as "CSV UTF-8".',
  ),
  ALM_FILE_QUOTES: refused(
    'Quotes do not match, so the end of a row is uncertain.',
    'Close the quote on the named line, and double each quote inside a quoted cell.',
  ),
  ALM_FILE_SEPARATOR: refused(
    'The sep= line names a delimiter that is not supported.',
    'Use a comma, a semicolon or a tab.',
  ),
  ALM_FILE_HEADER_MISSING: refused(
    'The file has no header line.',
    'Add a first line with the column names, at least member and tokens.',
  ),
  ALM_FILE_HEADER_BELOW: refused(
    'The first line is no header; a lower line looks like one.',
    'Name it with --header-line N, or remove the lines above it.',
  ),
  ALM_FILE_HEADER_LINE: refused(
    'The named header line does not exist, or no row starts there.',
    'Name the header’s line, counted from 1.',
  ),
  ALM_FILE_ROWS_ABOVE: refused(
    'Lines above the header look like rows of another table. almoner would not pay them.',
    'Give each table its own file, or delete the lines.',
  ),
  ALM_FILE_MEMBERS: refused(
    'The member table cannot be used.',
    'Correct the named line. The table needs a column member with ids, and a column wallet or handle.',
  ),
  ALM_FILE_MEND: refused(
    'These cells cannot be written into the file.',
    'Check the file again. If it still fails, correct it at its source.',
  ),
  ALM_FILE_COLUMN_MISSING: refused(
    'A column that is needed is missing.',
    'Add or rename the column, or name it with --map, for example --map tokens=Punkte.',
  ),
  ALM_FILE_COLUMN_MISSPELT: refused(
    'A column’s name is nearly one that has a meaning.',
    'Rename the column as suggested, or to something clearly different.',
  ),
  ALM_FILE_COLUMN_TWICE: refused(
    'Two columns mean the same.',
    'Remove or rename one of them, or say with --map which one counts.',
  ),
  ALM_FILE_MAP: refused(
    'A --map names an unknown column or meaning.',
    'Write --map MEANING=COLUMN with a column of the header.',
  ),
  ALM_FILE_IS_RESULTS: refused(
    'The file is a report’s results.csv: most of its rows may be paid.',
    'Run failed.csv or unprocessed.csv of that report, or the original file.',
  ),
  ALM_PLAN_REFERENCE_BUSY: refused(
    'An unfinished import holds some of these references.',
    'Wait for it, run it again, or cancel it.',
  ),
  ALM_PLAN_NOT_EXPECTED: refused(
    'The file differs from --expect-rows or --expect-tokens.',
    'Check the file; if it is right, correct the expectation.',
  ),
  ALM_PLAN_FAULTS: refused(
    'The file has faults, and almoner refused all of it. Nothing was sent.',
    'Correct the listed places, or leave faulty rows out with --skip-invalid.',
  ),
  ALM_PLAN_OVER_DAY_CAP: refused(
    'Warning: the batch exceeds the rest of the realm’s daily cap.',
    'It halts at the cap; resume it the next day (UTC).',
  ),
  ALM_PLAN_WALLET_NOT_FOUND: refused(
    'The realm knows no member with a wallet of the table, or does not say.',
    'Correct the member table, or ask the member for the wallet that the realm has.',
  ),
  ALM_PLAN_MEMBER_NOT_FOUND: refused(
    'The realm does not know the member.',
    'Check the id; the order would be refused.',
  ),
  ALM_PLAN_BALANCE_TOO_SMALL: refused(
    'The member’s balance is too small for what the file takes away.',
    'Lower the amount, or pay the member first.',
  ),
};
