import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { PARTS } from "./parts.ts";
import { isDue, readRows, type Result, type Row, rowOf, writeRows } from "./record.ts";

/**
 * node test/proof/run.ts [part ...]: runs the named parts, or all, or with `due` those that have no row or an old one, and writes the
 * result of each part into docs/reliability.md. A row that is due does not stay there: it says nothing of the sources of today.
 * Exit code 1 when any test failed.
 */
const ROOT = join(import.meta.dirname, "../..");
const DOCUMENT = join(ROOT, "docs/reliability.md");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const GIBIBYTE = 1024 ** 3;

type PartResult = Pick<Result, "passed" | "failed" | "figures">;

// Each part writes into the document, so the sources are compared with their commit once, before the first part.
const commit = git("describe", "--always", "--dirty", "--exclude=*");
const now = { date: today(), commitsSince };
const fresh = rows().filter((row) => !isDue(row, now));
const asked = process.argv.slice(2);
const due = PARTS.map(({ name }) => name).filter((name) => fresh.every(({ part }) => part !== name));
const names = asked[0] === "due" ? due : asked;
const unknown = names.filter((name) => PARTS.every((part) => part.name !== name));
if (unknown.length > 0) {
  throw new Error(`there is no part ${unknown.join(", ")}; choose from ${PARTS.map(({ name }) => name).join(", ")}`);
}
write(fresh);
for (const part of PARTS.filter(({ name }) => asked.length === 0 || names.includes(name))) {
  const startedMs = performance.now();
  const found = runTests(part.tests);
  const seconds = Math.max(1, Math.round((performance.now() - startedMs) / 1_000));
  record(rowOf({ part: part.name, ...found, seconds, date: today(), commit, machine: machine() }));
  if (found.failed > 0) process.exitCode = 1;
}

type Report = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly meta: { readonly figures?: Record<string, number> } }[];
  }[];
};

function runTests(tests: readonly string[]): PartResult {
  const folder = mkdtempSync(join(tmpdir(), "pamm-proof-"));
  try {
    const file = join(folder, "report.json");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const status = run([VITEST, "run", ...tests, ...reporters]);
    const { numPassedTests: passed, numFailedTests, testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
    const figures: Record<string, number> = {};
    for (const { meta } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
      for (const [name, count] of Object.entries(meta.figures ?? {})) figures[name] = (figures[name] ?? 0) + count;
    }
    // A file that does not load fails the run without failing a test.
    return { passed, failed: Math.max(numFailedTests, status === 0 ? 0 : 1), figures };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(args: readonly string[]): number | null {
  const env = { ...process.env, PAMM_PROOF: "true" };
  return spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "inherit", "inherit"] }).status;
}

/** Replaces the row of an earlier run. */
function record(row: Row): void {
  const index = ({ part }: Row): number => PARTS.findIndex(({ name }) => name === part);
  const others = rows().filter(({ part }) => part !== row.part);
  write([...others, row].toSorted((one, other) => index(one) - index(other)));
}

function rows(): Row[] {
  return readRows(readFileSync(DOCUMENT, "utf8"));
}

function write(table: readonly Row[]): void {
  writeFileSync(DOCUMENT, writeRows(readFileSync(DOCUMENT, "utf8"), table));
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function commitsSince(hash: string): number | undefined {
  const { status, stdout } = spawnSync("git", ["rev-list", "--count", `${hash}..HEAD`], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return status === 0 ? Number(stdout) : undefined;
}

function git(...args: readonly string[]): string {
  return spawnSync("git", args, { cwd: ROOT, encoding: "utf8" }).stdout.trim();
}

function machine(): string {
  const cores = cpus();
  const memory = Math.round(totalmem() / GIBIBYTE);
  return `${cores.length} x ${(cores[0]?.model ?? "unknown").replaceAll("|", " ").trim()}, ${memory} GiB, Node ${process.versions.node}`;
}
