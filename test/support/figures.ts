import { TestRunner } from "vitest";

declare module "vitest" {
  // Vitest reads the type of the data that a test passes to reporters from this interface.
  interface TaskMeta {
    figures?: Readonly<Record<string, number>>;
  }
}

/** Adds to the counts of the running test; `make proof` sums them per part and writes them to docs/reliability.md. */
export function countFigures(counted: Readonly<Record<string, number>>): void {
  const meta = TestRunner.getCurrentTest()?.meta;
  if (meta === undefined) return;
  const sums = { ...meta.figures };
  for (const [name, count] of Object.entries(counted)) sums[name] = (sums[name] ?? 0) + count;
  meta.figures = sums;
}
