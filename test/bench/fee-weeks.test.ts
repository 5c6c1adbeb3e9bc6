import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("the weeks of a small pool are measured", { timeout: 120_000 }, async () => {
  const script = join(import.meta.dirname, "fee-weeks.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, "20", "10", "2"]);
  expect(stdout).toContain("week after 10 deals");
  expect(stdout).toContain("18 fees");
  expect(stdout).toContain("week after 2 rates of the past");
});
