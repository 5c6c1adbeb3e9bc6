import { expect, test } from "vitest";
import { BUSY_RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { refusalFromProto } from "#kernel/contract/error.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import {
  type TransferAnswer,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer, moneyOf, feeLegs } from "../testing/requests.ts";
import {
  aCall,
  anAccount,
  aWorld,
  eventually,
  type Instance,
  type World,
  aProcess,
  aProcessWith,
} from "../testing/world.ts";
import { isRecorded, recordedTransfer } from "../testing/recorded-transfer.ts";

const { APPLIED, REFUSED } = TransferState;

function resultOf({ answer }: TransferAnswer): TransferResult {
  if (answer?.$case === "result") return answer.value;
  throw new Error(answer === undefined ? "no answer" : answer.value.code);
}

function summaryOf({ answer }: TransferAnswer): string {
  if (answer?.$case !== "result") return answer?.value.code ?? "nothing";
  const { state, refusalCode } = answer.value;
  const name = Object.entries(TransferState).find(([, number]) => number === state)?.[0] ?? "";
  return refusalCode === "" ? name : `${name} ${refusalCode}`;
}

async function investors(instance: Instance, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => anAccount(instance)));
}

function aResult(login: string, minor: bigint, key = `result:${login}`): TransferRequest {
  return aTransfer(key, [{ login, kind: MovementKind.RESULT, minor }]);
}

function aFee(investor: string, payment: string, minor: bigint, own: Partial<TransferRequest> = {}): TransferRequest {
  const legs = feeLegs(investor, payment, minor);
  return aTransfer(`fee:${investor}`, legs, { upTo: { floor: moneyOf(0n) }, ...own });
}

async function balances(world: World, logins: readonly string[]): Promise<string[]> {
  const accounts = await Promise.all(logins.map((login) => world.control.account(login)));
  return accounts.map(({ balance }) => balance);
}

test.concurrent("results of many Investors are posted once each and are in their logs, however often the batch is repeated", async (context) => {
  const { world, instance, service } = await aProcess(context);
  const logins = await investors(instance, 8);
  const requests = logins.map((login, index) => aResult(login, BigInt(index + 1)));

  const { answers } = await service.transferBatch({ requests }, aCall());
  const again = await service.transferBatch({ requests: requests.toReversed() }, aCall());

  expect(answers.map(summaryOf)).toEqual(logins.map(() => "APPLIED"));
  expect(answers.map((answer) => resultOf(answer).key)).toEqual(requests.map(({ key }) => key));
  expect(again.answers.toReversed()).toEqual(answers);
  expect(await balances(world, logins)).toEqual(logins.map((_, index) => `0.${String(index + 1).padStart(2, "0")}`));
  for (const [index, login] of logins.entries()) {
    const { entries } = await service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall());
    expect(entries).toMatchObject([
      { number: 1n, kind: MovementKind.RESULT, key: requests[index]!.key, amount: { minorUnits: BigInt(index + 1) } },
    ]);
    expect(await recordedTransfer(service, requests[index]!.key)).toEqual(resultOf(answers[index]!));
  }
  // Recorded one by one, each entry would have a commit of its own; how many share one depends on the machine.
  const [commits] = await many<{ count: bigint }>(
    instance.deps.pool,
    sql`select count(distinct xmin::text::bigint) as count from log_entry where kind = 'result'`,
  );
  expect(commits!.count).toBeLessThan(8n);
});

test.concurrent("every answer equals that of a single transfer, and a refused one does not affect the others", async (context) => {
  const { world, instance, service } = await aProcess(context);
  const payment = await anAccount(instance, "payment");
  const master = await anAccount(instance, "master");
  const [funded, underfunded, locked, empty] = (await investors(instance, 4)) as [string, string, string, string];
  for (const login of [funded, locked]) await service.transfer(aDeposit(login, 100_00n), aCall());
  await service.transfer(aDeposit(underfunded, 20_00n), aCall());
  await service.hold({ login: locked, lockOwner: "saga:1" }, aCall());
  const known = aDeposit(funded, 1_00n);
  const first = await service.transfer(known, aCall());

  const requests = [
    aFee(funded, payment, 30_00n),
    aFee(underfunded, payment, 30_00n),
    aFee(locked, payment, 30_00n),
    aFee(empty, payment, 30_00n),
    aResult("4000000", 1_00n),
    aResult(funded, -500_00n, "result:too-much"),
    known,
    aTransfer("mirror:1", [{ login: master, kind: MovementKind.MIRROR, minor: 5_00n }]),
    aTransfer("accountLock", [{ login: underfunded, kind: MovementKind.WITHDRAWAL, minor: -1n }], {
      lockOwner: "unknown",
    }),
    { ...aResult(funded, 0n), key: "result:nothing" },
  ];
  const { answers } = await eventually(
    () => service.transferBatch({ requests }, aCall()),
    (batch) => !batch.answers.map(summaryOf).includes("UNKNOWN"),
  );

  expect(answers.map(summaryOf)).toEqual([
    "APPLIED",
    "APPLIED",
    "account_busy",
    "REFUSED nothing_to_take",
    "login_not_managed",
    "REFUSED insufficient_funds",
    "APPLIED",
    "APPLIED",
    "lock_not_owned",
    "validation_failed",
  ]);
  expect(resultOf(answers[6]!)).toEqual(first);
  const other = { ...known, legs: aResult(funded, 7n).legs };
  const mismatch = await service.transferBatch({ requests: [other] }, aCall());
  expect(mismatch.answers.map(summaryOf)).toEqual(["transfer_mismatch"]);
  // Debit and credit are reduced to the same amount.
  expect(resultOf(answers[1]!).legs.map(({ amount }) => amount?.minorUnits)).toEqual([-20_00n, 20_00n]);
  expect(await balances(world, [funded, underfunded, locked, payment])).toEqual(["71.00", "0.00", "100.00", "50.00"]);
  expect(await isRecorded(service, `fee:${locked}`)).toBe(false);
  const refusal = answers[2]!.answer;
  expect(refusalFromProto(refusal?.value as never)).toMatchObject({ outcome: "not_executed", status: "conflict" });
  const log = await service.readLog({ login: payment, afterNumber: 0n, limit: 10 }, aCall());
  expect(log.entries.map(({ number, kind }) => [number, kind])).toEqual([
    [1n, MovementKind.FEE_CREDIT],
    [2n, MovementKind.FEE_CREDIT],
  ]);
});

test.concurrent("a fee debit with a floor on a busy login is refused and not recorded, and the lock owner collects it under the account lock", async (context) => {
  const { world, instance, service, deps } = await aProcess(context);
  const payment = await anAccount(instance, "payment");
  const investor = await anAccount(instance);
  await service.transfer(aDeposit(investor, 20_00n), aCall());
  await service.hold({ login: investor, lockOwner: "saga:1" }, aCall());
  const count = () => many(deps.pool, sql`select key from transfer where key like 'fee:%'`);

  await expect(service.transfer(aFee(investor, payment, 30_00n), aCall())).rejects.toMatchObject({
    code: "account_busy",
    outcome: "not_executed",
    message: expect.stringContaining("is in progress, which ends within seconds.") as string,
    retryAfterMs: BUSY_RETRY_AFTER_MS,
  });
  expect(await count()).toEqual([]);
  const collected = await service.transfer(aFee(investor, payment, 30_00n, { lockOwner: "saga:1" }), aCall());

  expect(collected.legs[0]!.state).toBe(APPLIED);
  await context.expect.poll(() => balances(world, [investor, payment])).toEqual(["0.00", "20.00"]);
  // A login without funds is refused as busy like one with funds.
  const none = { ...aFee(investor, payment, 30_00n), key: "fee:none" };
  await expect(service.transfer(none, aCall())).rejects.toMatchObject({ code: "account_busy" });
  await service.release({ login: investor, lockOwner: "saga:1" }, aCall());
  expect(await service.transfer(none, aCall())).toMatchObject({ state: REFUSED, refusalCode: "nothing_to_take" });
});

test.concurrent("lost answers, refusals and lost credits in a batch end as in single transfers", async (context) => {
  const { world, instance, service } = await aProcess(context, { quietPeriodMs: 1_000, sessions: 2 });
  const payment = await anAccount(instance, "payment");
  const logins = await investors(instance, 6);
  for (const login of logins) await service.transfer(aDeposit(login, 50_00n), aCall());
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });
  await world.control.fault({ command: "trade/balance", effect: "retcode:12", after: 2 });
  await world.control.fault({ command: "trade/balance", effect: "drop_before", after: 6 });
  const requests = logins.map((login) => aFee(login, payment, 30_00n));

  await service.transferBatch({ requests }, aCall());
  const ended = await eventually(
    () => service.transferBatch({ requests }, aCall()),
    ({ answers }) => answers.every((answer) => resultOf(answer).state === APPLIED),
    25_000,
  );

  expect(ended.answers).toHaveLength(6);
  expect(await balances(world, [...logins, payment])).toEqual([...logins.map(() => "20.00"), "180.00"]);
  const deals = await world.control.deals(payment);
  expect(deals).toHaveLength(6);
});

test.concurrent("several transfers of one login in a batch are executed one after the other, and a batch that is empty, too large or repeats a key is refused", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context);
  const requests = [1n, 2n, 3n, 4n].map((minor) => aResult(login, minor, `result:${minor}`));

  const { answers } = await instance.service.transferBatch({ requests }, aCall());

  expect(answers.map(summaryOf)).toEqual(["APPLIED", "APPLIED", "APPLIED", "APPLIED"]);
  expect(await balances(world, [login])).toEqual(["0.10"]);
  const tooMany = Array.from({ length: 501 }, (_, index) => aResult(login, 1n, `r:${index}`));
  for (const refused of [[], tooMany, [requests[0]!, requests[0]!]]) {
    await expect(instance.service.transferBatch({ requests: refused }, aCall())).rejects.toMatchObject({
      code: "validation_failed",
    });
  }
});

test.concurrent("a fault of one transfer affects neither the others nor the process", async (context) => {
  const world = await aWorld(context);
  let isToFail = false;
  const instance = await world.start({
    quietPeriodMs: 1_000,
    sessions: 12,
    onFailpoint(point) {
      if (point !== "after_answer" || !isToFail) return;
      isToFail = false;
      throw new Error("planted");
    },
  });
  const { service } = instance;
  const payment = await anAccount(instance, "payment");
  const logins = await investors(instance, 12);
  // Concurrent, so that every session is open.
  await Promise.all(logins.map((login) => service.transfer(aDeposit(login, 100_00n), aCall())));
  const requests = logins.map((login) => aFee(login, payment, 30_00n));

  isToFail = true;
  const { answers } = await service.transferBatch({ requests }, aCall());

  // A credit may still be on its way.
  const debited = answers.filter(({ answer }) => answer?.$case === "result" && answer.value.legs[0]?.state === APPLIED);
  expect(debited.length).toBeGreaterThanOrEqual(10);
  await eventually(
    () => service.transferBatch({ requests }, aCall()),
    (again) => again.answers.every((answer) => summaryOf(answer) === "APPLIED"),
    30_000,
  );
  expect(await balances(world, [...logins, payment])).toEqual([...logins.map(() => "70.00"), "360.00"]);
});
