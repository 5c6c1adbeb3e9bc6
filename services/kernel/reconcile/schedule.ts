import type { Pool } from "../postgres/pool.ts";
import type { Check } from "./check.ts";
import { showChecks } from "./metrics.ts";
import { insertChecks, listChecks } from "./store.ts";

/** The usual interval at which Prometheus reads the metrics. */
export const SHOW_EVERY_MS = 15_000;

export type ScheduleOptions = {
  readonly pool: Pool;
  readonly checks: readonly Check[];
  /** The longest time between two reads of the tables, for example for tests. */
  readonly maxMs: number;
};

/**
 * When each check is due, by the monotonic clock. The tables are read for the metrics, because another process may have
 * changed them; between two reads, the instants follow from the runs of this process.
 */
export class Schedule {
  readonly #pool: Pool;
  readonly #checks: readonly Check[];
  readonly #dueAtMs = new Map<Check, number>();
  readonly #showEveryMs: number;
  #areInserted = false;
  #showAtMs = -Infinity;

  constructor({ pool, checks, maxMs }: ScheduleOptions) {
    this.#pool = pool;
    this.#checks = checks;
    this.#showEveryMs = Math.min(SHOW_EVERY_MS, maxMs);
  }

  /** Reads the tables when it is time, and updates the metrics. */
  async refresh(): Promise<void> {
    const now = performance.now();
    if (now < this.#showAtMs) return;
    if (!this.#areInserted) await insertChecks(this.#pool, this.#checks);
    this.#areInserted = true;
    const states = new Map((await listChecks(this.#pool)).map((state) => [state.name, state]));
    for (const check of this.#checks) this.#dueAtMs.set(check, now + (states.get(check.name)?.dueInMs ?? 0));
    showChecks(this.#checks.flatMap(({ name }) => states.get(name) ?? []));
    this.#showAtMs = now + this.#showEveryMs;
  }

  due(): Check[] {
    const now = performance.now();
    return this.#checks.filter((check) => this.#dueAt(check) <= now);
  }

  noteStart(check: Check): void {
    this.#dueAtMs.set(check, performance.now() + check.everyMs);
  }

  /** The time until the next check is due, or the tables are read again. */
  pauseMs(): number {
    const nextMs = Math.min(this.#showAtMs, ...this.#checks.map((check) => this.#dueAt(check)));
    return Math.max(0, Math.ceil(nextMs - performance.now()));
  }

  #dueAt(check: Check): number {
    return this.#dueAtMs.get(check) ?? 0;
  }
}
