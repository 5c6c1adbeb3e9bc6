import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { CommandSession } from "../mt5/client.ts";
import { aManagedLogin, aWaitingLeg } from "../testing/rows.ts";
import { aWorld, type Instance, type World } from "../testing/world.ts";
import { grantPermit } from "./grant-permit.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { lockAccountAndLeg } from "./record.ts";
import { permitHolderOf, voidUnsent } from "./send.ts";

function aSession(sessionId: string): CommandSession {
  const changeBalance = () => Promise.reject(new Error("nothing is to be sent here"));
  return { sessionId, changeBalance, [Symbol.dispose]: () => undefined };
}

const SESSION = aSession("own/1");

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
  const permitHolder = permitHolderOf(of({ own, other }).deps, SESSION);
  await inTransaction(pool, async (tx) => grantPermit(tx, await lockAccountAndLeg(tx, "1", number), permitHolder));
  const status = async (at: LegNumber) =>
    await many(
      pool,
      sql`select leg.state, attempt.state as attempt
          from leg join attempt on leg_number = leg.number
          where leg.number = ${at}`,
    );
  return { deps: own.deps, target: { login: "1", number }, status: () => status(number) };
}

const UNDER_WAY = [{ state: "SENDING", attempt: "SENDING" }];

test.concurrent("a permit whose commit was lost is voided by the process that would have used it", async (context) => {
  const { deps, target, status } = await aPermit(await aWorld(context), ({ own }) => own);

  await voidUnsent(deps, target, SESSION);

  expect(await status()).toEqual([{ state: "INTENT", attempt: "VOID" }]);
});

test.concurrent("the permit of another process is never voided, because its command may have been written", async (context) => {
  const { deps, target, status } = await aPermit(await aWorld(context), ({ other }) => other);

  await voidUnsent(deps, target, SESSION);

  expect(await status()).toEqual(UNDER_WAY);
});

test.concurrent("the permit of another session of the same process is never voided", async (context) => {
  const { deps, target, status } = await aPermit(await aWorld(context), ({ own }) => own);

  await voidUnsent(deps, target, aSession("own/2"));

  expect(await status()).toEqual(UNDER_WAY);
});
