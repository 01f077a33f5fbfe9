import type { ErrorEntry } from './entry.js';

/** Reward rules: their files, their expressions, their runs and schedules. */
export const RULE_ERRORS = {
  ALM_RULE_INVALID: {
    means: 'A rule file has faults; all of them are listed with line and column.',
    next: 'Mend the listed places; `almoner rules check` looks again.',
    exit: 3,
  },
  ALM_RULE_NOT_FOUND: {
    means: 'There is no rule file or rule of that name.',
    next: 'Name a file, or a rule that `almoner rules list` shows.',
    exit: 2,
  },
  ALM_RULE_SYNTAX: {
    means: 'The rule file is not readable YAML.',
    next: 'Mend the named place; indentation and quotes are the usual causes.',
    exit: 3,
  },
  ALM_RULE_UNKNOWN_FIELD: {
    means: 'The rule has a field that no rule has.',
    next: 'Correct or remove the field; docs/rules.md lists all of them.',
    exit: 3,
  },
  ALM_RULE_FIELD: {
    means: 'A field of the rule is missing, or holds something that it cannot hold.',
    next: 'Mend the named field; docs/rules.md says what it may hold.',
    exit: 3,
  },
  ALM_RULE_EXPRESSION: {
    means: 'An expression of the rule cannot be read, names something unknown, or is too large.',
    next: 'Mend the expression at the named place; `almoner rules try FILE --member ID` shows what it gives.',
    exit: 3,
  },
  ALM_RULE_VALUE: {
    means: 'An expression met a member for whom it gives no usable value. Nothing was enqueued.',
    next: 'Mend the expression, or the facts of that member; `almoner rules try FILE --member ID` shows both.',
    exit: 3,
  },
  ALM_RULE_TOO_SLOW: {
    means:
      'The expressions of a rule took too long, on one member or on all, and were ended. Nothing was enqueued.',
    next: 'Make the expression simpler: no patterns with nested repetition, no lists within lists.',
    exit: 3,
  },
  ALM_RULE_TOO_LARGE: {
    means: 'A rule needed too much memory and was ended. Nothing was enqueued.',
    next: 'Make the expression simpler, or divide the audience between rules.',
    exit: 3,
  },
  ALM_RULE_FILE_MISSING: {
    means: 'A file that the rule names cannot be read.',
    next: 'Correct the name, which counts from the folder of the file that it stands in.',
    exit: 3,
  },
  ALM_RULE_CIRCULAR: {
    means: 'Audience files refer to each other in a circle.',
    next: 'Let one of the named files hold the members itself.',
    exit: 3,
  },
  ALM_RULE_AUDIENCE: {
    means: 'A row of the audience cannot be used.',
    next: 'Mend the named row; each member stands once, as 1 to 20 digits.',
    exit: 3,
  },
  ALM_RULE_CRON: {
    means: 'The schedule is no cron expression, or one that never comes.',
    next: 'Write five fields, for example "0 9 * * 1" for Mondays at nine.',
    exit: 3,
  },
  ALM_RULE_TIMEZONE: {
    means: 'The time zone is not known.',
    next: 'Write a name of the time zone database such as Europe/Berlin, or UTC.',
    exit: 3,
  },
  ALM_RULE_REALM: {
    means: 'The rule is for a realm that is not configured, or not for the one that was chosen.',
    next: 'Correct `realm` in the rule, or configure that realm; `almoner doctor` lists the configured ones.',
    exit: 2,
  },
  ALM_RULE_NAME_TAKEN: {
    means: 'Two rule files have the same name, and would spend each other’s references.',
    next: 'Give one of them another `name`.',
    exit: 3,
  },
  ALM_RULE_OVER_LIMIT: {
    means: 'The orders go over a limit of the rule. Nothing was enqueued.',
    next: 'Look at the plan; raise the limit in the rule and run it, or write it under `limits.cut` to have awards cut.',
    exit: 3,
  },
  ALM_RULE_MISSING_FACTS: {
    means: 'More members lack a fact than the rule allows (maxMissing). Nothing was enqueued.',
    next: 'Check the names of the facts with `almoner member ID --web3`, or raise `maxMissing`.',
    exit: 3,
  },
  ALM_RULE_WALLETS: {
    means: 'The realm did not say of every wallet whether it belongs to a member. Nothing was enqueued.',
    next: 'Ask about the named wallets with `almoner wallets`; the profile’s `wallets` settings may need a change.',
    exit: 3,
  },
  ALM_RULE_INTERRUPTED: {
    means: 'The reading of facts was interrupted. What was read is kept; nothing was enqueued.',
    next: 'Run the same command again; it goes on where it was interrupted.',
    exit: 130,
  },
  ALM_RULE_RUN_NOT_FOUND: {
    means: 'No plan or run of a rule has that id, or it has left the store.',
    next: 'List the runs with `almoner rules list`.',
    exit: 2,
  },
  ALM_RULE_RUN_AMBIGUOUS: {
    means: 'Several runs of rules begin with that prefix.',
    next: 'Give more of the id; `almoner rules list` shows the last ones.',
    exit: 2,
  },
  ALM_RULE_PLAN_UNUSABLE: {
    means: 'The plan was stopped by a limit or never finished, so that no batch can be made of it.',
    next: 'Plan again with `almoner rules plan FILE`.',
    exit: 3,
  },
  ALM_RULE_NOT_IN_RUN: {
    means: 'The member was not in the audience of that run.',
    next: 'Check the member id and the run; `almoner rules plan` shows who would get what now.',
    exit: 2,
  },
  ALM_RULE_ALREADY_RUN: {
    means:
      'Another process has dealt with this time of the rule’s schedule, or it has not come by the store’s clock. Nothing was enqueued.',
    next: 'Nothing to do; `almoner rules list` shows what became of it.',
    exit: 3,
  },
  ALM_RULE_EDITED: {
    means:
      'The rule file is not the text that the plan was made of. Named with --plan, the plan is paid as it was planned, with this warning; the desk makes no batch of it, and a run of another text that is not through goes on by nobody’s hand but a person’s.',
    next: 'Plan again with `almoner rules plan FILE` if the edit should count; `almoner rules run --plan ID` pays the plan as it was; cancel the batch of a run that should not go on.',
    exit: 3,
  },
} as const satisfies Record<string, ErrorEntry>;
