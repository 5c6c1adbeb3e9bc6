import { succeedsWithin } from "../jobs/answer-within.ts";
import type { Broker } from "../nats/connect.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, sql } from "../postgres/query.ts";
import { Gauge } from "prom-client";

export type ReadinessOptions = {
  readonly pool: Pool;
  readonly broker: Pick<Broker, "connection" | "isConnected">;
  readonly isDraining: () => boolean;
};

/** Asks whether the database of the process answers; never rejects, and has a deadline. */
let askDatabase: (() => Promise<boolean>) | undefined;

/** Asked when Prometheus asks. */
const reachable = new Gauge({
  name: "pamm_postgres_reachable",
  help: "1 when Postgres has answered this process within 1.5 s, tried at each scrape.",
  collect: async () => {
    if (askDatabase !== undefined) reachable.set((await askDatabase()) ? 1 : 0);
  },
});

/** Below the time-out of a usual readiness probe. */
const ANSWER_WITHIN_MS = 1_500;
/** Limits how often the servers are asked, however often readiness is read. */
const FRESH_FOR_MS = 500;

/**
 * Asks the database and the broker. Returns what does not answer: a stopped feed or an absent trading platform is a metric, not here. That the
 * database answers is a metric, too, also while the process drains.
 */
export function readinessOf({ pool, broker, isDraining }: ReadinessOptions): () => Promise<readonly string[]> {
  let latest: { readonly atMs: number; readonly missing: Promise<readonly string[]> } | undefined;
  const ask = async (): Promise<readonly string[]> => {
    const [hasDatabase, hasBroker] = await Promise.all([
      succeedsWithin(execute(pool, sql`select 1`), ANSWER_WITHIN_MS),
      broker.isConnected() && succeedsWithin(broker.connection.flush(), ANSWER_WITHIN_MS),
    ]);
    return [...(hasDatabase ? [] : ["database"]), ...(hasBroker ? [] : ["broker"])];
  };
  const findMissing = async (): Promise<readonly string[]> => {
    const atMs = performance.now();
    if (latest === undefined || atMs - latest.atMs > FRESH_FOR_MS) latest = { atMs, missing: ask() };
    return await latest.missing;
  };
  askDatabase = async () => !(await findMissing()).includes("database");
  return async () => (isDraining() ? ["draining"] : await findMissing());
}
