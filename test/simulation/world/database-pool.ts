import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import { DatabaseClient, type DatabaseOptions, type Query, type Result } from "./database-client.ts";
import type { DatabaseServer } from "./database-server.ts";
import type { SimulatedProcess } from "./process.ts";

/** A pool of connections of one process to one database: the counterpart of `pg.Pool`, as far as the services use it. */
export function createSimulatedPool(options: DatabaseOptions, server: DatabaseServer, process: SimulatedProcess): Pool {
  const pool = {
    query: (query: Query): Promise<Result> => new DatabaseClient(options, server, process).query(query),
    connect: () => Promise.resolve(new DatabaseClient(options, server, process)),
    on: () => pool,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return pool as unknown as Pool;
}
