import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { expired } from "#catalogue/queue-until-flat.ts";
import { statesOf } from "#kernel/testing/states.ts";
import { OperationOutcome, QueueState } from "#proto/pamm/funding/v1/funding.ts";
import { WithdrawalProgress } from "#proto/pamm/subscription/v1/events.ts";
import { WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import type { Deps } from "../deps.ts";
import { withdrawalsFeed } from "../events/receive-facts.ts";
import { settleCashflows } from "../jobs/settle-cashflows.ts";
import { fundingService, STATES_FEED } from "../service.ts";
import { aCall, aRefusal, INVESTOR, usd, type World, world } from "../testing/funding.ts";
import { aQueued, LONG_MS, passTime, queueOf } from "../testing/queue.ts";
import { answerOf, refusedWith, WAITS } from "../testing/subscription-fake.ts";
import { withdraw } from "./withdraw.ts";

const { WAITING, RUNNING, ENDED } = WithdrawalProgress;
const PENDING = { outcome: OperationOutcome.PENDING, refusalCode: "" };
const PAID = answerOf(WithdrawalState.PAID, { dealId: 7n, hasWaited: true });

async function aWorld(): Promise<World> {
  return await world({ platform: platformFake({ balances: { [INVESTOR]: 100_00n } }), masterMinimum: 0n });
}

/** The Master has open positions at the moment of the request. */
async function queued(deps: World, id: string, overrides: Parameters<typeof aQueued>[0] = {}) {
  deps.subscriptions.next.push(WAITS);
  return await withdraw(deps, aQueued(overrides), aCall(id));
}

/** One page of the feed of subscription. */
async function report(deps: Deps, operationId: string, ...progress: readonly WithdrawalProgress[]): Promise<void> {
  const entries = progress.map((each, index) => ({
    number: BigInt(index + 1),
    type: "pamm.subscription.v1.WithdrawalChanged" as const,
    message: { operationId, progress: each },
    publishedAt: new Date(),
    requestId: "",
  }));
  await inTransaction(deps.pool, (tx) => withdrawalsFeed(deps).receive(tx, entries as never));
}

async function ledger(deps: Deps, operationId: string) {
  return await fundingService(deps).getOperation({ operationId }, aCall("read"));
}

async function cancel(deps: Deps, operationId: string) {
  return await fundingService(deps).cancelOperation({ operationId }, aCall("cancel"));
}

test("a withdrawal waits while the Master has open positions, and its end is recorded when it is reported", async () => {
  const deps = await aWorld();
  const answer = await queued(deps, "op-1");

  expect(answer).toMatchObject({ operationId: "op-1", requestedAmount: usd(40_00n), dealId: undefined });
  const { queuedUntil } = answer;
  expect(deps.subscriptions.asked).toMatchObject([{ queueUntil: queuedUntil }]);
  expect(queuedUntil).toBeInstanceOf(Date);
  expect(await ledger(deps, "op-1")).toMatchObject({ ...PENDING, queueState: QueueState.WAITING, queuedUntil });
  await passTime(deps.pool, LONG_MS);
  expect(await ledger(deps, "op-1")).toMatchObject(PENDING);

  await report(deps, "op-1", WAITING, RUNNING);
  expect(await ledger(deps, "op-1")).toMatchObject({ ...PENDING, queueState: QueueState.RUNNING });
  await settleCashflows(deps);
  expect(deps.subscriptions.asked).toHaveLength(1);
  deps.subscriptions.recorded.set("op-1", PAID);
  await report(deps, "op-1", ENDED);
  await settleCashflows(deps);

  expect(await ledger(deps, "op-1")).toMatchObject({
    outcome: OperationOutcome.EXECUTED,
    dealId: 7n,
    queueState: QueueState.ENDED,
  });
  const states = (await statesOf(deps.pool, STATES_FEED)).map(({ kind, state }) => `${kind} ${state}`);
  expect(states).toEqual(["withdrawal pending", "withdrawal executed"]);
});

test("the recovery job is woken by each report", async () => {
  const deps = await aWorld();
  let woken = 0;
  await report({ ...deps, settleWake: { ...deps.settleWake, notify: () => void (woken += 1) } }, "op-1", ENDED);
  expect(woken).toBe(1);
});

test("a report that overtakes the answer of the request is not undone by it", async () => {
  const deps = await aWorld();
  const withdrawn: World["subscriptions"]["withdraw"] = async (...args) => {
    const answer = await deps.subscriptions.withdraw(...args);
    await report(deps, "op-1", WAITING, RUNNING, ENDED);
    deps.subscriptions.recorded.set("op-1", PAID);
    return answer;
  };
  deps.subscriptions.next.push(WAITS);
  const overtaken = { ...deps, subscriptions: { ...deps.subscriptions, withdraw: withdrawn } };
  expect(await withdraw(overtaken, aQueued(), aCall("op-1"))).toMatchObject({ queuedUntil: expect.any(Date) });

  expect(await ledger(deps, "op-1")).toMatchObject({ queueState: QueueState.RUNNING });
  await settleCashflows(deps);
  expect(await ledger(deps, "op-1")).toMatchObject({ dealId: 7n, queueState: QueueState.ENDED });
});

test("a report that comes after the end shows that the withdrawal has waited, and changes nothing else", async () => {
  const deps = await aWorld();
  deps.subscriptions.next.push(PAID);
  await withdraw(deps, aQueued(), aCall("op-1"));
  expect((await ledger(deps, "op-1")).queueState).toBeUndefined();

  await report(deps, "op-1", WAITING, RUNNING, ENDED);
  await settleCashflows(deps);

  expect(await ledger(deps, "op-1")).toMatchObject({ dealId: 7n, queueState: QueueState.ENDED });
  expect(deps.subscriptions.asked).toHaveLength(1);
});

test("a reported end is the end of a withdrawal that did not wait too, and no report is about an operation that is not recorded", async () => {
  const deps = await aWorld();
  deps.subscriptions.faults.push("lost answer");
  await withdraw(deps, aQueued({ queueForMs: undefined }), aCall("op-1", 1_500)).catch(() => undefined);
  await report(deps, "op-9", WAITING, ENDED);
  await report(deps, "op-1", ENDED);
  await settleCashflows(deps);

  const { outcome, queueState } = await ledger(deps, "op-1");
  expect([outcome, queueState]).toEqual([OperationOutcome.EXECUTED, undefined]);
});

test("a report without a progress stops the feed", async () => {
  await expect(report(await aWorld(), "op-1", WithdrawalProgress.UNSPECIFIED)).rejects.toThrow("names no progress");
});

test("a withdrawal whose request has died waits on, and is asked for again at its expiry when no end is reported", async () => {
  const deps = await aWorld();
  deps.subscriptions.next.push(WAITS);
  deps.subscriptions.faults.push("lost answer");
  const request = aQueued({ queueForMs: BigInt(2 * LONG_MS) });
  await expect(withdraw(deps, request, aCall("op-1", 1_500))).rejects.toMatchObject({ code: "outcome_unknown" });
  await passTime(deps.pool, LONG_MS);
  expect(await ledger(deps, "op-1")).toMatchObject({ outcome: OperationOutcome.UNKNOWN });

  await settleCashflows(deps);
  expect(await ledger(deps, "op-1")).toMatchObject({ ...PENDING, queueState: QueueState.WAITING });
  await passTime(deps.pool, LONG_MS);
  await settleCashflows(deps);
  expect(deps.subscriptions.asked).toHaveLength(2);
  deps.subscriptions.recorded.set("op-1", refusedWith(expired(), { hasWaited: true }));
  await passTime(deps.pool, LONG_MS);
  await settleCashflows(deps);

  expect(await ledger(deps, "op-1")).toMatchObject({
    outcome: OperationOutcome.NOT_EXECUTED,
    refusalCode: "expired",
    queueState: QueueState.ENDED,
  });
  for (let times = 0; times < 2; times += 1) {
    await expect(withdraw(deps, request, aCall("op-1"))).rejects.toMatchObject({
      code: "expired",
      outcome: "not_executed",
      operationId: "op-1",
    });
  }
  expect(deps.subscriptions.asked).toHaveLength(3);
});

test("a withdrawal that waited and was refused for another reason names itself in the refusal", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1");
  deps.subscriptions.recorded.set("op-1", refusedWith(aRefusal("account_busy"), { hasWaited: true }));

  await expect(withdraw(deps, aQueued(), aCall("op-1"))).rejects.toMatchObject({
    code: "account_busy",
    operationId: "op-1",
  });
  expect(await queueOf(deps)).toEqual([{ id: "op-1", state: "REFUSED", queue: "WAITING", refusal: "account_busy" }]);
});

test("a withdrawal that nothing blocks is paid at once, and one that is blocked for another reason is refused", async () => {
  const deps = await aWorld();
  const answer = await withdraw(deps, aQueued(), aCall("op-1"));
  expect(answer).toMatchObject({ effectiveWithdraw: usd(40_00n), dealId: 900_002n });
  expect("queuedUntil" in answer).toBe(false);
  expect((await ledger(deps, "op-1")).queueState).toBeUndefined();

  deps.subscriptions.next.push(refusedWith(aRefusal("too_many_queued")));
  await expect(withdraw(deps, aQueued(), aCall("op-2"))).rejects.toMatchObject({ code: "too_many_queued" });
  expect(await queueOf(deps)).toMatchObject([{ queue: "WANTED" }, { queue: "WANTED", refusal: "too_many_queued" }]);
});

test("its caller cancels a withdrawal that waits, also twice, and none that was executed, refused or never queued", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1");
  const end = { outcome: OperationOutcome.NOT_EXECUTED, refusalCode: "cancelled", queueState: QueueState.ENDED };
  expect(await cancel(deps, "op-1")).toMatchObject(end);
  expect(await cancel(deps, "op-1")).toMatchObject(end);
  await report(deps, "op-1", WAITING, ENDED);
  await settleCashflows(deps);
  await expect(withdraw(deps, aQueued(), aCall("op-1"))).rejects.toMatchObject({
    code: "cancelled",
    operationId: "op-1",
  });

  await withdraw(deps, aQueued(), aCall("op-2"));
  deps.subscriptions.faults.push("lost answer");
  await withdraw(deps, aQueued({ queueForMs: undefined }), aCall("op-3", 1_500)).catch(() => undefined);
  deps.subscriptions.next.push(refusedWith(aRefusal("investor_deficit")));
  await withdraw(deps, aQueued(), aCall("op-4")).catch(() => undefined);
  for (const id of ["op-2", "op-3", "op-4"]) {
    await expect(cancel(deps, id)).rejects.toMatchObject({ code: "operation_not_cancellable", operationId: id });
  }
  await expect(cancel(deps, "op-5")).rejects.toMatchObject({ code: "operation_not_found" });
});

test("subscription decides whether a withdrawal is cancelled: one that has begun or that it does not know is not, and a lost answer is repeated", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1");
  deps.subscriptions.recorded.set("op-1", answerOf(WithdrawalState.RUNNING));
  const notCancellable = { code: "operation_not_cancellable", operationId: "op-1" };
  await expect(cancel(deps, "op-1")).rejects.toMatchObject(notCancellable);
  deps.subscriptions.recorded.delete("op-1");
  await expect(cancel(deps, "op-1")).rejects.toMatchObject(notCancellable);
  expect(await ledger(deps, "op-1")).toMatchObject(PENDING);

  deps.subscriptions.recorded.set("op-1", WAITS);
  const cancelWithdrawal: World["subscriptions"]["cancelWithdrawal"] = async (...args) => {
    await deps.subscriptions.cancelWithdrawal(...args);
    throw new Error("lost");
  };
  const losing = { ...deps, subscriptions: { ...deps.subscriptions, cancelWithdrawal } };
  await expect(cancel(losing, "op-1")).rejects.toThrow("lost");
  expect(await cancel(deps, "op-1")).toMatchObject({ refusalCode: "cancelled" });
});

test("a repeated request gets the same operation while it waits, and one that does not expect it is referred to the operation", async () => {
  const deps = await aWorld();
  const idempotencyKey = { clientId: "crm", hash: Buffer.alloc(32, 1), keptSince: new Date(0) };
  deps.subscriptions.next.push(WAITS);
  const request = { ...aQueued(), idempotencyKey };
  const first = await withdraw(deps, request, aCall("op-1"));
  expect(await withdraw(deps, request, aCall("op-1"))).toEqual(first);
  expect(await withdraw(deps, request, aCall("op-2"))).toEqual(first);
  expect(await ledger(deps, "op-2")).toMatchObject({ operationId: "op-1", ...PENDING });
  await expect(withdraw(deps, { ...request, queueForMs: undefined }, aCall("op-1"))).rejects.toMatchObject({
    code: "operation_in_progress",
    outcome: "unknown",
    operationId: "op-1",
  });

  deps.subscriptions.recorded.set("op-1", PAID);
  expect(await withdraw(deps, request, aCall("op-1"))).toMatchObject({ dealId: 7n });
  expect(await cancel(deps, "op-2").catch(({ code }: { code: string }) => code)).toBe("operation_not_cancellable");
});

test("the operations that wait, and those of which a later try runs, are listed", async () => {
  const deps = await aWorld();
  for (const id of ["op-1", "op-2", "op-3"]) await queued(deps, id, { amount: 1_00n });
  await withdraw(deps, aQueued(), aCall("op-4"));
  await report(deps, "op-2", RUNNING);
  await cancel(deps, "op-3");

  const list = { login: "", outcome: OperationOutcome.UNSPECIFIED, beforeId: "", limit: 30 };
  const listed = async (queueState: QueueState) => {
    const { items } = await fundingService(deps).listOperations({ ...list, queueState }, aCall("read"));
    return items.map(({ operationId }) => operationId);
  };
  expect(await listed(QueueState.WAITING)).toEqual(["op-1"]);
  expect(await listed(QueueState.RUNNING)).toEqual(["op-2"]);
});
