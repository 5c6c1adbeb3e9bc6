import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { findLeg } from "../store/legs.ts";
import { aManagedLogin, aPermitHolder, aWaitingLeg, permitLeg } from "../testing/rows.ts";
import { aWorld, type Instance, type World } from "../testing/world.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { voidUnsent } from "./commit-permits.ts";

const SESSION = "own/1";

/** Two processes, and a leg whose permit one of them has. */
async function aPermit(
  world: World,
  of: (processes: { readonly own: Instance; readonly other: Instance }) => Instance,
) {
  const own = await world.start({ hasJobs: false });
  const other = await world.start({ hasJobs: false });
  const { pool } = own.deps;
  await aManagedLogin(pool, "1");
  const number = await aWaitingLeg(pool, { key: "a" });
  const { epoch } = of({ own, other }).deps.sender;
  await permitLeg(pool, number, await aPermitHolder(pool, { epoch, sessionId: SESSION }));
  const status = async (at: LegNumber) =>
    await many(
      pool,
      sql`select leg.state, attempt.state as attempt
          from leg join attempt on leg_number = leg.number
          where leg.number = ${at}`,
    );
  const leg = (await findLeg(pool, number))!;
  return { deps: own.deps, leg, status: () => status(number) };
}

const UNDER_WAY = [{ state: "SENDING", attempt: "SENDING" }];

test.concurrent("a permit whose commit was lost is voided by the process and session that would have used it, and no other session", async (context) => {
  const { deps, leg, status } = await aPermit(await aWorld(context), ({ own }) => own);

  await voidUnsent(deps, leg, "own/2");
  expect(await status()).toEqual(UNDER_WAY);

  await voidUnsent(deps, leg, SESSION);
  expect(await status()).toEqual([{ state: "INTENT", attempt: "VOID" }]);
});

test.concurrent("the permit of another process is never voided, because its command may have been written", async (context) => {
  const { deps, leg, status } = await aPermit(await aWorld(context), ({ other }) => other);

  await voidUnsent(deps, leg, SESSION);

  expect(await status()).toEqual(UNDER_WAY);
});
