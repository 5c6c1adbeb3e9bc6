import { DatabaseError } from "pg";
import type { Pool } from "#kernel/postgres/pool.ts";
import { createSimulatedPool } from "../../world/database-pool.ts";
import { DatabaseServer } from "../../world/database-server.ts";
import { Faults } from "../../world/faults.ts";
import { SimulatedProcess } from "../../world/process.ts";
import { createRandom } from "../../world/random.ts";
import { Scheduler } from "../../world/scheduler.ts";
import { installVirtualTime } from "../../world/virtual-time.ts";
import { Database, type Statements } from "../database.ts";

/** Runs work on a simulated database with these tables, in virtual time, without faults. */
export async function simulatedPool<T>(schema: Statements, work: (pool: Pool) => Promise<T>): Promise<T> {
  installVirtualTime();
  const random = createRandom(1);
  const scheduler = new Scheduler(0, random);
  const plan = {
    seed: 1,
    mode: "liveness",
    quietPeriodMs: 0,
    processes: [],
    pools: undefined,
    consumers: [],
    commands: [],
    faults: [],
    faultsEndMs: 0,
  } as const;
  const faults = new Faults(plan, scheduler, {
    onFault: () => undefined,
    isDeparting: () => false,
    onCrash: () => undefined,
  });
  const shared = { scheduler, random, hit: () => undefined };
  const process = new SimulatedProcess({ name: "test", shared, clock: { skewMs: 0 }, canCrash: false });
  const database = new Database(schema, () => scheduler.nowMs);
  const pool = createSimulatedPool(
    { database, scheduler, random, faults, onFailure: () => undefined },
    new DatabaseServer(),
    process,
  );
  let isOver = false;
  const result = process.run(() => work(pool)).finally(() => (isOver = true));
  result.catch(() => undefined);
  await scheduler.runUntil(() => isOver);
  return await result;
}

/** What a statement answers, or how the database refuses it: alike on a real one and on a simulated one. */
export async function tried(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return { code: error.code, constraint: error.constraint };
  }
}
