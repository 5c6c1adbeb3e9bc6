import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { releaseLocks, settleCashflows } from "../jobs/settle-cashflows.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { aCall, INVESTOR, no, usd, world, type World } from "../testing/funding.ts";
import { markRefused } from "../store/cashflows.ts";
import { withdraw } from "./withdraw.ts";

const FORTY = { login: INVESTOR, amount: usd(40_00n), comment: "CRM-2", client: undefined };
/** The last entry of the Investor's log has the number 1. */
function rich() {
  const platform = platformFake({ balances: { [INVESTOR]: 100_00n } });
  enter(platform.ledger, INVESTOR, { kind: MovementKind.AMENDMENT, amount: 0n });
  return platform;
}

/** No time to ask a second time. */
const IN_A_HURRY = 1_000;

test("a withdrawal holds the account lock, asks the pool, pays under the account lock and lets it go", async () => {
  const deps = await world({ platform: rich(), masterMinimum: 0n });

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
    { key: "funding:payout:1", login: INVESTOR, minor: -40_00n, comment: "CRM-2", lockOwner: "funding:withdrawal:1:1" },
  ]);
  expect(deps.leaves).toEqual([
    expect.objectContaining({
      key: "funding:withdrawal:1",
      try: 1,
      payoutKey: "funding:payout:1",
      feeSuffix: "WDop-1",
      heldLogNumber: 1n,
    }),
  ]);
  expect(deps.fees.collected).toEqual([{ key: "funding:withdrawal:1", lockOwner: "funding:withdrawal:1:1" }]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a withdrawal is cut to what is there", async () => {
  const deps = await world({ platform: rich() });

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

test("a withdrawal asked for again answers the same and pays nothing more", async () => {
  const deps = await world({ platform: rich() });

  const first = await withdraw(deps, FORTY, aCall("op-1"));

  expect(await withdraw(deps, FORTY, aCall("op-1"))).toEqual(first);
  expect(deps.platform.deals).toHaveLength(1);
});

test("what passes by itself is tried again under another holder", async () => {
  const deps = await world({ platform: rich() });
  deps.refusals.push(no("account_busy"), no("allocation_in_progress"));

  await withdraw(deps, FORTY, aCall("op-1"));

  expect(deps.leaves.map(({ try: attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(deps.platform.released).toEqual([1, 2, 3].map((attempt) => `funding:withdrawal:1:${attempt}`));
});

test.each(["master_open_positions", "investor_deficit"])(
  "%s ends the withdrawal and lets the account lock go",
  async (code) => {
    const deps = await world({ platform: rich() });
    deps.refusals.push(no(code));

    await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ code, outcome: "not_executed" });

    expect(deps.platform.deals).toEqual([]);
    expect(deps.platform.accountLocks.size).toBe(0);
    expect(await saga(deps)).toEqual([{ state: "REFUSED", try: 1, is_released: true }]);
  },
);

test("a busy account is a 409 that names the operation in the way", async () => {
  const deps = await world({ platform: rich() });
  deps.platform.faults.transfer.push("unknown");
  await withdraw(deps, FORTY, aCall("op-1")).catch(() => {});

  await expect(withdraw(deps, FORTY, aCall("op-2"))).rejects.toMatchObject({
    code: "account_busy",
    outcome: "not_executed",
    operationId: "op-1",
  });
});

test("a hold whose answer was lost is not executed, and its account lock is let go", async () => {
  const deps = await world({ platform: rich() });
  deps.platform.faults.hold.push("lost answer");

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ outcome: "not_executed" });
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a refused payout goes back to the pool before the account lock is let go", async () => {
  const deps = await world({ platform: rich() });
  deps.platform.faults.transfer.push("insufficient_funds");

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({
    code: "insufficient_funds",
    outcome: "not_executed",
  });
  expect(deps.returned).toEqual(["funding:payout:1"]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a payout whose answer was lost keeps the account lock until it is known, and is then finished by the job", async () => {
  const deps = await world({ platform: rich() });
  deps.platform.faults.transfer.push("lost answer");

  await expect(withdraw(deps, FORTY, aCall("op-1", IN_A_HURRY))).rejects.toMatchObject({
    code: "outcome_unknown",
    operationId: "op-1",
  });
  expect(deps.platform.accountLocks.get(INVESTOR)).toBe("funding:withdrawal:1:1");

  await settleLater(deps);

  expect(deps.platform.deals).toHaveLength(1);
  expect(deps.platform.accountLocks.size).toBe(0);
  expect(await saga(deps)).toEqual([{ state: "POSTED", try: 1, is_released: true }]);
});

test("a payout that platform did not hear of is paid later and gives nothing back: it may have been heard of before", async () => {
  const deps = await world({ platform: rich() });
  deps.platform.faults.transfer.push("unreachable");

  await expect(withdraw(deps, FORTY, aCall("op-1", IN_A_HURRY))).rejects.toMatchObject({ code: "outcome_unknown" });
  expect(deps.returned).toEqual([]);
  expect(deps.platform.accountLocks.get(INVESTOR)).toBe("funding:withdrawal:1:1");

  await settleLater(deps);

  expect(deps.platform.deals).toHaveLength(1);
  expect(await saga(deps)).toEqual([{ state: "POSTED", try: 1, is_released: true }]);
});

test("a refusal ends a saga only where it was when that was decided", async () => {
  const deps = await world({ platform: rich() });
  deps.platform.faults.transfer.push("lost answer");
  await expect(withdraw(deps, FORTY, aCall("op-1", IN_A_HURRY))).rejects.toThrow();

  const late = { from: "LEAVING", refusal: no("account_busy"), at: new Date() } as const;
  expect(await markRefused(deps.pool, 1n, late)).toBe(false);
  expect(await saga(deps)).toEqual([{ state: "PAYING", try: 1, is_released: false }]);
});

test("a pool that does not answer leaves the saga to the job, which finishes it as decided", async () => {
  const deps = await world({ platform: rich() });
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

test("a process that died before the pool was asked leaves a saga that ends as not executed", async () => {
  const deps = await world({ platform: rich() });
  const dying = { ...deps, platform: { ...deps.platform, hold: dies } };
  await expect(withdraw(dying, FORTY, aCall("op-1"))).rejects.toThrow("killed");
  await deps.pool.query("update cashflow set deadline = now() - interval '1 second'");

  await settleLater(deps);

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ outcome: "not_executed" });
  expect(deps.platform.released).toEqual(["funding:withdrawal:1:1"]);
});

test("an account lock that could not be let go is let go by the job", async () => {
  const deps = await world({ platform: rich() });
  deps.platform.faults.release.push("unreachable");

  await withdraw(deps, FORTY, aCall("op-1"));
  expect(deps.platform.accountLocks.size).toBe(1);
  await deps.pool.query("update cashflow set finished_at = now() - interval '1 minute'");
  await releaseLocks(deps);

  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a request that wakes up in a try of before leaves the next one alone", async () => {
  const deps = await world({ platform: rich() });
  const held = Promise.withResolvers<void>();
  const woken = Promise.withResolvers<void>();
  const hold: World["platform"]["hold"] = async (...asked) => {
    const answer = await deps.platform.hold(...asked);
    held.resolve();
    await woken.promise;
    return answer;
  };
  const sleeper = withdraw({ ...deps, platform: { ...deps.platform, hold } }, FORTY, aCall("op-1"));
  await held.promise;
  deps.refusals.push(no("account_busy"));
  const release: World["platform"]["release"] = async (...asked) => {
    const answer = await deps.platform.release(...asked);
    // The first try is over and the second is recorded a moment later.
    setTimeout(woken.resolve, 100);
    return answer;
  };
  const other = withdraw({ ...deps, platform: { ...deps.platform, release } }, FORTY, aCall("op-1"));

  expect(await other).toMatchObject({ effectiveWithdraw: usd(40_00n) });
  expect(await sleeper).toEqual(await other);
  expect(deps.platform.deals).toHaveLength(1);
  expect(await saga(deps)).toEqual([{ state: "POSTED", try: 2, is_released: true }]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

test("a request that is refused in a try of before does not end the next one", async () => {
  const deps = await world({ platform: rich() });
  const recorded = Promise.withResolvers<void>();
  const woken = Promise.withResolvers<void>();
  const hold: World["platform"]["hold"] = async (...asked) => {
    recorded.resolve();
    await woken.promise;
    return await deps.platform.hold(...asked);
  };
  const sleeper = withdraw({ ...deps, platform: { ...deps.platform, hold } }, FORTY, aCall("op-1"));
  await recorded.promise;
  deps.refusals.push(no("account_busy"));
  const slowly: World["platform"]["hold"] = async (...asked) => {
    const answer = await deps.platform.hold(...asked);
    if (!asked[0].lockOwner.endsWith(":1")) {
      woken.resolve();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return answer;
  };
  const other = withdraw({ ...deps, platform: { ...deps.platform, hold: slowly } }, FORTY, aCall("op-1"));

  expect(await other).toMatchObject({ effectiveWithdraw: usd(40_00n) });
  expect(await sleeper).toEqual(await other);
  expect(await saga(deps)).toEqual([{ state: "POSTED", try: 2, is_released: true }]);
  expect(deps.platform.accountLocks.size).toBe(0);
});

async function dies(): Promise<never> {
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
