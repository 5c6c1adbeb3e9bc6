import { readFileSync, writeFileSync } from "node:fs";
import { KEPT_HISTORIES } from "../kept/kept-histories.ts";
import { liveKeptInThread, runWorker } from "../run-workers.ts";
import { MUTANTS_ELSEWHERE } from "./elsewhere.ts";
import { runInCopy } from "./run-in-copy.ts";
import { MUTANTS } from "./mutants.ts";

/**
 * node test/simulation/mutant/find-out.ts: puts each mistake into the sources, one at a time, and writes down what
 * noticed it and how soon. Exit code 1 when one goes unnoticed.
 */
const DOCUMENT = new URL("../../../docs/reliability.md", import.meta.url);
const BEGIN = "<!-- mutant: written by `make mutant` -->";
const END = "<!-- end of mutant -->";
/** Where so many histories show nothing, the mistake counts as unnoticed. */
const MAX_SEEDS = 1_500;

type Row = { readonly name: string; readonly by: string; readonly after: string };

const rows: Row[] = [];
for (const { name } of MUTANTS) {
  note(await timed(name, () => liveUntilNoticed(name)));
}
for (const { title, mutant } of KEPT_HISTORIES) {
  if (mutant !== undefined && MUTANTS.every(({ name }) => name !== mutant)) {
    note(await timed(mutant, () => liveKept(title, mutant)));
  }
}
for (const mutant of MUTANTS_ELSEWHERE) {
  note(
    await timed(mutant.name, () => {
      const isNoticed = runInCopy(mutant);
      return isNoticed ? { by: `\`${mutant.test}\``, after: "its run" } : undefined;
    }),
  );
}
writeTable();

function note(row: Row): void {
  rows.push(row);
  process.stdout.write(`${row.name.padEnd(72)} ${row.by.padEnd(24)} ${row.after}\n`);
}

type Noticed = Pick<Row, "by" | "after">;

async function timed(name: string, findOut: () => Promise<Noticed | undefined> | Noticed | undefined): Promise<Row> {
  const startedMs = performance.now();
  const noticed = await findOut();
  if (noticed === undefined) {
    process.exitCode = 1;
    return { name, by: "**nobody**", after: "" };
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  return { name, by: noticed.by, after: `${noticed.after}, ${seconds} s` };
}

async function liveUntilNoticed(mutant: string): Promise<Noticed | undefined> {
  const range = { first: 1, step: 1, count: MAX_SEEDS, mode: "both" } as const;
  const { failures, seeds } = await runWorker({ ...range, mutant, stopsAtViolation: true });
  const [failure] = failures;
  return failure && { by: `simulation, ${failure.invariant}`, after: seeds === 1 ? "1 seed" : `${seeds} seeds` };
}

async function liveKept(kept: string, mutant: string): Promise<Noticed | undefined> {
  const [wrong] = await liveKeptInThread({ kept, mutant });
  return wrong === undefined ? undefined : { by: `simulation, ${wrong.split(":")[0]}`, after: "a kept history" };
}

function writeTable(): void {
  const text = readFileSync(DOCUMENT, "utf8");
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error("docs/reliability.md has no place for the table");
  const lines = rows.map(({ name, by, after: when }) => `| ${name} | ${by} | ${when} |`);
  const table = ["| The mistake | Noticed by | After |", "|---|---|---|", ...lines].join("\n");
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
}
