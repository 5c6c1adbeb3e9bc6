import { expect } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { countFigures } from "#test/support/figures.ts";
import { sized } from "#test/support/proof.ts";
import type { Deps } from "../deps.ts";
import { expectBooksToTie } from "./books.ts";
import { crashing } from "./crash.ts";
import { settle } from "./settle.ts";
import { pass, type World } from "./world.ts";

/** Longer than any deadline, claim and patience of a dead process. */
const LONG_MS = 60_000;
/** Many sagas, each killed at another step, on a machine that has other things to do. */
export const CRASH_TEST_MS = 90_000;

/** `make proof` kills at each step, `make test` at each third: calls have two steps, so both are met. */
const STRIDE = sized({ test: 3, proof: 1 });

export type Saga<Facts> = {
  /** As many corners of the world as are asked for, each with a saga that can be told in it. */
  readonly prepare: (count: number) => Promise<Facts[]>;
  readonly run: (deps: Deps, facts: Facts) => Promise<unknown>;
};

/** Tells the saga once to the end, then kills it after 0, 1, 2 ... steps, each time in a fresh corner; then comes back. */
export async function crashAtEveryStep<Facts>(world: World, { prepare, run }: Saga<Facts>): Promise<Facts[]> {
  const [first] = await prepare(1);
  const whole = crashing(world.deps, Number.POSITIVE_INFINITY);
  if (first === undefined) throw new Error("a saga needs a corner");
  await run(whole.deps, first);
  const corners = await prepare(Math.ceil(whole.age() / STRIDE));
  for (const [index, facts] of corners.entries()) {
    const { deps, died } = crashing(world.deps, index * STRIDE);
    const outcome = await Promise.race([run(deps, facts).then(() => "lived"), died.then(() => "died")]);
    expect(outcome).toBe("died");
  }
  countFigures({ "crashes of a process": corners.length });
  expect(whole.age()).toBeGreaterThan(15);
  await recover(world);
  return corners;
}

export function times<Facts>(count: number, make: () => Facts): Facts[] {
  return Array.from({ length: count }, make);
}

/** Whoever comes after the dead processes: time passes, and the jobs do their work. */
export async function recover(world: World): Promise<void> {
  await expectBooksToTie(world);
  for (let rounds = 0; rounds < 3; rounds += 1) {
    pass(world, LONG_MS);
    await settle(world);
    await expectBooksToTie(world);
  }
}

export async function statusOf({ deps }: World, investorLogin: string): Promise<string> {
  const rows = await many<{ status: string }>(
    deps.pool,
    sql`select status from subscription where investor_login = ${investorLogin} order by id desc limit 1`,
  );
  return rows[0]?.status ?? "nothing";
}
