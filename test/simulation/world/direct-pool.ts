import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import type { Database } from "../postgres/database.ts";

/** A pool without latency and faults, for rows that exist before the history begins. */
export function createDirectPool(database: Database): Pool {
  const connect = () => {
    const tx = database.begin();
    const query = async (query: string | { readonly text: string; readonly values: readonly unknown[] }) => {
      if (query === "commit") database.commit(tx);
      if (typeof query === "string") return { rows: [], rowCount: 0, command: query.toUpperCase() };
      return { ...database.execute(tx, query.text, query.values), command: "" };
    };
    return Promise.resolve({ query, on: () => undefined, off: () => undefined, release: () => undefined });
  };
  return { connect } as unknown as Pool;
}
