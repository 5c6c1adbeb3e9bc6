import type { PoolClient } from "pg";
import type { Pool } from "../postgres/pool.ts";

/** A process that dies after so many steps. A step is a statement, or the beginning or the end of a call. */
export type Crashing = {
  readonly pool: Pool;
  /** A client whose calls are steps, too. */
  readonly client: <C extends object>(client: C) => C;
  /** Resolves when it has died. */
  readonly died: Promise<void>;
  /** How many steps it has taken. */
  readonly age: () => number;
};

type Step = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * From the given step on nothing is executed or answered any more, and its connections are gone, so that the database
 * rolls back what was not committed. What it had asked of others before stays done.
 */
export function crashingProcess(pool: Pool, steps: number): Crashing {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const open = new Set<PoolClient>();
  let taken = 0;
  const step: Step = async (work) => {
    if (taken < steps) {
      taken += 1;
      return await work();
    }
    for (const client of open) client.release(new Error("the process died"));
    open.clear();
    resolve();
    return await new Promise<never>(() => undefined);
  };
  return {
    died,
    age: () => taken,
    pool: crashingPool(pool, open, step),
    client: (client) => crashingClient(client, step),
  };
}

function crashingClient<C extends object>(client: C, step: Step): C {
  return new Proxy(client, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name, target);
      if (typeof call !== "function") return call;
      return async (...args: unknown[]) => {
        const answer = await step(() => call.apply(target, args) as Promise<unknown>);
        return await step(async () => answer);
      };
    },
  });
}

type Query = (query: never) => Promise<unknown>;

function crashingPool(pool: Pool, open: Set<PoolClient>, step: Step): Pool {
  const query = pool.query.bind(pool) as Query;
  return new Proxy(pool, {
    get(target, name) {
      if (name === "query") return (statement: never) => step(() => query(statement));
      if (name === "connect") return async () => crashingConnection(await target.connect(), open, step);
      return Reflect.get(target, name, target) as unknown;
    },
  });
}

function crashingConnection(client: PoolClient, open: Set<PoolClient>, step: Step): PoolClient {
  open.add(client);
  const query = client.query.bind(client) as Query;
  return new Proxy(client, {
    get(target, name) {
      if (name === "query") return (statement: never) => step(() => query(statement));
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "release") return typeof value === "function" ? (value.bind(target) as unknown) : value;
      return (error?: Error) => {
        if (open.delete(client)) client.release(error);
      };
    },
  });
}
