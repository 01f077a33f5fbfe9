// A reporter of vitest: leaves what happened, in numbers, in the file that ALMONER_TEST_SUMMARY names.
import { writeFileSync } from 'node:fs';

export default class TestSummary {
  begun = [];

  onTestRunStart(specifications) {
    this.begun = specifications.map(({ moduleId }) => moduleId);
  }

  onTestRunEnd(modules, unhandledErrors) {
    const ran = new Set(modules.map(({ moduleId }) => moduleId));
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const ended = (state) => tests.filter((test) => test.result().state === state);
    // A file that could not even be loaded has no failed test, and counts as one; so does an error outside of all.
    const broken = modules.filter(
      (module) => !module.ok() && ![...module.children.allTests('failed')].length,
    ).length;
    const named = (test) => `${test.module.relativeModuleId} > ${test.fullName}`;
    writeFileSync(
      process.env.ALMONER_TEST_SUMMARY,
      JSON.stringify({
        passed: ended('passed').length,
        failed: ended('failed').length + broken + unhandledErrors.length,
        notRun: this.begun.filter((file) => !ran.has(file)),
        skipped: ended('skipped').map(named),
        files: modules.map((module) => ({
          name: module.relativeModuleId,
          ms: wholeTime(module.diagnostic()),
        })),
      }),
    );
  }
}

function wholeTime({ environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration }) {
  return environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
}
