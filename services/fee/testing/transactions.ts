import type { PoolClient } from "pg";
import type { Pool } from "#kernel/postgres/pool.ts";

/** The rows that a transaction has read, and the values that it has bound. */
export type MeasuredTransaction = { readonly rows: number };

type Statement = string | { readonly values?: readonly unknown[] };
type Query = (statement: never) => Promise<{ readonly rows?: readonly unknown[] }>;

/** The same pool, which adds each transaction that ends to `ended`. */
export function measuredPool(pool: Pool, ended: MeasuredTransaction[]): Pool {
  return new Proxy(pool, {
    get(target, name) {
      if (name === "connect") return async () => measuredClient(await target.connect(), ended);
      return ownOf(target, name);
    },
  });
}

function measuredClient(client: PoolClient, ended: MeasuredTransaction[]): PoolClient {
  let rows = 0;
  const query = client.query.bind(client) as Query;
  return new Proxy(client, {
    get(target, name) {
      if (name !== "query") return ownOf(target, name);
      return async (statement: Statement) => {
        const answer = await query(statement as never);
        if (statement === "begin") rows = 0;
        else if (statement === "commit" || statement === "rollback") ended.push({ rows });
        else rows += (answer.rows?.length ?? 0) + boundBy(statement);
        return answer;
      };
    },
  });
}

function ownOf(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" ? (value.bind(target) as unknown) : value;
}

/** The longest array of a statement. */
function boundBy(statement: Statement): number {
  const values = typeof statement === "string" ? [] : (statement.values ?? []);
  return Math.max(0, ...values.map((value) => (Array.isArray(value) ? value.length : 0)));
}
