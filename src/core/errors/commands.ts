import { bug, interrupted, refused, usage } from './entry.js';

/** What the command line itself refuses. */
export const CLI_ERRORS = {
  ALM_CLI_USAGE: usage('The command line could not be understood.', 'Run the command with --help.'),
  ALM_CLI_NOT_CONFIRMED: usage(
    'Sending needs a confirmation, and none was given.',
    'Type the total when asked, or pass --yes in a script.',
  ),
  ALM_CLI_INTERRUPTED: interrupted(
    'A question was left without an answer: Ctrl-C, Ctrl-D, or a closed terminal. Nothing was done.',
    'Give the same command again when it is meant.',
  ),
  ALM_CLI_INTERNAL: bug(
    'A bug: something failed that should not have.',
    'Run the command again with ALMONER_LOG_LEVEL=debug and report what it prints.',
  ),
  ALM_CLI_FILES_EXIST: usage(
    'A file that would be written exists already.',
    'Move it away, or work in another folder.',
  ),
};

/** The library: what a program that imports almoner got wrong, or stopped. */
export const LIBRARY_ERRORS = {
  ALM_LIBRARY_USAGE: usage(
    'A call of the library was given something it cannot take, or its callback has failed.',
    'Mend the call; docs/library.md and the types say what it takes.',
  ),
  ALM_LIBRARY_INTERNAL: bug(
    'A bug: something failed in a call of the library that should not have.',
    "Open it with logLevel: 'debug', call again, and report the log and the error’s cause.",
  ),
  ALM_LIBRARY_CLOSED: usage(
    'The library was called after it was closed.',
    'Open it again; what was being paid goes on with the same call.',
  ),
  ALM_LIBRARY_STOPPED: interrupted(
    'Paying was stopped by its signal, or by closing, before its batch was made.',
    'Call it again when it is meant to be paid.',
  ),
};

/** Two people, one payment. */
export const PEOPLE_ERRORS = {
  ALM_PEOPLE_NAMELESS: refused(
    'This realm requires approvals, so the person who acts has to be known by a token.',
    'Act with a token of your own: sign in to the desk with it, or put it into ALMONER_TOKEN, or the name of a file that holds it into ALMONER_TOKEN_FILE; `almoner desk token add NAME --role operator` makes one.',
  ),
  ALM_PEOPLE_TOKEN: usage(
    'The token is none that is known here: it was revoked, or is of another store.',
    'Ask an admin for a new one; `almoner desk token list` names those that count.',
  ),
  ALM_PEOPLE_ROLE: refused(
    'The token does not have the role for this.',
    'Somebody with the role does it, or an admin makes a token with it.',
  ),
  ALM_PEOPLE_SAME: refused(
    'The person who prepared it, or asked for it, cannot approve it.',
    'Another person with the role approver approves it, with a token of their own.',
  ),
  ALM_PEOPLE_CHANGED: refused(
    'What was shown is not what would be approved.',
    'Look at it again, then approve it.',
  ),
  ALM_PEOPLE_NOT_NEEDED: usage('Nothing waits for an approval there.', 'Look at it with `almoner status`.'),
};

/** Configuration: file, environment and flags. */
export const CONFIG_ERRORS = {
  ALM_CONFIG_INVALID: usage(
    'The configuration has faults; all of them are listed.',
    'Mend the listed settings; `almoner doctor` prints the configuration in use.',
  ),
  ALM_CONFIG_REALM_AMBIGUOUS: usage(
    'More than one realm is configured and none was chosen.',
    'Choose one of the listed realms with --realm NAME.',
  ),
  ALM_CONFIG_REALM_UNKNOWN: usage(
    'No configured realm has that name or id.',
    'Pass one of the listed names to --realm, or add the realm to almoner.config.yaml.',
  ),
  ALM_CONFIG_KEY_MISSING: usage(
    "The realm's API key is not where the profile looks for it, or cannot be used as it stands.",
    'Put the key into the named environment variable or file, then run the command again.',
  ),
};

/** The desk: who may use it, from where, and what it refuses. */
export const DESK_ERRORS = {
  ALM_DESK_NOT_SIGNED_IN: usage(
    'Nobody is signed in, the session is over, or its token was revoked.',
    'Sign in with a desk token; `almoner desk token add NAME --role viewer|operator` makes one.',
  ),
  ALM_DESK_TOKEN_WRONG: usage(
    'The desk token is not known here.',
    'Check that it was copied whole, or make a new one with `almoner desk token add`.',
  ),
  ALM_DESK_TOO_MANY_TRIES: usage(
    'The desk token is not known here, and too many such came from this address in a short time.',
    'Check that it was copied whole; a right one is taken at once, a wrong one after a minute.',
  ),
  ALM_DESK_ROLE: usage(
    'The signed-in person’s role does not allow a change, or to have the realm asked.',
    'Ask somebody with the role operator, or sign in with such a token.',
  ),
  ALM_DESK_CSRF: usage(
    'A change was asked for without the page’s own token.',
    'Load the page again; scripts use `Authorization: Bearer` instead of the cookie.',
  ),
  ALM_DESK_ORIGIN: usage(
    'The request came from a page of another site.',
    'Open the desk under its own address; behind a proxy start it with --public-url.',
  ),
  ALM_DESK_HOST: usage(
    'The desk was called by a host name that it is not known under.',
    'Start it with --public-url set to the address people use.',
  ),
  ALM_DESK_INSECURE: usage(
    'The desk would be reachable from other machines without encryption.',
    'Put TLS in front and pass --public-url https://…, or accept the risk with --insecure-http.',
  ),
  ALM_DESK_PUBLIC_URL: usage(
    'The address given with --public-url cannot be used.',
    'Write scheme and host only, for example --public-url https://desk.example.org.',
  ),
  ALM_DESK_PORT_TAKEN: usage(
    'The desk’s port is in use by another program, or the address is not of this machine.',
    'Choose another one with --port, or end the other program.',
  ),
  ALM_DESK_TOKEN_NAME: usage(
    'The name of a desk token cannot stand in an audit.',
    'Use 1 to 64 letters, digits, dots, dashes, underscores or @; `local` is taken by the desk itself.',
  ),
  ALM_DESK_TOKEN_EXISTS: usage(
    'A desk token of that name exists.',
    'Revoke it first with `almoner desk token revoke NAME`, or choose another name.',
  ),
  ALM_DESK_TOKEN_UNKNOWN: usage('No desk token has that name.', '`almoner desk token list` shows them.'),
  ALM_DESK_LAST_ADMIN: refused(
    'The token is the only one with the role admin: without it nobody gives or takes tokens on the desk.',
    'Make another admin first, or revoke it knowing that; after it only `almoner desk token add` on a machine that reaches the store makes one.',
  ),
  ALM_DESK_BAD_REQUEST: usage(
    'The desk could not understand the request.',
    'See /api/openapi.json for what it takes.',
  ),
  ALM_DESK_NOT_FOUND: usage('The desk has nothing under that address.', 'Go back to the overview.'),
  ALM_DESK_CHANGED: usage(
    'What was confirmed is not what stands there now.',
    'Look at the new numbers and confirm again.',
  ),
  ALM_DESK_UPLOAD_TOO_LARGE: refused(
    'The uploaded file is larger than the desk takes, or too many wait to be started.',
    'Split the file, or use `almoner import FILE` on the machine itself.',
  ),
  ALM_DESK_UPLOAD_BROKEN: refused(
    'The upload did not arrive whole, or came too slowly.',
    'Upload the file again.',
  ),
  ALM_DESK_UPLOAD_UNKNOWN: usage(
    'The uploaded file is not there any more, or is another person’s; uploads are kept for an hour.',
    'Upload the file again.',
  ),
  ALM_DESK_TABLE_UNKNOWN: usage(
    'The uploaded table of members is not there any more, or is another person’s.',
    'Upload the table again, or plan the file without it.',
  ),
  ALM_DESK_BUSY: usage(
    'As many of these are open at once as the desk allows.',
    'Close other tabs or wait for running tasks, then try again.',
  ),
  ALM_DESK_NO_PAGES: bug('The desk’s pages were not built; its API works.', 'Run `npm run build`.'),
  ALM_DESK_INTERNAL: bug(
    'A bug: something failed in the desk that should not have.',
    'Look at the log of `almoner serve` for the time of the request and report what it says.',
  ),
};

/** Reward rules: their files, their expressions, their runs and schedules. */
export const RULES_ERRORS = {
  ALM_RULE_INVALID: refused(
    'A rule file has faults; all of them are listed with line and column.',
    'Mend the listed places; `almoner rules check` looks again.',
  ),
  ALM_RULE_NOT_FOUND: usage(
    'There is no rule file or rule of that name.',
    'Name a file, or a rule that `almoner rules list` shows.',
  ),
  ALM_RULE_SYNTAX: refused(
    'The rule file is not readable YAML.',
    'Mend the named place; indentation and quotes are the usual causes.',
  ),
  ALM_RULE_UNKNOWN_FIELD: refused(
    'The rule has a field that no rule has.',
    'Correct or remove the field; docs/rules.md lists all of them.',
  ),
  ALM_RULE_FIELD: refused(
    'A field of the rule is missing, or holds something that it cannot hold.',
    'Mend the named field; docs/rules.md says what it may hold.',
  ),
  ALM_RULE_EXPRESSION: refused(
    'An expression of the rule cannot be read, names something unknown, or is too large.',
    'Mend the expression at the named place; `almoner rules try FILE --member ID` shows what it gives.',
  ),
  ALM_RULE_VALUE: refused(
    'An expression met a member for whom it gives no usable value. Nothing was enqueued.',
    'Mend the expression, or the facts of that member; `almoner rules try FILE --member ID` shows both.',
  ),
  ALM_RULE_TOO_SLOW: refused(
    'The expressions of a rule took too long, on one member or on all, and were ended. Nothing was enqueued.',
    'Make the expression simpler: no patterns with nested repetition, no lists within lists.',
  ),
  ALM_RULE_TOO_LARGE: refused(
    'A rule needed too much memory and was ended. Nothing was enqueued.',
    'Make the expression simpler, or divide the audience between rules.',
  ),
  ALM_RULE_FILE_MISSING: refused(
    'A file that the rule names cannot be read.',
    'Correct the name, which counts from the folder of the file that it stands in.',
  ),
  ALM_RULE_CIRCULAR: refused(
    'Audience files refer to each other in a circle.',
    'Let one of the named files hold the members itself.',
  ),
  ALM_RULE_AUDIENCE: refused(
    'A row of the audience cannot be used.',
    'Mend the named row; each member stands once, as 1 to 20 digits without a leading zero.',
  ),
  ALM_RULE_CRON: refused(
    'The schedule is no cron expression, or one that never comes.',
    'Write five fields, for example "0 9 * * 1" for Mondays at nine.',
  ),
  ALM_RULE_TIMEZONE: refused(
    'The time zone is not known.',
    'Write a name of the time zone database such as Europe/Berlin, or UTC.',
  ),
  ALM_RULE_REALM: usage(
    'The rule is for a realm that is not configured, or not for the one that was chosen.',
    'Correct `realm` in the rule, or configure that realm; `almoner doctor` lists the configured ones.',
  ),
  ALM_RULE_NAME_TAKEN: refused(
    'Two rule files have the same name, and would spend each other’s references.',
    'Give one of them another `name`.',
  ),
  ALM_RULE_OVER_LIMIT: refused(
    'The orders go over a limit of the rule. Nothing was enqueued.',
    'Look at the plan; raise the limit in the rule and run it, or write it under `limits.cut` to have awards cut.',
  ),
  ALM_RULE_MISSING_FACTS: refused(
    'More members lack a fact than the rule allows (maxMissing). Nothing was enqueued.',
    'Check the names of the facts with `almoner member ID --web3`, or raise `maxMissing`.',
  ),
  ALM_RULE_WALLETS: refused(
    'The realm did not say of every wallet whether it belongs to a member. Nothing was enqueued.',
    'Ask about the named wallets with `almoner wallets`; the profile’s `wallets` settings may need a change.',
  ),
  ALM_RULE_INTERRUPTED: interrupted(
    'The reading of facts was interrupted. What was read is kept; nothing was enqueued.',
    'Run the same command again; it goes on where it was interrupted.',
  ),
  ALM_RULE_RUN_NOT_FOUND: usage(
    'No plan or run of a rule has that id, or it has left the store.',
    'List the runs with `almoner rules list`.',
  ),
  ALM_RULE_RUN_AMBIGUOUS: usage(
    'Several runs of rules begin with that prefix.',
    'Give more of the id; `almoner rules list` shows the last ones.',
  ),
  ALM_RULE_PLAN_UNUSABLE: refused(
    'The plan was stopped by a limit or never finished, so that no batch can be made of it.',
    'Plan again with `almoner rules plan FILE`.',
  ),
  ALM_RULE_NOT_IN_RUN: usage(
    'The member was not in the audience of that run.',
    'Check the member id and the run; `almoner rules plan` shows who would get what now.',
  ),
  ALM_RULE_ALREADY_RUN: refused(
    'Another process has dealt with this time of the rule’s schedule, it has not come by the store’s clock, or a person has paused or skipped it. Nothing was enqueued.',
    'Nothing to do; `almoner rules list` shows what became of it.',
  ),
  ALM_RULE_NOT_MISSED: usage(
    'The time is not on the rule’s list of missed times: it was run or made up, a person has taken it off, or it was never missed.',
    'List the missed times with `almoner rules calendar`.',
  ),
  ALM_RULE_OTHER_PERIOD: refused(
    'The rule counts other periods now than when the time was missed, so that making it up could pay members twice. Nothing was enqueued.',
    'Look at who was paid (`almoner rules calendar RULE`, `almoner history MEMBER`); pay who is missing with a CSV file, then take the time off with `almoner rules dismiss`.',
  ),
  ALM_RULE_EDITED: refused(
    'The rule file is not the text that the plan was made of. Named with --plan, the plan is paid as it was planned, with this warning; the desk makes no batch of it, and a run of another text that is not through goes on by nobody’s hand but a person’s.',
    'Plan again with `almoner rules plan FILE` if the edit should count; `almoner rules run --plan ID` pays the plan as it was; cancel the batch of a run that should not go on.',
  ),
};
