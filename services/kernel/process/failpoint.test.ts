import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failpoint } from "./failpoint.ts";

let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "failpoints-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const MODULE = new URL("./failpoint.ts", import.meta.url).href;

/** Runs an armed process that passes these failpoints and prints each; returns its output and the signal that ended it. */
function runProcess(...failpoints: readonly (readonly [string, string?])[]) {
  const script = `
    import { writeSync } from "node:fs";
    const { armFailpoints, failpoint } = await import(${JSON.stringify(MODULE)});
    armFailpoints(${JSON.stringify(folder)});
    for (const [name, detail] of ${JSON.stringify(failpoints)}) {
      failpoint(name, detail);
      writeSync(1, name + (detail === undefined ? "" : "." + detail) + " ");
    }`;
  const { stdout, signal } = spawnSync(process.execPath, ["--input-type=module", "--eval", script]);
  return { output: stdout.toString().trim(), signal };
}

test("a failpoint does nothing in a process that is not armed", () => {
  expect(() => failpoint("after_permit", "deposit")).not.toThrow();
});

test("an armed process is killed at the failpoint that a file names, and only there", () => {
  writeFileSync(join(folder, "after_permit"), "");
  expect(runProcess(["after_intent"], ["after_permit", "deposit"], ["after_answer"])).toEqual({
    output: "after_intent",
    signal: "SIGKILL",
  });
});

test("a detail distinguishes failpoints of one name", () => {
  writeFileSync(join(folder, "after_permit.exit"), "");
  const { output, signal } = runProcess(["after_permit", "deposit"], ["after_permit"], ["after_permit", "exit"]);
  expect([output, signal]).toEqual(["after_permit.deposit after_permit", "SIGKILL"]);
});

test("a failpoint kills one process only", () => {
  const file = join(folder, "after_record");
  writeFileSync(file, "");
  expect(runProcess(["after_record"]).signal).toBe("SIGKILL");
  expect(existsSync(file)).toBe(false);
  expect(runProcess(["after_record"])).toEqual({ output: "after_record", signal: null });
});
