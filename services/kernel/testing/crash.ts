import type { PoolClient } from "pg";
import type { Pool } from "../postgres/pool.ts";

/** A process that crashes after a number of steps. A step is a statement, or the start or the end of a call. */
export type Crashing = {
  readonly pool: Pool;
  /** Returns a client whose calls count as steps. */
  readonly client: <C extends object>(client: C) => C;
  /** Resolves when the process has crashed. */
  readonly crashed: Promise<void>;
  /** The number of steps that the process has executed. */
  readonly stepsTaken: () => number;
};

type Step = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * After `steps` steps the process executes nothing and receives no answers, and its connections are closed, so that the
 * database rolls back open transactions. Calls that it sent before are executed.
 */
export function crashingProcess(pool: Pool, steps: number): Crashing {
  const { promise: crashed, resolve } = Promise.withResolvers<void>();
  const open = new Set<PoolClient>();
  let taken = 0;
  const step: Step = async (work) => {
    if (taken < steps) {
      taken += 1;
      return await work();
    }
    for (const client of open) client.release(new Error("the process crashed"));
    open.clear();
    resolve();
    return await new Promise<never>(() => undefined);
  };
  return {
    crashed,
    stepsTaken: () => taken,
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
