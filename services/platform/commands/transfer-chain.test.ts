import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { type TransferAnswer, type TransferRequest, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer, aWithdrawal, moneyOf, feeLegs } from "../testing/requests.ts";
import { lockOwnerOf } from "../testing/rows.ts";
import { aCall, anAccount, aWorld, eventually, type World } from "../testing/world.ts";

const LOCK_OWNER = "subscription:departure:1:1";

/** Shorter than the time after which the history shows what an answer has not. */
const SHORT_MS = 1_200;

/** An Investor with 500.00 whose account lock a saga holds, and a payment account. */
async function aHeldAccount(world: World) {
  const instance = await world.start({ quietPeriodMs: 1_000 });
  const { service, deps } = instance;
  const login = await anAccount(instance);
  const payment = await anAccount(instance, "payment");
  await service.transfer(aDeposit(login, 500_00n), aCall());
  await service.hold({ login, lockOwner: LOCK_OWNER }, aCall());
  const fee = (minor: bigint, own: Partial<TransferRequest> = {}): TransferRequest => {
    const legs = feeLegs(login, payment, minor);
    return aTransfer(`fee:${login}:${minor}`, legs, {
      lockOwner: LOCK_OWNER,
      upTo: { floor: moneyOf(0n) },
      ...own,
    });
  };
  const payout = aWithdrawal(login, 100_00n, { lockOwner: LOCK_OWNER, releaseLock: true });
  const chain = (requests: TransferRequest[], call = aCall()) => service.transferChain({ requests }, call);
  const lockOwner = () => lockOwnerOf(deps.pool, login);
  const balanceOf = async (account: string) => (await world.control.account(account)).balance;
  return { instance, login, payment, fee, payout, chain, lockOwner, balanceOf };
}

/** The state of the first leg, or the code of the refusal. */
function firstOf({ answer }: TransferAnswer): string | undefined {
  if (answer?.$case === "refusal") return answer.value.code;
  return Object.keys(TransferState).find((name) => TransferState[name as "APPLIED"] === answer?.value.legs[0]?.state);
}

test.concurrent("fees are debited and a payout is made one after the other, the lock ends with the last, and a repetition changes nothing", async (context) => {
  const { login, payment, fee, payout, chain, lockOwner, balanceOf } = await aHeldAccount(await aWorld(context));
  const requests = [fee(30_00n), fee(20_00n), payout];
  const { answers } = await chain(requests);
  expect(answers.map(firstOf)).toEqual(["APPLIED", "APPLIED", "APPLIED"]);
  expect(await lockOwner()).toBeNull();
  expect(await balanceOf(login)).toBe("350.00");
  await eventually(
    () => balanceOf(payment),
    (balance) => balance === "50.00",
    10_000,
  );
  expect((await chain(requests)).answers.map(firstOf)).toEqual(["APPLIED", "APPLIED", "APPLIED"]);
  expect([await balanceOf(login), await balanceOf(payment)]).toEqual(["350.00", "50.00"]);
});

test.concurrent("an answer and the permit of the transfer that follows are one commit", async (context) => {
  const { instance, fee, payout, chain } = await aHeldAccount(await aWorld(context));
  await chain([fee(30_00n), fee(20_00n), payout]);
  // The row of a transfer is written once, and that of a leg on this account last by its answer.
  const rows = await many<{ recorded: string; answered: string }>(
    instance.deps.pool,
    sql`select transfer.xmin::text as recorded, leg.xmin::text as answered
        from transfer join leg on transfer_id = id and ordinal = 1
        where lock_owner = ${LOCK_OWNER} order by id`,
  );
  const [first, second, third] = rows;
  expect(rows).toHaveLength(3);
  expect([second?.recorded, third?.recorded]).toEqual([first?.answered, second?.answered]);
});

test.concurrent.for(["after_record", "after_permit"] as const)(
  "a process that crashes at crash point %s of a chain leaves no debit and no payout twice",
  async (point, context) => {
    const world = await aWorld(context);
    const { instance, login, fee, payout, chain, balanceOf } = await aHeldAccount(world);
    const requests = [fee(30_00n), fee(20_00n), payout];
    instance.crashAt(point);
    await chain(requests, aCall(SHORT_MS)).catch(() => undefined);
    await instance[Symbol.asyncDispose]();
    const next = await world.start({ quietPeriodMs: 1_000 });
    await eventually(
      () => next.service.transferChain({ requests }, aCall()),
      ({ answers }) => answers.length === 3 && answers.every((answer) => firstOf(answer) === "APPLIED"),
      20_000,
    );
    expect(await balanceOf(login)).toBe("350.00");
  },
);

test.concurrent("nothing follows a transfer whose outcome is unknown, until it is known", async (context) => {
  const world = await aWorld(context);
  const { login, payment, fee, payout, chain, lockOwner, balanceOf } = await aHeldAccount(world);
  await world.control.fault({ command: "trade/balance", effect: "hide_deal", delay_ms: 2_000 });
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });
  const requests = [fee(30_00n), payout];
  const { answers } = await chain(requests, aCall(SHORT_MS));
  expect(answers).toHaveLength(1);
  expect(await balanceOf(login)).toBe("470.00");
  expect(await lockOwner()).toBe(LOCK_OWNER);
  await eventually(
    () => chain(requests),
    (again) => again.answers.length === 2 && again.answers.every((answer) => firstOf(answer) === "APPLIED"),
    20_000,
  );
  await eventually(
    () => balanceOf(payment),
    (balance) => balance === "30.00",
    10_000,
  );
  expect(await balanceOf(login)).toBe("370.00");
});

test.concurrent("a debit that is refused, or whose payment account is archived, holds up no payout", async (context) => {
  const { instance, login, payment, fee, payout, chain, lockOwner, balanceOf } = await aHeldAccount(
    await aWorld(context),
  );
  const refused = fee(30_00n, { upTo: { floor: moneyOf(500_00n) } });
  await instance.deps.pool.query("update account set unshown_since = now(), archived_at = now() where login = $1", [
    payment,
  ]);
  const { answers } = await chain([fee(20_00n), payout]);
  expect(answers.map(firstOf)).toEqual(["account_archived", "APPLIED"]);
  expect(await lockOwner()).toBeNull();
  await instance.deps.pool.query("update account set unshown_since = null, archived_at = null where login = $1", [
    payment,
  ]);
  // The lock has ended: what was not recorded before is left out, and what was is found.
  expect((await chain([refused, payout])).answers.map(firstOf)).toEqual(["lock_not_owned", "APPLIED"]);
  expect(await balanceOf(login)).toBe("400.00");
});

test.concurrent("a chain has one lock and one account, and nothing to take is an outcome", async (context) => {
  const { login, payment, fee, payout, chain, balanceOf } = await aHeldAccount(await aWorld(context));
  for (const other of [
    { ...payout, lockOwner: "" },
    { ...payout, lockOwner: "subscription:departure:1:2" },
    aWithdrawal(payment, 1_00n, { lockOwner: LOCK_OWNER }),
  ]) {
    await expect(chain([fee(30_00n), other])).rejects.toMatchObject({
      code: "validation_failed",
      outcome: "not_executed",
      message: "The transfers of a chain move one account, under one account lock.",
    });
  }
  await expect(chain([])).rejects.toMatchObject({ code: "validation_failed" });
  expect(await balanceOf(login)).toBe("500.00");

  const { answers } = await chain([fee(30_00n, { upTo: { floor: moneyOf(500_00n) } }), payout]);
  expect(answers.map(firstOf)).toEqual(["REFUSED", "APPLIED"]);
  expect(await balanceOf(login)).toBe("400.00");
});
