import { bug, interrupted, refused, usage } from './entry.js';

/** What the command line itself refuses. */
export const CLI_ERRORS = {
  ALM_CLI_USAGE: usage('The command line could not be understood.', 'Run the command with --help.'),
  ALM_CLI_NOT_CONFIRMED: usage(
    'Sending needs a confirmation, and none was given.',
    'Type the total when asked, or pass --yes in a script.',
  ),
  ALM_CLI_INTERRUPTED: interrupted(
    'A question got no answer: Ctrl-C, Ctrl-D, or a closed terminal. Nothing was done.',
    'Repeat the command when you mean it.',
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
    'A library call got an unusable argument, or its callback failed.',
    'Correct the call; docs/library.md and the types describe it.',
  ),
  ALM_LIBRARY_INTERNAL: bug(
    'A bug: a call of the library failed.',
    "Open it with logLevel: 'debug', call again, and report the log and the error’s cause.",
  ),
  ALM_LIBRARY_CLOSED: usage(
    'The library was called after it was closed.',
    'Open it again; the same call resumes the payment.',
  ),
  ALM_LIBRARY_STOPPED: interrupted(
    'A signal or a close stopped the call before its batch was made.',
    'Call it again if you still want to pay.',
  ),
};

/** Two people, one payment. */
export const PEOPLE_ERRORS = {
  ALM_PEOPLE_NAMELESS: refused(
    'This realm requires approvals, so each person must act with a named token.',
    'Sign in to the desk, or set ALMONER_TOKEN or ALMONER_TOKEN_FILE. `almoner desk token add NAME --role operator` makes a token.',
  ),
  ALM_PEOPLE_TOKEN: usage(
    'The token is unknown here: it was revoked, or belongs to another store.',
    'Ask an admin for a new one; `almoner desk token list` names the valid ones.',
  ),
  ALM_PEOPLE_ROLE: refused(
    'The token lacks the role for this.',
    'Ask a person with the role, or let an admin make a token with it.',
  ),
  ALM_PEOPLE_SAME: refused(
    'You prepared it or asked for it, so you cannot approve it.',
    'Another person with the role approver approves it, with their own token.',
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
    'The configuration has faults.',
    'Correct the listed settings; `almoner doctor` prints the configuration in use.',
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
    'The profile finds no usable API key for the realm.',
    'Put the key into the named environment variable or file, then repeat the command.',
  ),
};

/** The desk: who may use it, from where, and what it refuses. */
export const DESK_ERRORS = {
  ALM_DESK_NOT_SIGNED_IN: usage(
    'Nobody is signed in, the session is over, or its token was revoked.',
    'Sign in with a desk token; `almoner desk token add NAME --role viewer|operator` makes one.',
  ),
  ALM_DESK_TOKEN_WRONG: usage(
    'The desk token is unknown.',
    'Check that you copied all of it, or make a new one with `almoner desk token add`.',
  ),
  ALM_DESK_TOO_MANY_TRIES: usage(
    'The desk token is unknown, and this address sent too many unknown ones.',
    'Check that you copied all of it. The right token works at once, a wrong one after a minute.',
  ),
  ALM_DESK_ROLE: usage(
    'Your role does not allow a change or a question to the realm.',
    'Ask a person with the role operator, or sign in with such a token.',
  ),
  ALM_DESK_CSRF: usage(
    'A change was asked for without the page’s own token.',
    'Load the page again; scripts use `Authorization: Bearer` instead of the cookie.',
  ),
  ALM_DESK_ORIGIN: usage(
    'The request came from a page of another site.',
    'Open the desk under its own address; behind a proxy use --public-url.',
  ),
  ALM_DESK_HOST: usage(
    'The desk was called by an unknown host name.',
    'Start it with --public-url set to the address people use.',
  ),
  ALM_DESK_INSECURE: usage(
    'Other machines could reach the desk without encryption.',
    'Put TLS in front and pass --public-url https://…, or accept the risk with --insecure-http.',
  ),
  ALM_DESK_PUBLIC_URL: usage(
    'The address given with --public-url cannot be used.',
    'Write scheme and host only, for example --public-url https://desk.example.org.',
  ),
  ALM_DESK_PORT_TAKEN: usage(
    'Another program uses the desk’s port, or the address is not of this machine.',
    'Choose another one with --port, or end the other program.',
  ),
  ALM_DESK_TOKEN_NAME: usage(
    'The desk token’s name is not usable in the audit.',
    'Use 1 to 64 letters, digits, dots, dashes, underscores or @. The desk itself uses `local`.',
  ),
  ALM_DESK_TOKEN_EXISTS: usage(
    'A desk token of that name exists.',
    'Revoke it first with `almoner desk token revoke NAME`, or choose another name.',
  ),
  ALM_DESK_TOKEN_UNKNOWN: usage('No desk token has that name.', '`almoner desk token list` shows them.'),
  ALM_DESK_LAST_ADMIN: refused(
    'This is the only admin token. Without it nobody manages tokens on the desk.',
    'Make another admin first, or confirm. Then only `almoner desk token add` beside the store makes one.',
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
    'The file exceeds the desk’s limit, or too many uploads wait for a start.',
    'Split the file, or run `almoner import FILE` on the machine itself.',
  ),
  ALM_DESK_UPLOAD_BROKEN: refused(
    'The upload did not arrive whole, or came too slowly.',
    'Upload the file again.',
  ),
  ALM_DESK_UPLOAD_UNKNOWN: usage(
    'The upload is gone, or belongs to another person. The desk keeps uploads for an hour.',
    'Upload the file again.',
  ),
  ALM_DESK_TABLE_UNKNOWN: usage(
    'The uploaded member table is gone, or belongs to another person.',
    'Upload the table again, or plan the file without it.',
  ),
  ALM_DESK_BUSY: usage(
    'The desk’s limit of open requests of this kind is reached.',
    'Close other tabs or wait for running tasks, then try again.',
  ),
  ALM_DESK_NO_PAGES: bug('The desk’s pages were not built; its API works.', 'Run `npm run build`.'),
  ALM_DESK_INTERNAL: bug(
    'A bug: something failed in the desk.',
    'Report what the log of `almoner serve` says at the time of the request.',
  ),
};

/** Reward rules: their files, their expressions, their runs and schedules. */
export const RULES_ERRORS = {
  ALM_RULE_INVALID: refused(
    'A rule file has faults.',
    'Correct the listed places; `almoner rules check` checks again.',
  ),
  ALM_RULE_NOT_FOUND: usage(
    'There is no rule file or rule of that name.',
    'Name a file, or a rule that `almoner rules list` shows.',
  ),
  ALM_RULE_SYNTAX: refused(
    'The rule file is not readable YAML.',
    'Correct the named place. Check indentation, and quote an expression that holds `: ` or ` #`.',
  ),
  ALM_RULE_UNKNOWN_FIELD: refused(
    'The rule has an unknown field.',
    'Correct or remove the field; docs/reference/rules.md lists all fields.',
  ),
  ALM_RULE_FIELD: refused(
    'A field of the rule is missing, or has a value it cannot take.',
    'Correct the named field; docs/reference/rules.md lists its values.',
  ),
  ALM_RULE_EXPRESSION: refused(
    'An expression of the rule cannot be read, uses an unknown name, or is too large.',
    'Correct the named place; `almoner rules try FILE --member ID` shows the result.',
  ),
  ALM_RULE_VALUE: refused(
    'An expression gave no usable value for a member. Nothing was enqueued.',
    'Correct the expression or the member’s facts; `almoner rules try FILE --member ID` shows both.',
  ),
  ALM_RULE_TOO_SLOW: refused(
    'The rule’s expressions took too long, and almoner ended them. Nothing was enqueued.',
    'Simplify the expression: no patterns with nested repetition, no lists within lists.',
  ),
  ALM_RULE_TOO_LARGE: refused(
    'A rule needed too much memory and was ended. Nothing was enqueued.',
    'Make the expression simpler, or divide the audience between rules.',
  ),
  ALM_RULE_FILE_MISSING: refused(
    'A file that the rule names cannot be read.',
    'Correct the name. It counts from the folder of the naming file.',
  ),
  ALM_RULE_CIRCULAR: refused(
    'Audience files refer to each other in a circle.',
    'Let one of the named files hold the members itself.',
  ),
  ALM_RULE_AUDIENCE: refused(
    'A row of the audience cannot be used.',
    'Correct the named row. Each member stands once, as 1 to 20 digits without a leading zero.',
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
    'The rule’s realm is not configured, or is not the chosen one.',
    'Correct `realm` in the rule, or configure it. `almoner doctor` lists the realms.',
  ),
  ALM_RULE_NAME_TAKEN: refused(
    'Two rule files have the same name and would spend each other’s references.',
    'Give one of them another `name`.',
  ),
  ALM_RULE_OVER_LIMIT: refused(
    'The orders exceed a limit of the rule. Nothing was enqueued.',
    'Read the plan. Raise the limit and run the rule, or name the limit in `limits.cut`.',
  ),
  ALM_RULE_MISSING_FACTS: refused(
    'More members lack a fact than the rule allows (maxMissing). Nothing was enqueued.',
    'Check the facts’ names with `almoner member ID --web3`, or raise `maxMissing`.',
  ),
  ALM_RULE_WALLETS: refused(
    'The realm did not answer for every wallet. Nothing was enqueued.',
    'Check the named wallets with `almoner wallets`, and the profile’s `wallets` settings.',
  ),
  ALM_RULE_INTERRUPTED: interrupted(
    'Reading facts was interrupted. almoner keeps them and enqueued nothing.',
    'Run the same command again; it resumes there.',
  ),
  ALM_RULE_RUN_NOT_FOUND: usage(
    'No plan or run has that id, or it left the store.',
    'List the runs with `almoner rules list`.',
  ),
  ALM_RULE_RUN_AMBIGUOUS: usage(
    'Several runs of rules begin with that prefix.',
    'Give more of the id; `almoner rules list` shows the last ones.',
  ),
  ALM_RULE_PLAN_UNUSABLE: refused(
    'A limit stopped the plan, or it never finished. almoner makes no batch of it.',
    'Plan again with `almoner rules plan FILE`.',
  ),
  ALM_RULE_NOT_IN_RUN: usage(
    'The member was not in the audience of that run.',
    'Check the member id and the run.',
  ),
  ALM_RULE_ALREADY_RUN: refused(
    'This scheduled time was handled by another process, paused or skipped by a person, or lies ahead of the store’s clock. Nothing was enqueued.',
    'Nothing to do; `almoner rules list` shows its outcome.',
  ),
  ALM_RULE_NOT_MISSED: usage(
    'The time is not on the rule’s list of missed times.',
    'List the missed times with `almoner rules calendar`.',
  ),
  ALM_RULE_OTHER_PERIOD: refused(
    'The rule’s periods changed after the missed time, so a late run could pay members twice. Nothing was enqueued.',
    'Check who was paid (`almoner rules calendar RULE`, `almoner history MEMBER`). Pay the others with a CSV file, then run `almoner rules dismiss`.',
  ),
  ALM_RULE_EDITED: refused(
    'The rule file changed after the plan. With --plan, almoner pays the plan and warns. The desk refuses it, and only a person continues an unfinished run.',
    'Plan again, pay the old plan with `almoner rules run --plan ID`, or cancel the unfinished batch.',
  ),
};
