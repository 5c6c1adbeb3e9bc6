import { Gauge } from "prom-client";
import type { Pool } from "./pool.ts";

let shown: Pool | undefined;

/** Each value is read when Prometheus asks. */
const connections = new Gauge({
  name: "pamm_postgres_connections",
  help: "Connections to Postgres of this process, by state: idle or in_use.",
  labelNames: ["state"],
  collect: () => readPool(),
});
const maxConnections = new Gauge({
  name: "pamm_postgres_connections_max",
  help: "Limit of the connections to Postgres of this process (DATABASE_CONNECTIONS).",
});
const waiting = new Gauge({
  name: "pamm_postgres_waiting",
  help: "Statements and transactions of this process that wait for a free connection to Postgres.",
});

function readPool(): void {
  if (shown === undefined) return;
  const { totalCount, idleCount, waitingCount, options } = shown;
  connections.set({ state: "idle" }, idleCount);
  connections.set({ state: "in_use" }, totalCount - idleCount);
  maxConnections.set(options.max);
  waiting.set(waitingCount);
}

/** Shows the pool of the service until disposed. */
export function showPool(pool: Pool): Disposable {
  shown = pool;
  readPool();
  return {
    [Symbol.dispose]() {
      if (shown === pool) shown = undefined;
    },
  };
}
