import process from "node:process";
import type { Reporter, TestModule, TestRunEndReason } from "vitest/node";

/**
 * Prints `N passed, N failed, N skipped` as the last line, which continuous integration reads. A file that does not load counts
 * as one failure, and a run without tests fails.
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
    // An error outside any test, such as a server that does not start, fails the run.
    if (counts.failed === 0 && errors.length > 0) counts.failed = errors.length;
    if (counts.passed + counts.failed === 0) counts.failed = 1;
    if (counts.failed > 0 || reason !== "passed") process.exitCode = 1;
    const line = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
    // Other reporters and vitest print until the process exits.
    process.once("exit", () => process.stdout.write(line));
  }
}

function isBroken(module: TestModule): boolean {
  const suites = [...module.children.allSuites()];
  return module.errors().length > 0 || suites.some((suite) => suite.errors().length > 0);
}
