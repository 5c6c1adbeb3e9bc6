import { setTimeout as sleep } from "node:timers/promises";
import { Violated } from "./bench.ts";

const POLL_MS = 20;

/** Asks again and again until it is so. Throws Violated when it is not within the time. */
export async function until(isDone: () => Promise<boolean>, withinMs: number, problem: string): Promise<void> {
  for (const byMs = performance.now() + withinMs; !(await isDone()); await sleep(POLL_MS)) {
    if (performance.now() > byMs) throw new Violated([problem]);
  }
}
