import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { crashingProcess } from "#kernel/testing/crash.ts";
import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { cashflowQueues } from "../cashflow-queues.ts";
import { settleCashflows } from "../jobs/settle-cashflows.ts";
import { fundingService } from "../service.ts";
import { aCall, aRefusal, INVESTOR, repeatsLost, usd, world, type World } from "../testing/funding.ts";
import { LONG_MS, passTime } from "../testing/queue.ts";
import { answerOf, refusedWith } from "../testing/subscription-fake.ts";
import { deposit } from "./deposit.ts";
import { withdraw } from "./withdraw.ts";

const FORTY = { login: INVESTOR, amount: usd(40_00n), comment: "CRM-2", client: undefined, idempotencyKey: undefined };
const PAID_ONCE = [{ key: "withdrawal:op-1", login: INVESTOR, minor: -40_00n, comment: "CRM-2" }];
/** Time for one call of another service, and not for a second one. */
const ONE_CALL_MS = 1_500;

const funded = (own: Parameters<typeof world>[0] = {}) =>
  world({ platform: platformFake({ balances: { [INVESTOR]: 100_00n } }), ...own });

const rows = ({ pool }: World) =>
  many(pool, sql`select state, doubt, deal_id as deal, refusal ->> 'code' as refusal from cashflow order by id`);
const POSTED = { state: "POSTED", doubt: null, deal: 900_002n, refusal: null };
const RECORDED = { state: "RECORDED", doubt: null, deal: null, refusal: null };

async function settleLater(deps: World): Promise<void> {
  await deps.pool.query("update cashflow set next_try_at = now() - interval '1 second'");
  await settleCashflows(deps);
}

test("a withdrawal is carried out by the subscription service, and its answer has the amounts that were decided", async () => {
  const deps = await funded({ masterMinimum: 0n, pendingFee: 30_00n });
  const context = aCall("op-1");

  expect(await withdraw(deps, FORTY, context)).toEqual({
    operationId: "op-1",
    requestedAmount: usd(40_00n),
    effectiveWithdraw: usd(40_00n),
    openPositionsChecked: true,
    pendingFee: usd(30_00n),
    balanceBefore: usd(100_00n),
    availableAfterFee: usd(70_00n),
    dealId: 900_002n,
  });
  expect(deps.subscriptions.asked).toEqual([
    {
      operationId: "op-1",
      investorLogin: INVESTOR,
      amount: usd(40_00n),
      comment: "CRM-2",
      deadline: context.deadline,
      queueUntil: undefined,
    },
  ]);
  expect(await rows(deps)).toEqual([POSTED]);
});

test("a withdrawal from an empty account pays nothing and has no deal", async () => {
  const deps = await world();

  const answer = await withdraw(deps, FORTY, aCall("op-1"));

  expect(answer).toMatchObject({ effectiveWithdraw: usd(0n), dealId: undefined });
  expect(await rows(deps)).toEqual([{ ...POSTED, deal: null }]);
  expect(await withdraw(deps, FORTY, aCall("op-1"))).toEqual(answer);
});

test("a refusal of subscription ends the withdrawal, and its repetition too, with what it says", async () => {
  const deps = await funded();
  deps.subscriptions.next.push(refusedWith(repeatsLost(77n)));

  for (let times = 0; times < 2; times += 1) {
    await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({
      code: "possible_duplicate",
      outcome: "not_executed",
      details: { deal_id: "77" },
    });
  }
  expect(deps.subscriptions.asked).toHaveLength(1);
  expect(await rows(deps)).toEqual([{ ...RECORDED, state: "REFUSED", refusal: "possible_duplicate" }]);
});

test("a withdrawal from a busy account is refused with the id of the open operation", async () => {
  const deps = await funded();
  deps.platform.faults.transfer.push("lost answer");
  await deposit(deps, FORTY, aCall("op-1", ONE_CALL_MS)).catch(() => {});
  const busy = async (id: string, refusal: Refusal) => {
    deps.subscriptions.next.push(refusedWith(refusal));
    const error: unknown = await withdraw(deps, FORTY, aCall(id)).catch((thrown: unknown) => thrown);
    const { code, outcome, operationId, details } = error as Refusal;
    expect([code, outcome]).toEqual(["account_busy", "not_executed"]);
    return [operationId, details];
  };

  // The outcome of the first one is being determined, which takes minutes.
  const [id, details] = await busy("op-2", aRefusal("account_busy"));
  expect([id, details]).toEqual(["op-1", { reason: "outcome_unknown" }]);
  await deps.pool.query("update cashflow set doubt = null");
  expect(await busy("op-3", aRefusal("account_busy"))).toEqual(["op-1", {}]);
  const unread = { reason: "history_unread" };
  expect(await busy("op-4", restatedBusy({ details: unread }))).toEqual([undefined, unread]);
  expect(await busy("op-5", restatedBusy({ operationId: "op-0" }))).toEqual(["op-0", {}]);
});

function restatedBusy(facts: Partial<Refusal>): Refusal {
  return Object.assign(aRefusal("account_busy"), facts);
}

test("a withdrawal that never reached the subscription service is not executed, then or later", async () => {
  const deps = await funded();
  deps.subscriptions.faults.push("unreachable");

  const refusal = { code: "service_unavailable", outcome: "not_executed", operationId: "op-1" };
  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject(refusal);
  await settleLater(deps);
  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject(refusal);
  expect(deps.subscriptions.asked).toHaveLength(1);
  expect(deps.platform.deals).toEqual([]);
});

test("of two requests of which one was sent, the one that was not concludes nothing", async () => {
  const deps = await funded();
  const isSending = Promise.withResolvers<void>();
  const isRepeated = Promise.withResolvers<void>();
  const slow: World["subscriptions"]["withdraw"] = async (...args) => {
    isSending.resolve();
    await isRepeated.promise;
    return await deps.subscriptions.withdraw(...args);
  };
  const unsent = withdraw({ ...deps, subscriptions: { ...deps.subscriptions, withdraw: slow } }, FORTY, aCall("op-1"));
  await isSending.promise;
  const sent = await withdraw(deps, FORTY, aCall("op-1"));
  await deps.pool.query("update cashflow set state = 'RECORDED', deal_id = null, finished_at = null");
  deps.subscriptions.faults.push("unreachable");
  isRepeated.resolve();

  await expect(unsent).rejects.toMatchObject({ code: "outcome_unknown" });
  expect(await withdraw(deps, FORTY, aCall("op-1"))).toEqual(sent);
});

test("a withdrawal whose answer was lost is unknown to its caller, and its end is recorded by the recovery job", async () => {
  const deps = await funded();
  deps.subscriptions.faults.push("lost answer");

  await expect(withdraw(deps, FORTY, aCall("op-1", ONE_CALL_MS))).rejects.toMatchObject({
    code: "outcome_unknown",
    operationId: "op-1",
  });
  expect(await rows(deps)).toEqual([RECORDED]);
  await settleLater(deps);

  expect(await rows(deps)).toEqual([POSTED]);
  expect(await withdraw(deps, FORTY, aCall("op-1"))).toMatchObject({
    effectiveWithdraw: usd(40_00n),
    dealId: 900_002n,
  });
  expect(deps.platform.deals).toMatchObject(PAID_ONCE);
});

test.each([
  [WithdrawalState.UNKNOWN, "UNKNOWN"],
  [WithdrawalState.REVIEW, "REVIEW"],
  [WithdrawalState.UNSPECIFIED, "UNKNOWN"],
] as const)("a withdrawal in state %i is %s, and its end is recorded, however late it is", async (state, outcome) => {
  const deps = await funded();
  deps.subscriptions.next.push(answerOf(state));

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ code: "outcome_unknown" });
  const operation = () => fundingService(deps).getOperation({ operationId: "op-1" }, aCall(""));
  expect((await operation()).outcome).toBe(OperationOutcome[outcome]);
  await passTime(deps.pool, LONG_MS);
  await settleCashflows(deps);
  expect((await operation()).outcome).toBe(OperationOutcome[outcome]);

  deps.subscriptions.recorded.set("op-1", answerOf(WithdrawalState.PAID, { dealId: 7n }));
  await settleLater(deps);
  expect(await operation()).toMatchObject({ outcome: OperationOutcome.EXECUTED, dealId: 7n });
});

test("a payout that could not be recorded is answered, and recorded by the recovery job", async () => {
  const deps = await funded();
  const posting = { ...deps.queues.posting, add: () => Promise.reject(new Error("the database is down")) };
  const queues = { ...deps.queues, posting };

  const answer = await withdraw({ ...deps, queues }, FORTY, aCall("op-1"));
  expect(answer).toMatchObject({ dealId: 900_002n });
  expect(await rows(deps)).toEqual([RECORDED]);
  await settleLater(deps);

  expect(await rows(deps)).toEqual([POSTED]);
});

test("the amounts of an executed withdrawal that the subscription service does not answer are unknown, not its outcome", async () => {
  const deps = await funded();
  await withdraw(deps, FORTY, aCall("op-1"));
  const unknown = { code: "outcome_unknown", operationId: "op-1" };

  deps.subscriptions.faults.push("unreachable");
  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject(unknown);
  deps.subscriptions.recorded.set("op-1", refusedWith(aRefusal("platform_unavailable")));
  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject(unknown);
  expect(await rows(deps)).toEqual([POSTED]);
});

test("a withdrawal that platform has imported is requested from no service again", async () => {
  const deps = await funded();
  await deps.pool.query(
    `insert into cashflow (operation_id, action, login, amount_minor, comment, state, deal_id, is_imported, deadline,
                           created_at, finished_at, next_try_at)
     values ('op-1', 'withdraw', '${INVESTOR}', 4000, 'CRM-2', 'POSTED', 7, true, now(), now(), now(), now())`,
  );

  await expect(withdraw(deps, FORTY, aCall("op-1"))).rejects.toMatchObject({ code: "outcome_unknown" });
  expect(deps.subscriptions.asked).toEqual([]);
});

test("a process that dies at any point of a withdrawal leaves one that is paid once, not executed or never recorded", async () => {
  const deps = await funded();
  const ends = new Set<string>();
  // From then on the facts about the Investor are known.
  await withdraw(deps, { ...FORTY, amount: usd(1_00n) }, aCall("first"));
  for (let points = 0, isOver = false; !isOver; points += 1) {
    const id = `op-${points}`;
    const { pool, client, crashed } = crashingProcess(deps.pool, points);
    const others = { subscriptions: client(deps.subscriptions), accounts: client(deps.accounts) };
    const dying = { ...deps, ...others, pool, queues: cashflowQueues(pool) };
    const work = withdraw(dying, { ...FORTY, amount: usd(1_00n) }, aCall(id));
    isOver = await Promise.race([work.then(() => true), crashed.then(() => false)]);
    await passTime(deps.pool, LONG_MS);
    await settleCashflows(deps);

    const [end = { state: "nothing" }] = await many<{ state: string }>(
      deps.pool,
      sql`select state from cashflow where operation_id = ${id}`,
    );
    ends.add(end.state);
    const deals = deps.platform.deals.filter(({ key }) => key === `withdrawal:${id}`);
    expect(deals, `after ${points} points: ${end.state}`).toHaveLength(end.state === "POSTED" ? 1 : 0);
  }
  expect([...ends].toSorted()).toEqual(["POSTED", "REFUSED", "nothing"]);
});
