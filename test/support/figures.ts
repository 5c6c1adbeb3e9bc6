import { TestRunner } from "vitest";

declare module "vitest" {
  // Vitest reads the type of what a test tells its reporters from this interface.
  interface TaskMeta {
    figures?: Readonly<Record<string, number>>;
  }
}

/** Counts what the running test has tried; `make proof` adds the counts of a part up and writes them into docs/reliability.md. */
export function countFigures(counted: Readonly<Record<string, number>>): void {
  const meta = TestRunner.getCurrentTest()?.meta;
  if (meta === undefined) return;
  const sums = { ...meta.figures };
  for (const [name, count] of Object.entries(counted)) sums[name] = (sums[name] ?? 0) + count;
  meta.figures = sums;
}
