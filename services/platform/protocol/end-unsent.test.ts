import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { heartbeat } from "../jobs/heartbeat.ts";
import { aDeposit, aTransfer, moneyOf, feeLegs, commentOf } from "../testing/requests.ts";
import { resumeBoth } from "../testing/reviews.ts";
import { aWaitingLeg } from "../testing/rows.ts";
import { aCall, anAccount, type Instance, aProcess, aProcessWith } from "../testing/world.ts";
import { readLogin } from "./history/read-history.ts";
import { recordedTransfer } from "../testing/recorded-transfer.ts";

/** As if another database had taken the place of this one. The process learns of it with its next heartbeat. */
async function replaceDatabase({ deps }: Instance): Promise<void> {
  await deps.pool.query(
    "update permit_gate set database = regexp_replace(database, '^([^/]+/[^/]+)/[^/]+', '\\1/the start before')",
  );
}

test.concurrent.for([
  { name: "knows", isKnown: true },
  { name: "does not know", isKnown: false },
])(
  "a deposit that waits in a restored database is not refused while the process $name that its history was not read",
  async ({ isKnown }, context) => {
    const { world, instance, deps, service } = await aProcess(context, {
      hasJobs: false,
      settings: { turnWaitMs: 300 },
    });
    const [busy, late] = [await anAccount(instance), await anAccount(instance)];
    const requests = [aDeposit(busy, 5n), aDeposit(late, 5n)] as const;
    await aWaitingLeg(deps.pool, { key: "before", login: busy });
    const numbers = [
      await aWaitingLeg(deps.pool, { key: requests[0].key, login: busy }),
      await aWaitingLeg(deps.pool, { key: requests[1].key, login: late, sendBefore: new Date(Date.now() - 1_000) }),
    ] as const;
    await replaceDatabase(instance);
    if (isKnown) await heartbeat(deps);

    for (const [index, request] of requests.entries()) {
      expect(await service.transfer(request, aCall(2_500))).toMatchObject({ state: TransferState.PENDING });
      const login = request.legs[0]!.login;
      await world.control.balance(login, "0.05", commentOf("deposit", numbers[index]!));
      await readLogin(deps, login);
      expect(await recordedTransfer(service, request.key)).toMatchObject({ state: TransferState.APPLIED });
    }
  },
);

test.concurrent("a deposit that was recorded before an equal lost one was found is never sent", async (context) => {
  const { world, instance, deps, service, login } = await aProcessWith("investor", context, {
    hasJobs: false,
    settings: { turnWaitMs: 300 },
  });
  const [repeated, other] = [aDeposit(login, 5n), aDeposit(login, 5n)];
  for (const { key } of [repeated, other]) await aWaitingLeg(deps.pool, { key, login });
  await world.control.balance(login, "0.05", commentOf("deposit", 77n));
  await readLogin(deps, login);
  await resumeBoth(instance);

  for (const request of [repeated, other]) {
    expect(await service.transfer(request, aCall())).toMatchObject({
      state: TransferState.REFUSED,
      refusalCode: "possible_duplicate",
    });
  }
  expect(await world.control.deals(login)).toHaveLength(1);
});

test.concurrent("a process that does not know that its database was restored records no request as refused", async (context) => {
  const { instance, deps, service } = await aProcess(context, { hasJobs: false });
  const [login, payment] = [await anAccount(instance), await anAccount(instance, "payment")];
  const late = aDeposit(login, 5_00n, { sendBefore: new Date(Date.now() - 1_000) });
  const fee = aTransfer("fee:1", feeLegs(login, payment, 20_00n), { upTo: { floor: moneyOf(0n) } });
  await replaceDatabase(instance);

  for (const request of [late, fee]) {
    await expect(service.transfer(request, aCall())).rejects.toMatchObject({
      code: "service_unavailable",
      outcome: "not_executed",
    });
  }
  expect(await many(deps.pool, sql`select number from leg`)).toEqual([]);
});
