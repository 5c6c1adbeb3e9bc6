import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const NO_PROMTOOL = spawnSync("promtool", ["--version"]).error !== undefined;

test.skipIf(NO_PROMTOOL)("rules fire for what they name, and not for what another rule names", () => {
  const args = ["test", "rules", "testing/histories.yaml"];
  const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: import.meta.dirname, encoding: "utf8" });
  expect(`${stdout}${stderr}`).toContain("SUCCESS");
  expect(status).toBe(0);
});
