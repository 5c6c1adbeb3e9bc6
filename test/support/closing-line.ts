import process from "node:process";
import type { Reporter, TestModule, TestRunEndReason } from "vitest/node";

/**
 * Prints `N passed, N failed, N skipped` alone on the very last line, which is what continuous integration reads. A file that does not load counts as
 * one failure, and a run that looked at no test at all has failed.
 */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === "pending" ? "skipped" : state] += 1;
      }
      if (isBroken(module)) counts.failed += 1;
    }
    // An error that belongs to no test, such as servers that do not start, must not look like a green run.
    if (counts.failed === 0 && errors.length > 0) counts.failed = errors.length;
    if (counts.passed + counts.failed === 0) counts.failed = 1;
    if (counts.failed > 0 || reason !== "passed") process.exitCode = 1;
    const line = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
    // Other reporters still have something to say, and vitest itself too.
    process.once("exit", () => process.stdout.write(line));
  }
}

function isBroken(module: TestModule): boolean {
  const suites = [...module.children.allSuites()];
  return module.errors().length > 0 || suites.some((suite) => suite.errors().length > 0);
}
