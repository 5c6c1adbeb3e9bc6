import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { findWords } from "./vocabulary.ts";

const ROOT = join(import.meta.dirname, "../..");
const TEXTS = /(?:[.](?:tsx?|cjs|mjs|sql|proto|md|yaml|yml|sh|json)|Makefile|Dockerfile|[.]ci\/run)$/;
/** Files that tools write, and the files of this check, which contain the words. */
const SKIPPED = /^(?:package-lock[.]json|proto\/gen\/|test\/architecture\/vocabulary[.])/;

const listed = spawnSync("git", ["-C", ROOT, "ls-files"], { encoding: "utf8" });
if (listed.status !== 0) process.stdout.write("vocabulary not checked: this is not a git repository\n");
const files = (listed.stdout ?? "").split("\n").filter((path) => TEXTS.test(path) && !SKIPPED.test(path));
const findings = files.flatMap((path) => findWords(path, readFileSync(join(ROOT, path), "utf8")));
for (const { path, line, word, use } of findings) process.stdout.write(`${path}:${line}: "${word}": ${use}\n`);
process.stdout.write(`${files.length} files checked, ${findings.length} words to replace\n`);
if (findings.length > 0) process.exitCode = 1;
