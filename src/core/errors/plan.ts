import type { ErrorEntry } from './entry.js';

/** A whole file or batch that is refused before anything is sent, and what is odd about a whole file. */
export const PLAN_ERRORS = {
  ALM_PLAN_LOOKS_PAID: {
    means:
      'Rows without references repeat orders of the last 30 days that are paid or may still be: from five rows or a fifth of them on, and at the first that stands in for an order, the file is refused; below that it is a warning. Or equal rows of a file stand in for orders of two batches.',
    next: 'Look at the named batches. --new-rows-only pays the other rows, and given again goes on with them; --again LABEL pays all of them on purpose. A file that is meant to repeat takes a label each time, or a reference column.',
    exit: 3,
  },
  ALM_PLAN_CHANGED: {
    means:
      'Between the preview and the start other batches were sealed, cancelled or refused, or the file’s own was started and stands still, and the file would not do what was shown.',
    next: 'Plan the file again, look at the new numbers and confirm those.',
    exit: 3,
  },
  ALM_PLAN_OTHER_ADDRESS: {
    means:
      'The same realm id was paid before under another address (localhost for 127.0.0.1, a moved domain), whose books are not these.',
    next: 'If it is the same realm at the same place, configure the named address: its books know what was paid. If the realm has moved, or is another one with the same id, pass --new-address once.',
    exit: 3,
  },
  ALM_PLAN_MAYBE_FORGOTTEN: {
    means:
      'The store has forgotten payments that no journal knows, as a person accepted in the last 30 days, or that this file’s batch was cancelled and followed by another: it may have been paid.',
    next: 'Look at the balances of some of its members upstream. If it was not paid: --again LABEL for a file; a rule pays its next period, and a file with --again LABEL what this one owes.',
    exit: 3,
  },
  ALM_PLAN_IDS_DAMAGED: {
    means: 'Many long ids end in zeros after digit 15: a spreadsheet has rounded them.',
    next: 'Export the ids again from their source as text; rounding cannot be undone.',
    exit: 3,
  },
  ALM_PLAN_OVER_BATCH_CAP: {
    means: 'The sum of the file is above the realm’s cap for one batch (maxTokensPerBatch).',
    next: 'Split the file, or raise the cap in the realm’s profile.',
    exit: 3,
  },
  ALM_PLAN_SUM_TOO_LARGE: {
    means: 'The sum of the file does not fit a signed 64-bit integer.',
    next: 'Check the amounts; split the file if they are right.',
    exit: 3,
  },
  ALM_PLAN_MEMBER_REPEATED: {
    means: 'Warning: some members stand in more than one row.',
    next: 'Check that they are meant to be paid more than once.',
    exit: 3,
  },
  ALM_PLAN_MEMBER_GAINS_AND_LOSES: {
    means: 'Warning: some members both gain and lose in this file, and order between rows is not promised.',
    next: 'Pass --in-order if the order matters, or split the file.',
    exit: 3,
  },
  ALM_PLAN_ROW_INSIDE_CELL: {
    means: 'Warning: a quoted cell holds what looks like whole rows, which are not paid.',
    next: 'Look for a quote that was opened and closed in different rows.',
    exit: 3,
  },
  ALM_PLAN_AMOUNT_UNUSUAL: {
    means: 'Warning: an amount is more than 100 times the usual amount of the file.',
    next: 'Check the named lines for a slipped decimal point or a pasted id.',
    exit: 3,
  },
  ALM_PLAN_ID_ENDS_IN_ZEROS: {
    means: 'Warning: a long id ends in zeros after digit 15, as ids do that a spreadsheet has rounded.',
    next: 'Compare the named ids with their source.',
    exit: 3,
  },
  ALM_PLAN_ID_LEADING_ZEROS: {
    means: 'Warning: an id begins with a zero, which a chat id never does.',
    next: 'Check the named ids; they are sent exactly as written.',
    exit: 3,
  },
  ALM_FILE_NOT_FOUND: {
    means: 'There is no such file.',
    next: 'Check the name and the folder.',
    exit: 3,
  },
  ALM_FILE_UNREADABLE: {
    means: 'The file cannot be read.',
    next: 'Check that it is a file and that you may read it.',
    exit: 3,
  },
  ALM_FILE_CHANGED: {
    means: 'The file was changed while it was being read.',
    next: 'Wait until it is complete and run the command again.',
    exit: 3,
  },
  ALM_FILE_TOO_LARGE: {
    means: 'The file is larger than the limit.',
    next: 'Split it into several files.',
    exit: 3,
  },
  ALM_FILE_TOO_MANY_ROWS: {
    means: 'The file has more rows than the limit.',
    next: 'Split it into several files.',
    exit: 3,
  },
  ALM_FILE_TOO_MANY_COLUMNS: {
    means: 'The header has more columns than the limit.',
    next: 'Remove columns that are not needed.',
    exit: 3,
  },
  ALM_FILE_RECORD_TOO_LARGE: {
    means: 'One record is larger than the limit; often a quote was opened and never closed.',
    next: 'Look at the named line; close the quote or shorten the cell.',
    exit: 3,
  },
  ALM_FILE_EMPTY: {
    means: 'The file is empty.',
    next: 'Export it again; a header line and at least one row are needed.',
    exit: 3,
  },
  ALM_FILE_NO_ROWS: {
    means: 'The file has a header and no rows.',
    next: 'Export it again with its rows.',
    exit: 3,
  },
  ALM_FILE_ENCODING: {
    means: 'The file is not UTF-8.',
    next: 'Export it as "CSV UTF-8 (comma delimited)" in Excel, or choose UTF-8 where you save it.',
    exit: 3,
  },
  ALM_FILE_NOT_CSV: {
    means: 'The file is not a CSV file but something else.',
    next: 'Open it in the program it belongs to and export it as "CSV UTF-8".',
    exit: 3,
  },
  ALM_FILE_LINE_ENDS: {
    means: 'The lines end with a lone CR, as on very old Macs.',
    next: 'Save the file with LF or CR LF line ends, for example as "CSV UTF-8".',
    exit: 3,
  },
  ALM_FILE_QUOTES: {
    means: 'Quotes do not match, so that it is not certain where a row ends.',
    next: 'Mend the named line: close the quote, and write a quote inside a quoted cell twice.',
    exit: 3,
  },
  ALM_FILE_SEPARATOR: {
    means: 'The sep= line names a delimiter that is not supported.',
    next: 'Use a comma, a semicolon or a tab.',
    exit: 3,
  },
  ALM_FILE_HEADER_MISSING: {
    means: 'The file has no header line.',
    next: 'Put a first line with the names of the columns, at least member and tokens.',
    exit: 3,
  },
  ALM_FILE_COLUMN_MISSING: {
    means: 'A column that is needed is missing.',
    next: 'Add or rename the column, or name it with --map, for example --map tokens=Punkte.',
    exit: 3,
  },
  ALM_FILE_COLUMN_MISSPELT: {
    means: 'A column’s name is nearly one that has a meaning.',
    next: 'Rename the column as suggested, or to something clearly different.',
    exit: 3,
  },
  ALM_FILE_COLUMN_TWICE: {
    means: 'Two columns mean the same.',
    next: 'Remove or rename one of them, or say with --map which one counts.',
    exit: 3,
  },
  ALM_FILE_MAP: {
    means: 'A --map names a column that is not there, or a meaning that does not exist.',
    next: 'Write --map MEANING=COLUMN with a column of the header.',
    exit: 3,
  },
  ALM_FILE_IS_RESULTS: {
    means: 'The file is a results.csv of a report: most of its rows may be paid already.',
    next: 'Run failed.csv or unprocessed.csv of that report, or the original file.',
    exit: 3,
  },
  ALM_PLAN_REFERENCE_BUSY: {
    means: 'Another import holds some of these references and has not finished.',
    next: 'Wait for it, run that import again, or cancel it; then try again.',
    exit: 3,
  },
  ALM_PLAN_NOT_EXPECTED: {
    means: 'The file is not the one that --expect-rows or --expect-tokens describes.',
    next: 'Check that it is the right file; correct the expectation if it is.',
    exit: 3,
  },
  ALM_PLAN_FAULTS: {
    means: 'The file has faults and was refused as a whole; nothing was sent.',
    next: 'Mend the listed lines, or pass --skip-invalid to take only the good rows.',
    exit: 3,
  },
  ALM_PLAN_OVER_DAY_CAP: {
    means: 'The batch is larger than what is left of the realm’s daily cap.',
    next: 'It will halt when the cap is reached and can be resumed the next day (UTC).',
    exit: 3,
  },
  ALM_PLAN_MEMBER_NOT_FOUND: {
    means: 'The realm does not know the member.',
    next: 'Check the id; the order would be refused.',
    exit: 3,
  },
  ALM_PLAN_BALANCE_TOO_SMALL: {
    means: 'The member’s balance is too small for what the file takes away.',
    next: 'Lower the amount, or pay the member first.',
    exit: 3,
  },
} as const satisfies Record<string, ErrorEntry>;
