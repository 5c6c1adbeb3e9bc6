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

/** A process of its own that is armed, passes these places and says which; answers what it said and how it ended. */
function pass(...buckets: readonly (readonly [string, string?])[]) {
  const script = `
    import { writeSync } from "node:fs";
    const { armFailpoints, failpoint } = await import(${JSON.stringify(MODULE)});
    armFailpoints(${JSON.stringify(folder)});
    for (const [name, detail] of ${JSON.stringify(buckets)}) {
      failpoint(name, detail);
      writeSync(1, name + (detail === undefined ? "" : "." + detail) + " ");
    }`;
  const { stdout, signal } = spawnSync(process.execPath, ["--input-type=module", "--eval", script]);
  return { said: stdout.toString().trim(), signal };
}

test("nothing happens to a process that is not armed", () => {
  failpoint("after_permit", "deposit");
});

test("an armed process dies at the failpoint that a file names, and only there", () => {
  writeFileSync(join(folder, "after_permit"), "");
  expect(pass(["after_intent"], ["after_permit", "deposit"], ["after_answer"])).toEqual({
    said: "after_intent",
    signal: "SIGKILL",
  });
});

test("a detail distinguishes failpoints of one name", () => {
  writeFileSync(join(folder, "after_permit.exit"), "");
  const { said, signal } = pass(["after_permit", "deposit"], ["after_permit"], ["after_permit", "exit"]);
  expect([said, signal]).toEqual(["after_permit.deposit after_permit", "SIGKILL"]);
});

test("a failpoint kills one process only", () => {
  const file = join(folder, "after_record");
  writeFileSync(file, "");
  expect(pass(["after_record"]).signal).toBe("SIGKILL");
  expect(existsSync(file)).toBe(false);
  expect(pass(["after_record"])).toEqual({ said: "after_record", signal: null });
});
