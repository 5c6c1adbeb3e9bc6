import type { PoolClient } from "pg";
import type { Pool } from "../postgres/pool.ts";

/** A process that crashes after a number of crash points: each statement, and each start or end of a call, is one. */
export type Crashing = {
  readonly pool: Pool;
  /** Returns a client whose calls are crash points. */
  readonly client: <C extends object>(client: C) => C;
  /** Resolves when the process has crashed. */
  readonly crashed: Promise<void>;
  /** The number of crash points that the process has passed. */
  readonly pointsPassed: () => number;
};

type PassPoint = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * After `points` crash points the process executes nothing and receives no answers, and its connections are closed, so
 * that the database rolls back open transactions. Calls that it sent before are executed.
 */
export function crashingProcess(pool: Pool, points: number): Crashing {
  const { promise: crashed, resolve } = Promise.withResolvers<void>();
  const open = new Set<PoolClient>();
  let passed = 0;
  const passPoint: PassPoint = async (work) => {
    if (passed < points) {
      passed += 1;
      return await work();
    }
    for (const client of open) client.release(new Error("the process crashed"));
    open.clear();
    resolve();
    return await new Promise<never>(() => undefined);
  };
  return {
    crashed,
    pointsPassed: () => passed,
    pool: crashingPool(pool, open, passPoint),
    client: (client) => crashingClient(client, passPoint),
  };
}

function crashingClient<C extends object>(client: C, passPoint: PassPoint): C {
  return new Proxy(client, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name, target);
      if (typeof call !== "function") return call;
      return async (...args: unknown[]) => {
        const answer = await passPoint(() => call.apply(target, args) as Promise<unknown>);
        return await passPoint(async () => answer);
      };
    },
  });
}

type Query = (query: never) => Promise<unknown>;

function crashingPool(pool: Pool, open: Set<PoolClient>, passPoint: PassPoint): Pool {
  const query = pool.query.bind(pool) as Query;
  return new Proxy(pool, {
    get(target, name) {
      if (name === "query") return (statement: never) => passPoint(() => query(statement));
      if (name === "connect") return async () => crashingConnection(await target.connect(), open, passPoint);
      return Reflect.get(target, name, target) as unknown;
    },
  });
}

function crashingConnection(client: PoolClient, open: Set<PoolClient>, passPoint: PassPoint): PoolClient {
  open.add(client);
  const query = client.query.bind(client) as Query;
  return new Proxy(client, {
    get(target, name) {
      if (name === "query") return (statement: never) => passPoint(() => query(statement));
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "release") return typeof value === "function" ? (value.bind(target) as unknown) : value;
      return (error?: Error) => {
        if (open.delete(client)) client.release(error);
      };
    },
  });
}
