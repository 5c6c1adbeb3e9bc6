import { Bench, type BenchSettings, NotMeasured, Violated, type Workload } from "./bench.ts";
import type { Result } from "./report/document.ts";

/** A workload reports its figures only after everything that it sent was verified. */
export async function outcomeOf(workload: Workload, settings: BenchSettings): Promise<Result["outcome"]> {
  await using bench = new Bench(settings);
  try {
    const section = await workload.run(bench);
    await bench.verify();
    return { section };
  } catch (error) {
    if (error instanceof NotMeasured) return { skipped: error.message };
    if (error instanceof Violated) return { violations: error.violations };
    throw error;
  }
}
