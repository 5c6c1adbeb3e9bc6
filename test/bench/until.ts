import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { Violated } from "./bench.ts";

const POLL_MS = 20;

/** Asks again and again until it is so. Throws Violated when it is not within the time. */
export async function until(isDone: () => Promise<boolean>, withinMs: number, problem: string): Promise<void> {
  for (const byMs = performance.now() + withinMs; !(await isDone()); await sleep(POLL_MS)) {
    if (performance.now() > byMs) throw new Violated([problem]);
  }
}

type Query = { readonly name?: string; readonly text: string; readonly values?: unknown[] };

/** The same for a select of one `is_done`. */
export async function untilDone(client: pg.Client, query: Query, withinMs: number, problem: string): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    const { rows } = await client.query<{ is_done: boolean }>(query);
    return rows[0]?.is_done === true;
  };
  await until(isDone, withinMs, problem);
}
