import { refused } from './entry.js';

/** A whole file or batch that is refused before anything is sent, and what is odd about a whole file. */
export const PLAN_ERRORS = {
  ALM_PLAN_CURRENCY: refused(
    'The realm’s profile does not pay in the currency that was chosen.',
    'List it under `currencies` of the profile if the realm has it, or choose one of those that stand there.',
  ),
  ALM_PLAN_TIME: refused(
    'The time at which the batch is to begin, or to be over, cannot be read or is over.',
    'Write it as 18:00 or 2026-11-20 18:00, in the time zone of the realm’s profile, or with an offset.',
  ),
  ALM_PLAN_LATE: refused(
    'At the realm’s pace the batch would be over later than it should be. Only a warning.',
    'Begin earlier, make the file smaller, or ask the realm for a higher rate.',
  ),
  ALM_PLAN_LOOKS_PAID: refused(
    'Rows without references repeat orders of the last 30 days that are paid or may still be: from five rows or a fifth of them on, and at the first that stands in for an order, the file is refused; below that it is a warning. Or equal rows of a file stand in for orders of two batches, or its own batch was recovered from journals and is archived or cancelled.',
    'Look at the named batches. --new-rows-only pays the other rows, and given again goes on with them; --again LABEL pays all of them on purpose. A file that is meant to repeat takes a label each time, or a reference column.',
  ),
  ALM_PLAN_CHANGED: refused(
    'Between the preview and the start other batches were sealed, cancelled or refused, or the file’s own was started and stands still, and the file would not do what was shown.',
    'Plan the file again, look at the new numbers and confirm those.',
  ),
  ALM_PLAN_OTHER_ADDRESS: refused(
    'The same realm id was paid before under another address (localhost for 127.0.0.1, a moved domain), whose books are not these.',
    'If it is the same realm at the same place, configure the named address: its books know what was paid. If the realm has moved, or is another one with the same id, pass --new-address once.',
  ),
  ALM_PLAN_MAYBE_FORGOTTEN: refused(
    'The store has forgotten payments that no journal knows, as a person accepted in the last 30 days, or that this file’s batch was cancelled and followed by another: it may have been paid.',
    'Look at the balances of some of its members upstream. If part was paid, first run `almoner references add paid.csv` with the old report, then run the file with `--again LABEL`. If nothing was paid, run it with `--again LABEL`. A rule pays again in its next period.',
  ),
  ALM_PLAN_KEPT_COLUMNS: refused(
    'A mapping that was kept under the file’s header changes what the file means, or would close or move a column that bears the name of a meaning. A warning in a plan that a person sees; a fault with --yes, in the library, and at a start through the API that does not name the plan that was shown.',
    'Say the --map again, with the column that is meant now, or pass --forget-map. A realm’s profile names columns for good.',
  ),
  ALM_PLAN_IDS_DAMAGED: refused(
    'Many long ids end in zeros after digit 15: a spreadsheet has rounded them.',
    'Export the ids again from their source as text; rounding cannot be undone.',
  ),
  ALM_PLAN_OVER_BATCH_CAP: refused(
    'The sum of the file is above the realm’s cap for one batch (maxTokensPerBatch).',
    'Split the file, or raise the cap in the realm’s profile.',
  ),
  ALM_PLAN_SUM_TOO_LARGE: refused(
    'The sum of the file does not fit a signed 64-bit integer.',
    'Check the amounts; split the file if they are right.',
  ),
  ALM_PLAN_MEMBER_REPEATED: refused(
    'Warning: some members stand in more than one row.',
    'Check that they are meant to be paid more than once.',
  ),
  ALM_PLAN_MEMBER_GAINS_AND_LOSES: refused(
    'Warning: some members both gain and lose in this file, and order between rows is not promised.',
    'Pass --in-order if the order matters, or split the file.',
  ),
  ALM_PLAN_ROW_INSIDE_CELL: refused(
    'Warning: a quoted cell holds what looks like whole rows, which are not paid.',
    'Look for a quote that was opened and closed in different rows.',
  ),
  ALM_PLAN_AMOUNT_UNUSUAL: refused(
    'Warning: an amount is more than 100 times the usual amount of the file.',
    'Check the named lines for a slipped decimal point or a pasted id.',
  ),
  ALM_PLAN_ID_ENDS_IN_ZEROS: refused(
    'Warning: a long id ends in zeros after digit 15, as ids do that a spreadsheet has rounded.',
    'Compare the named ids with their source.',
  ),
  ALM_PLAN_READ_AS: refused(
    'Warning: cells are not written plainly, and have one plain meaning all the same.',
    'Look whether they are read as they are meant.',
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
    'One record is larger than the limit; often a quote was opened and never closed.',
    'Look at the named line; close the quote or shorten the cell.',
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
    'The file is not a CSV file but something else.',
    'Open it in the program it belongs to and export it as "CSV UTF-8".',
  ),
  ALM_FILE_LINE_ENDS: refused(
    'The lines end with a lone CR, as on very old Macs.',
    'Save the file with LF or CR LF line ends, for example as "CSV UTF-8".',
  ),
  ALM_FILE_QUOTES: refused(
    'Quotes do not match, so that it is not certain where a row ends.',
    'Mend the named line: close the quote, and write a quote inside a quoted cell twice.',
  ),
  ALM_FILE_SEPARATOR: refused(
    'The sep= line names a delimiter that is not supported.',
    'Use a comma, a semicolon or a tab.',
  ),
  ALM_FILE_HEADER_MISSING: refused(
    'The file has no header line.',
    'Put a first line with the names of the columns, at least member and tokens.',
  ),
  ALM_FILE_HEADER_BELOW: refused(
    'The first line is no header; a line below it looks like one.',
    'Say which line the header is with --header-line N, or take out what stands above it.',
  ),
  ALM_FILE_HEADER_LINE: refused(
    'The line that was named as the header is not there, or no row begins on it.',
    'Name the line on which the header stands, counted from 1.',
  ),
  ALM_FILE_ROWS_ABOVE: refused(
    'Lines above the header look like rows of another table, and would not be paid.',
    'Put each table into a file of its own, or the rows below the header in its columns; a line that is no row is deleted.',
  ),
  ALM_FILE_MEMBERS: refused(
    'The table of members cannot be used.',
    'Mend the named line of the table: it needs a column member with the ids, and a column wallet or handle.',
  ),
  ALM_FILE_MEND: refused(
    'Cells cannot be put into the file so.',
    'Look at the file again, and mend it where it comes from if that is all that is left.',
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
    'A --map names a column that is not there, or a meaning that does not exist.',
    'Write --map MEANING=COLUMN with a column of the header.',
  ),
  ALM_FILE_IS_RESULTS: refused(
    'The file is a results.csv of a report: most of its rows may be paid already.',
    'Run failed.csv or unprocessed.csv of that report, or the original file.',
  ),
  ALM_PLAN_REFERENCE_BUSY: refused(
    'Another import holds some of these references and has not finished.',
    'Wait for it, run that import again, or cancel it; then try again.',
  ),
  ALM_PLAN_NOT_EXPECTED: refused(
    'The file is not the one that --expect-rows or --expect-tokens describes.',
    'Check that it is the right file; correct the expectation if it is.',
  ),
  ALM_PLAN_FAULTS: refused(
    'The file has faults and was refused as a whole; nothing was sent.',
    'Mend what is listed; rows that are faulty by themselves can be left out with --skip-invalid.',
  ),
  ALM_PLAN_OVER_DAY_CAP: refused(
    'The batch is larger than what is left of the realm’s daily cap.',
    'It will halt when the cap is reached and can be resumed the next day (UTC).',
  ),
  ALM_PLAN_WALLET_NOT_FOUND: refused(
    'The realm knows no member with a wallet of the table, or does not say.',
    'Mend the table of members, or ask the member which wallet the realm has.',
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
