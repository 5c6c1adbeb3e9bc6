import { v7 as uuidv7 } from "uuid";
import { expect } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { countFigures } from "#test/support/figures.ts";
import { STRIDE } from "#test/support/proof.ts";
import type { Deps } from "../deps.ts";
import { withdrawalKey } from "../domain/departure.ts";
import { findDeparture } from "../store/departures.ts";
import { expectBooksToReconcile } from "./books.ts";
import { crashing } from "./crash.ts";
import { settle } from "./settle.ts";
import { passTime, type World } from "./world.ts";

/** Longer than any deadline, claim and wait budget of a crashed process. */
const LONG_MS = 60_000;
/** Timeout of a test that runs many sagas, each crashed at another point, on a busy machine. */
export const CRASH_TEST_MS = 360_000;

export type Saga<Facts> = {
  /** Prepares `count` independent cases, each for one run of the saga. */
  readonly prepare: (count: number) => Promise<Facts[]>;
  readonly run: (deps: Deps, facts: Facts) => Promise<unknown>;
  /** Larger where each case costs time that grows with their number. */
  readonly stride?: number;
};

/** Runs the saga once without a crash, then with a crash at each point, each time for a new case; then recovers. */
export async function crashAtEveryPoint<Facts>(
  world: World,
  { prepare, run, stride = STRIDE }: Saga<Facts>,
): Promise<Facts[]> {
  const [first] = await prepare(1);
  const uncrashed = crashing(world.deps, Number.POSITIVE_INFINITY);
  if (first === undefined) throw new Error("no case was prepared");
  await run(uncrashed.deps, first);
  const cases = await prepare(Math.ceil(uncrashed.pointsPassed() / stride));
  for (const [index, facts] of cases.entries()) {
    const { deps, crashed } = crashing(world.deps, index * stride);
    const outcome = await Promise.race([run(deps, facts).then(() => "finished"), crashed.then(() => "crashed")]);
    expect(outcome, `crash after ${index * stride} points`).toBe("crashed");
    // What the crashed process had claimed is free for the next case.
    await passTime(world, LONG_MS);
  }
  countFigures({ "crashes of a process": cases.length });
  expect(uncrashed.pointsPassed()).toBeGreaterThan(15);
  await recover(world);
  return cases;
}

export function times<Facts>(count: number, make: () => Facts): Facts[] {
  return Array.from({ length: count }, make);
}

/** Recovery after the crashed processes: time passes, and the jobs run. */
export async function recover(world: World): Promise<void> {
  await expectBooksToReconcile(world);
  for (let runs = 0; runs < 3; runs += 1) {
    await passTime(world, LONG_MS);
    await settle(world);
    await expectBooksToReconcile(world);
  }
}

export async function statusOf({ deps }: World, investorLogin: string): Promise<string> {
  const rows = await many<{ status: string }>(
    deps.pool,
    sql`select status from subscription where investor_login = ${investorLogin} order by id desc limit 1`,
  );
  return rows[0]?.status ?? "nothing";
}

/** Withdrawals that are requested in processes that crash, and then again: the time that passes meanwhile is not longer. */
export function anOperation() {
  return { operationId: uuidv7(), deadline: new Date(Date.now() + DAY_MS) };
}

/** The recorded end of a departure, with the cents that it has paid out. */
export async function endOf({ deps, platform }: World, operationId: string): Promise<string> {
  const known = await findDeparture(deps.pool, operationId);
  const deals = platform.deals.filter(({ key }) => key === withdrawalKey(operationId));
  return [known?.state ?? "nothing", ...deals.map(({ minor }) => String(-minor))].join(" ");
}
