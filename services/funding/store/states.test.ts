import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { statesOf } from "#kernel/testing/states.ts";
import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { deposit } from "../commands/deposit.ts";
import { withdraw } from "../commands/withdraw.ts";
import { fundingService, STATES_FEED } from "../service.ts";
import { aNewWithdrawal } from "../testing/cashflows.ts";
import { aCall, aRefusal, INVESTOR, usd, type World, world } from "../testing/funding.ts";
import { LONG_MS, passTime } from "../testing/queue.ts";
import { refusedWith } from "../testing/subscription-fake.ts";
import { cashflowQueue, markDoubt, markPosted, markRepeated } from "./cashflow-transitions.ts";
import { insertCashflows } from "./new-cashflows.ts";

const REQUEST = { login: INVESTOR, comment: "CRM-1", client: undefined, idempotencyKey: undefined };

/** The states of an operation so far; the last one is what the route shows. */
async function states(deps: World, operationId: string): Promise<string[]> {
  const noted = (await statesOf(deps.pool, STATES_FEED)).filter(({ subject }) => subject === operationId);
  const { outcome } = await fundingService(deps).getOperation({ operationId }, aCall("read"));
  const [name = ""] = Object.entries(OperationOutcome).find(([, value]) => value === outcome) ?? [];
  expect(name.toLowerCase()).toBe(noted.at(-1)?.state);
  return noted.map(({ kind, state }) => `${kind} ${state}`);
}

test("a deposit, a withdrawal and a refused withdrawal are noted in each state that the ledger shows, with their facts", async () => {
  const deps = await world();
  await deposit(deps, { ...REQUEST, amount: usd(100_00n) }, aCall("op-1"));
  await withdraw(deps, { ...REQUEST, amount: usd(30_00n) }, aCall("op-2"));
  deps.subscriptions.next.push(refusedWith(aRefusal("master_open_positions")));
  await withdraw(deps, { ...REQUEST, amount: usd(1_00n) }, aCall("op-3")).catch(() => undefined);

  expect(await states(deps, "op-1")).toEqual(["deposit pending", "deposit executed"]);
  expect(await states(deps, "op-2")).toEqual(["withdrawal pending", "withdrawal executed"]);
  expect(await states(deps, "op-3")).toEqual(["withdrawal pending", "withdrawal not_executed"]);
  const [, executed] = await statesOf(deps.pool, STATES_FEED);
  expect(executed).toEqual({
    kind: "deposit",
    state: "executed",
    subject: "op-1",
    notedAt: expect.any(Date),
    login: INVESTOR,
    masterLogin: "",
    operationId: "op-1",
    amount: usd(100_00n),
    dealId: expect.any(BigInt),
    reason: "",
  });
  expect((await statesOf(deps.pool, STATES_FEED)).at(-1)?.reason).toBe("master_open_positions");
});

test("an open operation becomes unknown once, when its deadline has passed, and no repetition makes it so before", async () => {
  const deps = await world();
  const deadline = new Date(Date.now() + LONG_MS);
  const id = (await insertCashflows(deps.pool, [aNewWithdrawal({ deadline })])).get("op-1")!.id!;
  await markRepeated(deps.pool, [id]);
  expect(await cashflowQueue.claim(deps.pool, 1)).toEqual([]);
  expect(await states(deps, "op-1")).toEqual(["withdrawal pending"]);

  await passTime(deps.pool, LONG_MS);
  for (let claim = 0; claim < 2; claim += 1) {
    await execute(
      deps.pool,
      sql`update cashflow set next_try_at = least(next_try_at, greatest(deadline, clock_timestamp()))`,
    );
    expect(await cashflowQueue.claim(deps.pool, 1)).toHaveLength(1);
  }
  expect(await states(deps, "op-1")).toEqual(["withdrawal pending", "withdrawal unknown"]);
  await markDoubt(deps.pool, id, "UNKNOWN");
  await markDoubt(deps.pool, id, "REVIEW");
  expect(await states(deps, "op-1")).toHaveLength(3);
  await markPosted(deps.pool, [{ id, dealId: 7n, at: new Date() }]);

  const all = ["pending", "unknown", "review", "executed"].map((state) => `withdrawal ${state}`);
  expect(await states(deps, "op-1")).toEqual(all);
});
