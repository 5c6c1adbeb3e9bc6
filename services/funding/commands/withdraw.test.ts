import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { releaseLocks, settleCashflows } from "../jobs/settle-cashflows.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { aCall, INVESTOR, aRefusal, repeatsLost, usd, world, type World } from "../testing/funding.ts";
import { markRefused } from "../store/cashflow-transitions.ts";
import { withdraw } from "./withdraw.ts";

const FORTY = { login: INVESTOR, amount: usd(40_00n), comment: "CRM-2", client: undefined, idempotencyKey: undefined };
/** The last entry of the Investor's log has the number 1. */
function fundedPlatform() {
  const platform = platformFake({ balances: { [INVESTOR]: 100_00n } });
  enter(platform.ledger, INVESTOR, { kind: MovementKind.AMENDMENT, amount: 0n });
  return platform;
}

/** Time for one call of the platform service, and not for another one. */
const ONE_CALL_MS = 1_500;

test("a withdrawal acquires the account lock, lets the subscription service decide, pays out under the lock and releases it", async () => {
  const deps = await world({ platform: fundedPlatform(), masterMinimum: 0n });

  expect(await withdraw(deps, FORTY, aCall("op-1"))).toEqual({
    operationId: "op-1",
    requestedAmount: usd(40_00n),
    effectiveWithdraw: usd(40_00n),
    openPositionsChecked: true,
    pendingFee: usd(0n),
    balanceBefore: usd(100_00n),
    availableAfterFee: usd(100_00n),
    dealId: 900_003n,
  });
  expect(deps.platform.deals).toEqual([
    {
      key: "funding:payout:op-1",
      login: INVESTOR,
      minor: -40_00n,
      comment: "CRM-2",
      lockOwner: "funding:withdrawal:op-1:1",
    },
  ]);
  expect(deps.leaves).toEqual([
    expect.objectContaining({
      key: "funding:withdrawal:op-1",
      try: 1,
      payoutKey: "funding:payout:op-1",
      feeSuffix: "WDop-1",
      heldLogNumber: 1n,
    }),
  ]);
  expect(deps.fees.collected).toEqual([{ key: "funding:withdrawal:op-1", lockOwner: "funding:withdrawal:op-1:1" }]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a payout is refused by a busy account rather than queued, and has no deadline", async () => {
  const deps = await world({ platform: fundedPlatform() });
  const requests: Parameters<World["platform"]["transfer"]>[0][] = [];
  const transfer: World["platform"]["transfer"] = async (request, context) => {
    requests.push(request);
    return await deps.platform.transfer(request, context);
  };

  await withdraw({ ...deps, platform: { ...deps.platform, transfer } }, FORTY, aCall("op-1"));

  expect(requests).toMatchObject([
    { key: "funding:payout:op-1", enqueue: false, upTo: undefined, sendBefore: undefined },
  ]);
});

test("a withdrawal is reduced to the available balance", async () => {
  const deps = await world({ platform: fundedPlatform() });

  expect(await withdraw(deps, { ...FORTY, amount: usd(250_00n) }, aCall("op-1"))).toMatchObject({
    requestedAmount: usd(250_00n),
    effectiveWithdraw: usd(100_00n),
    openPositionsChecked: false,
  });
});

test("a withdrawal from an empty account pays nothing and has no deal", async () => {
  const deps = await world();

  const answer = await withdraw(deps, FORTY, aCall("op-1"));

  expect(answer).toMatchObject({ effectiveWithdraw: usd(0n), dealId: undefined });
  expect(await saga(deps)).toEqual([{ state: "POSTED", try: 1, is_released: true }]);
});

test("a repeated withdrawal gets the same answer and is paid once", async () => {
  const deps = await world({ platform: fundedPlatform() });

  const first = await withdraw(deps, FORTY, aCall("op-1"));

  expect(await withdraw(deps, FORTY, aCall("op-1"))).toEqual(first);
  expect(deps.platform.deals).toHaveLength(1);
});

test("after a temporary refusal the subscription service is called again with another lock owner", async () => {
  const deps = await world({ platform: fundedPlatform() });
  deps.refusals.push(aRefusal("account_busy"), aRefusal("allocation_in_progress"));

  await withdraw(deps, FORTY, aCall("op-1"));

  expect(deps.leaves.map(({ try: attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(deps.platform.released).toEqual([1, 2, 3].map((attempt) => `funding:withdrawal:op-1:${attempt}`));
});

test.each(["master_open_positions", "investor_deficit"])(
  "%s ends the withdrawal and releases the account lock",
  async (code) => {
    const deps = await world({ platform: fundedPlatform() });
    deps.refusals.push(aRefusal(code));

    await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ code, outcome: "not_executed" });

    expect(deps.platform.deals).toEqual([]);
    expect(deps.platform.accountLocks.size).toBe(0);
    expect(await saga(deps)).toEqual([{ state: "REFUSED", try: 1, is_released: true }]);
  },
);

test("a withdrawal from a busy account is refused with the id of the open operation", async () => {
  const deps = await world({ platform: fundedPlatform() });
  deps.platform.faults.transfer.push("unknown");
  await withdraw(deps, FORTY, aCall("op-1")).catch(() => {});

  await expect(withdraw(deps, FORTY, aCall("op-2"))).rejects.toMatchObject({
    code: "account_busy",
    outcome: "not_executed",
    operationId: "op-1",
    // The outcome of the first one is being determined, which takes minutes.
    message: expect.stringContaining("is not known yet and is being determined") as string,
    details: { reason: "outcome_unknown" },
    retryAfterMs: 30_000,
  });
});

test("a withdrawal whose request for the account lock got no answer is not executed, and its account lock is released", async () => {
  const deps = await world({ platform: fundedPlatform() });
  deps.platform.faults.hold.push("lost answer");

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ outcome: "not_executed" });
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("the reserve of a refused payout is returned to the pool before the account lock is released", async () => {
  const deps = await world({ platform: fundedPlatform() });
  deps.platform.faults.transfer.push("insufficient_funds");

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({
    code: "insufficient_funds",
    outcome: "not_executed",
  });
  expect(deps.returned).toEqual(["funding:payout:op-1"]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a payout whose answer was lost is finished by the recovery job, and is paid once", async () => {
  const deps = await world({ platform: fundedPlatform() });
  deps.platform.faults.transfer.push("lost answer");

  await expect(withdraw(deps, FORTY, aCall("op-1", ONE_CALL_MS))).rejects.toMatchObject({
    code: "outcome_unknown",
    operationId: "op-1",
  });
  expect(await saga(deps)).toEqual([{ state: "PAYING", try: 1, is_released: false }]);

  await settleLater(deps);

  expect(deps.platform.deals).toHaveLength(1);
  expect(deps.platform.accountLocks.size).toBe(0);
  expect(await saga(deps)).toEqual([{ state: "POSTED", try: 1, is_released: true }]);
});

test("a payout that did not reach the platform service keeps its reserve and is paid later", async () => {
  const deps = await world({ platform: fundedPlatform() });
  deps.platform.faults.transfer.push("unreachable");

  await expect(withdraw(deps, FORTY, aCall("op-1", ONE_CALL_MS))).rejects.toMatchObject({ code: "outcome_unknown" });
  expect(deps.returned).toEqual([]);
  expect(deps.platform.accountLocks.get(INVESTOR)).toBe("funding:withdrawal:op-1:1");

  await settleLater(deps);

  expect(deps.platform.deals).toHaveLength(1);
  expect(await saga(deps)).toEqual([{ state: "POSTED", try: 1, is_released: true }]);
});

test("a payout that did not reach the platform service is sent again while its caller waits", async () => {
  const deps = await world({ platform: fundedPlatform() });
  deps.platform.faults.transfer.push("unreachable", "unreachable");

  await expect(withdraw(deps, FORTY, aCall("op-1"))).resolves.toMatchObject({ effectiveWithdraw: usd(40_00n) });

  expect(deps.platform.deals).toHaveLength(1);
});

test("a late refusal does not end a saga that has reached another state", async () => {
  const deps = await world({ platform: fundedPlatform() });
  deps.platform.faults.transfer.push("lost answer");
  await expect(withdraw(deps, FORTY, aCall("op-1", ONE_CALL_MS))).rejects.toThrow();

  const late = { from: "LEAVING", refusal: aRefusal("account_busy"), at: new Date() } as const;
  expect(await markRefused(deps.pool, 1n, late)).toBe(false);
  expect(await saga(deps)).toEqual([{ state: "PAYING", try: 1, is_released: false }]);
});

test("after a lost answer of the subscription service the recovery job finishes the saga in the same try", async () => {
  const deps = await world({ platform: fundedPlatform() });
  const { outcomeUnknown } = await import("#kernel/contract/refusals.ts");
  deps.refusals.push(outcomeUnknown("subscription"));

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ outcome: "unknown" });
  await settleLater(deps);

  expect(deps.leaves.map(({ try: attempt }) => attempt)).toEqual([1, 1]);
  expect(await withdraw(deps, FORTY, aCall("op-1"))).toMatchObject({
    effectiveWithdraw: usd(40_00n),
    dealId: 900_003n,
  });
});

test("a crash before the subscription service is called leaves a saga that ends as not executed", async () => {
  const deps = await world({ platform: fundedPlatform() });
  const crashing = { ...deps, platform: { ...deps.platform, hold: crash } };
  await expect(withdraw(crashing, FORTY, aCall("op-1"))).rejects.toThrow("killed");
  await deps.pool.query("update cashflow set deadline = now() - interval '1 second'");

  await settleLater(deps);

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ outcome: "not_executed" });
  expect(deps.platform.released).toEqual(["funding:withdrawal:op-1:1"]);
});

test("the account lock of a refused withdrawal whose release failed is released by the recovery job", async () => {
  const deps = await world({ platform: fundedPlatform() });
  deps.platform.faults.release.push("unreachable");
  deps.refusals.push(aRefusal("master_open_positions"));

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ code: "master_open_positions" });
  expect(deps.platform.accountLocks.size).toBe(1);
  await deps.pool.query("update cashflow set finished_at = now() - interval '1 minute'");
  await releaseLocks(deps);

  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a process delayed in an earlier try does not change the next try", async () => {
  const deps = await world({ platform: fundedPlatform() });
  const held = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  const hold: World["platform"]["hold"] = async (...args) => {
    const answer = await deps.platform.hold(...args);
    held.resolve();
    await resumed.promise;
    return answer;
  };
  const delayed = withdraw({ ...deps, platform: { ...deps.platform, hold } }, FORTY, aCall("op-1"));
  await held.promise;
  deps.refusals.push(aRefusal("account_busy"));
  const release: World["platform"]["release"] = async (...args) => {
    const answer = await deps.platform.release(...args);
    // The first try has ended, and the second one is recorded right afterwards.
    setTimeout(resumed.resolve, 100);
    return answer;
  };
  const other = withdraw({ ...deps, platform: { ...deps.platform, release } }, FORTY, aCall("op-1"));

  expect(await other).toMatchObject({ effectiveWithdraw: usd(40_00n) });
  expect(await delayed).toEqual(await other);
  expect(deps.platform.deals).toHaveLength(1);
  expect(await saga(deps)).toEqual([{ state: "POSTED", try: 2, is_released: true }]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a refusal of an earlier try does not end the next try", async () => {
  const deps = await world({ platform: fundedPlatform() });
  const recorded = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  const hold: World["platform"]["hold"] = async (...args) => {
    recorded.resolve();
    await resumed.promise;
    return await deps.platform.hold(...args);
  };
  const delayed = withdraw({ ...deps, platform: { ...deps.platform, hold } }, FORTY, aCall("op-1"));
  await recorded.promise;
  deps.refusals.push(aRefusal("account_busy"));
  const slowHold: World["platform"]["hold"] = async (...args) => {
    const answer = await deps.platform.hold(...args);
    if (!args[0].lockOwner.endsWith(":1")) {
      resumed.resolve();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return answer;
  };
  const other = withdraw({ ...deps, platform: { ...deps.platform, hold: slowHold } }, FORTY, aCall("op-1"));

  expect(await other).toMatchObject({ effectiveWithdraw: usd(40_00n) });
  expect(await delayed).toEqual(await other);
  expect(await saga(deps)).toEqual([{ state: "POSTED", try: 2, is_released: true }]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

async function crash(): Promise<never> {
  throw new Error("killed");
}

async function settleLater(deps: World): Promise<void> {
  await deps.pool.query("update cashflow set next_try_at = now() - interval '1 second'");
  await settleCashflows(deps);
}

async function saga({ pool }: World) {
  return await many(
    pool,
    sql`select state, try, is_released from cashflow join withdrawal on cashflow_id = cashflow.id order by cashflow.id`,
  );
}

test("a withdrawal that platform refuses as the repetition of a lost one ends before any fee is collected", async () => {
  const deps = await world({ platform: fundedPlatform() });
  const asked: Parameters<World["platform"]["hold"]>[0][] = [];
  const hold: World["platform"]["hold"] = (request) => {
    asked.push(request);
    return Promise.reject(repeatsLost(77n));
  };

  await expect(withdraw({ ...deps, platform: { ...deps.platform, hold } }, FORTY, aCall("op-1"))).rejects.toMatchObject(
    {
      code: "possible_duplicate",
      outcome: "not_executed",
      details: { deal_id: "77" },
    },
  );
  expect(asked).toMatchObject([{ login: INVESTOR, withdrawal: { amount: usd(40_00n), comment: "CRM-2" } }]);
  expect(deps.fees.collected).toEqual([]);
  expect(deps.platform.deals).toEqual([]);
});

test("a payout that platform refuses as the repetition of a lost one ends the withdrawal, and its reserve is returned", async () => {
  const deps = await world({ platform: fundedPlatform() });
  const transfer: World["platform"]["transfer"] = () => Promise.reject(repeatsLost(77n));

  await expect(
    withdraw({ ...deps, platform: { ...deps.platform, transfer } }, FORTY, aCall("op-1")),
  ).rejects.toMatchObject({ code: "possible_duplicate", outcome: "not_executed", details: { deal_id: "77" } });
  expect(deps.returned).toEqual(["funding:payout:op-1"]);
  expect(deps.platform.accountLocks.size).toBe(0);
  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ code: "possible_duplicate" });
});
