import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { editsOf, type MutantOfOtherTest } from "./mutant.ts";
import { patch } from "./patch-sources.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** The files that a test of a service needs besides the packages. */
const COPIED = ["services", "proto", "test", "deploy", "package.json", "tsconfig.json", "vitest.config.ts"];
const LINKED = ["node_modules", ".cache"];
const TIMEOUT_MS = 10 * 60_000;

/** Whether the test fails with the defect in a copy of the sources. Throws when it fails without the defect. */
export function runInCopy(mutant: MutantOfOtherTest): boolean {
  const { test } = mutant;
  const copy = mkdtempSync(path.join(tmpdir(), "mutant-"));
  try {
    for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
    for (const name of LINKED) symlinkSync(path.join(ROOT, name), path.join(copy, name));
    if (!passes(copy, test)) throw new Error(`${test} fails without any mutant`);
    for (const edit of editsOf(mutant)) {
      const source = path.join(copy, edit.file);
      writeFileSync(source, patch(readFileSync(source, "utf8"), [edit]));
    }
    return !passes(copy, test);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function passes(copy: string, test: string): boolean {
  const vitest = path.join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const { status } = spawnSync(process.execPath, [vitest, "run", test], {
    cwd: copy,
    // The full size: only a single crash point may detect the mutant.
    env: { ...process.env, PAMM_PROOF: "true" },
    timeout: TIMEOUT_MS,
    stdio: "ignore",
  });
  return status === 0;
}
