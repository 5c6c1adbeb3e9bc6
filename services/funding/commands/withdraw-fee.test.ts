import { expect, test } from "vitest";
import { settleCashflows } from "../jobs/settle-cashflows.ts";
import { aCall, INVESTOR, usd, world, type World } from "../testing/funding.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { withdraw } from "./withdraw.ts";

const FORTY = { login: INVESTOR, amount: usd(40_00n), comment: "CRM-2", client: undefined, idempotencyKey: undefined };
const aWorldWithFee = () =>
  world({ platform: platformFake({ balances: { [INVESTOR]: 100_00n } }), pendingFee: 30_00n });

const FEE = { key: "fee of funding:withdrawal:op-1", login: INVESTOR, minor: -30_00n };
const PAYOUT = { key: "funding:payout:op-1", login: INVESTOR, minor: -40_00n };

test("the pending fee is collected under the account lock before the payout", async () => {
  const deps = await aWorldWithFee();

  expect(await withdraw(deps, FORTY, aCall("op-1"))).toMatchObject({
    effectiveWithdraw: usd(40_00n),
    pendingFee: usd(30_00n),
    balanceBefore: usd(100_00n),
    availableAfterFee: usd(70_00n),
    dealId: 900_003n,
  });
  const lockOwner = "funding:withdrawal:op-1:1";
  expect(deps.platform.deals).toMatchObject([
    { ...FEE, lockOwner },
    { ...PAYOUT, lockOwner },
  ]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a fee that leaves nothing to pay out is still collected", async () => {
  const deps = await world({ platform: platformFake({ balances: { [INVESTOR]: 20_00n } }), pendingFee: 20_00n });

  expect(await withdraw(deps, FORTY, aCall("op-1"))).toMatchObject({ effectiveWithdraw: usd(0n), dealId: undefined });
  expect(deps.platform.deals).toMatchObject([{ ...FEE, minor: -20_00n }]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a repeated withdrawal collects no fee again", async () => {
  const deps = await aWorldWithFee();

  const first = await withdraw(deps, FORTY, aCall("op-1"));

  expect(await withdraw(deps, FORTY, aCall("op-1"))).toEqual(first);
  expect(deps.fees.collected).toHaveLength(1);
});

test.each(["unreachable", "lost answer"] as const)(
  "after a collection with fault %s the account lock stays held, and the recovery job completes the decided withdrawal",
  async (fault) => {
    const deps = await aWorldWithFee();
    deps.fees.faults.push(fault);

    await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({
      code: "outcome_unknown",
      operationId: "op-1",
    });
    expect(deps.platform.accountLocks.get(INVESTOR)).toBe("funding:withdrawal:op-1:1");
    await settleLater(deps);

    expect(deps.leaves).toHaveLength(1);
    expect(deps.platform.deals).toMatchObject([FEE, PAYOUT]);
    expect(deps.platform.accountLocks.size).toBe(0);
    expect(await withdraw(deps, FORTY, aCall("op-1"))).toMatchObject({ effectiveWithdraw: usd(40_00n) });
  },
);

test("a decided withdrawal is completed after its deadline", async () => {
  const deps = await aWorldWithFee();
  deps.fees.faults.push("unreachable", "unreachable");
  await withdraw(deps, FORTY, aCall("op-1")).catch(() => {});
  await deps.pool.query("update cashflow set deadline = now() - interval '1 day'");

  await settleLater(deps);
  await settleLater(deps);

  expect(deps.platform.deals).toMatchObject([FEE, PAYOUT]);
});

test("a crash during the fee collection is recovered without a second decision", async () => {
  const deps = await aWorldWithFee();
  const crashing = { ...deps, fees: { ...deps.fees, collect: crash } };
  await expect(withdraw(crashing, FORTY, aCall("op-1"))).rejects.toThrow("killed");

  await settleLater(deps);

  expect(deps.leaves).toHaveLength(1);
  expect(deps.platform.deals).toMatchObject([FEE, PAYOUT]);
});

test("a delayed process that finds the account lock released answers with the outcome of the other process", async () => {
  const deps = await aWorldWithFee();
  const requested = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  const collect: World["fees"]["collect"] = async (request, context) => {
    requested.resolve();
    await resumed.promise;
    // The fee service refuses a key whose account lock is not held.
    return await deps.fees.collect({ ...request, key: "never collected" }, context);
  };
  const delayed = withdraw({ ...deps, fees: { ...deps.fees, collect } }, FORTY, aCall("op-1"));
  await requested.promise;
  const other = await withdraw(deps, FORTY, aCall("op-1"));
  resumed.resolve();

  expect(await delayed).toEqual(other);
  expect(deps.platform.deals).toMatchObject([FEE, PAYOUT]);
});

test("a refused payout keeps the collected fee and returns the reserve", async () => {
  const deps = await aWorldWithFee();
  deps.platform.faults.transfer.push("insufficient_funds");

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({
    code: "insufficient_funds",
    outcome: "not_executed",
  });
  expect(deps.platform.deals).toMatchObject([FEE]);
  expect(deps.returned).toEqual(["funding:payout:op-1"]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

async function crash(): Promise<never> {
  throw new Error("killed");
}

async function settleLater(deps: World): Promise<void> {
  await deps.pool.query("update cashflow set next_try_at = now() - interval '1 second'");
  await settleCashflows(deps);
}
