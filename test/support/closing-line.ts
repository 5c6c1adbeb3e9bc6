import process from "node:process";
import type { Reporter, TestModule, TestRunEndReason, Vitest } from "vitest/node";

type Errors = readonly { readonly message: string }[];

/** A record of a run often keeps only its last lines. */
const MAX_LISTED = 12;
const MAX_WIDTH = 200;

/**
 * Prints `N passed, N failed, N skipped` as the last line, which continuous integration reads, and the first failures before
 * it. A file that does not load counts as one failure, and a run without tests fails, unless it was asked for with --passWithNoTests.
 */
export class ClosingLine implements Reporter {
  #mayBeEmpty = false;

  onInit({ config }: Vitest): void {
    this.#mayBeEmpty = config.passWithNoTests === true;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const failures: string[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, errors: found } = test.result();
        counts[state === "pending" ? "skipped" : state] += 1;
        if (state === "failed") failures.push(describe(module, test.name, found));
      }
      const broken = errorsOutsideTests(module);
      if (broken.length === 0) continue;
      counts.failed += 1;
      failures.push(describe(module, "outside its tests", broken));
    }
    // An error outside any test, such as a server that does not start, fails the run.
    if (counts.failed === 0 && errors.length > 0) counts.failed = errors.length;
    if (counts.passed + counts.failed === 0 && !this.#mayBeEmpty) counts.failed = 1;
    if (counts.failed > 0 || reason !== "passed") process.exitCode = 1;
    const listed = failures.slice(0, MAX_LISTED).map((failure) => `failed: ${failure}\n`);
    const line = `${listed.join("")}${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
    // Other reporters and vitest print until the process exits.
    process.once("exit", () => process.stdout.write(line));
  }
}

function errorsOutsideTests(module: TestModule): Errors {
  return [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
}

function describe(module: TestModule, name: string, errors: Errors): string {
  const reason = (errors[0]?.message ?? "").replaceAll(/\s+/g, " ");
  return `${module.relativeModuleId}: ${name}: ${reason}`.slice(0, MAX_WIDTH);
}
