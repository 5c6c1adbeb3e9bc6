import { expect, test, vi } from "vitest";
import { PERMIT_MS } from "../domain/permit.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { losing } from "../testing/losing.ts";
import { aDeposit, aTransfer, moneyOf, feeLegs } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually, type Instance, aProcess, aProcessWith } from "../testing/world.ts";
import { recordedTransfer, transferThatIs } from "../testing/recorded-transfer.ts";

async function attemptsOf({ deps }: Instance): Promise<string[]> {
  const rows = await many<{ state: string }>(deps.pool, sql`select state from attempt order by number`);
  return rows.map(({ state }) => state);
}

test.concurrent.for([
  { what: "committed without an answer is never used", isCommitted: true, attempts: ["VOID", "APPLIED"] },
  { what: "rolled back is recorded again", isCommitted: false, attempts: ["APPLIED"] },
])("an order whose permit was $what, and the deposit is sent once", async ({ isCommitted, attempts }, context) => {
  const { world, instance, login } = await aProcessWith("investor", context);

  const result = await losing(instance, { commit: 1, isCommitted }).transfer(aDeposit(login, 5_00n), aCall());

  expect(result.state).toBe(TransferState.APPLIED);
  expect(await attemptsOf(instance)).toEqual(attempts);
  expect(await world.control.deals(login)).toHaveLength(1);
});

test.concurrent.for([true, false])(
  "an outcome whose commit was lost (committed: %s) is recorded once",
  async (isCommitted, context) => {
    const { world, instance, login } = await aProcessWith("investor", context);

    const result = await losing(instance, { commit: 2, isCommitted }).transfer(aDeposit(login, 5_00n), aCall());

    expect(result.state).toBe(TransferState.APPLIED);
    expect(await world.control.deals(login)).toHaveLength(1);
    const log = await instance.service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall());
    expect(log.entries).toHaveLength(1);
  },
);

/** Each commit of a batch: of the orders; of the debits with the permits of the credits; of the credits. */
const LOSSES_IN_A_BATCH = [
  { commit: 1, isCommitted: true },
  { commit: 2, isCommitted: true },
  { commit: 2, isCommitted: false },
  { commit: 3, isCommitted: true },
];

test.concurrent.for(LOSSES_IN_A_BATCH)(
  "a batch that loses its commit $commit (committed: $isCommitted) collects each fee once",
  async (loss, context) => {
    const { world, instance } = await aProcess(context, { quietPeriodMs: 1_000 });
    const payment = await anAccount(instance, "payment");
    const logins = await Promise.all([1, 2, 3].map(() => anAccount(instance)));
    for (const login of logins) await instance.service.transfer(aDeposit(login, 50_00n), aCall());
    const requests = logins.map((login) =>
      aTransfer(`fee:${login}`, feeLegs(login, payment, 30_00n), { upTo: { floor: moneyOf(0n) } }),
    );

    const { answers } = await losing(instance, loss).transferBatch({ requests }, aCall(30_000));

    const debits = answers.map(({ answer }) => answer?.$case === "result" && answer.value.legs[0]?.amount);
    expect(debits).toEqual(logins.map(() => moneyOf(-30_00n)));
    // A credit that has no answer yet is sent without a caller.
    for (const { key } of requests) {
      const isApplied = ({ state }: TransferResult) => state === TransferState.APPLIED;
      await eventually(() => recordedTransfer(instance.service, key), isApplied);
    }
    for (const login of logins) expect(await world.control.deals(login)).toHaveLength(2);
    expect(await world.control.deals(payment)).toHaveLength(3);
    const log = await instance.service.readLog({ login: payment, afterNumber: 0n, limit: 10 }, aCall());
    expect(log.entries.map(({ number }) => number)).toEqual([1n, 2n, 3n]);
  },
);

test("a process that was paused between its permit and its write does not write", async (context) => {
  const world = await aWorld(context);
  const realNow = performance.now.bind(performance);
  let pausedMs: number | undefined;
  const instance = await world.start({
    onFailpoint(point) {
      if (point === "after_permit") pausedMs ??= PERMIT_MS;
    },
  });
  const login = await anAccount(instance);
  vi.spyOn(performance, "now").mockImplementation(() => realNow() + (pausedMs ?? 0));
  context.onTestFinished(() => void vi.restoreAllMocks());

  const result = await instance.service.transfer(aDeposit(login, 5_00n), aCall());

  expect(result.state).toBe(TransferState.APPLIED);
  expect(await attemptsOf(instance)).toEqual(["VOID", "APPLIED"]);
  expect(await world.control.deals(login)).toHaveLength(1);
});

test.concurrent("a process that could not record its answer fences the attempt later, so that absence can be proven", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { quietPeriodMs: 1_000 });
  instance.crashAt("after_answer");
  await world.control.fault({ command: "trade/balance", effect: "retcode:8" });
  const request = aDeposit(login, 5_00n);
  await expect(instance.service.transfer(request, aCall())).rejects.toThrow("after_answer");
  instance.crashAt(undefined);

  const ended = await transferThatIs(TransferState.REFUSED, instance.service, request.key, 15_000);

  expect(ended.refusalCode).toBe("absent");
});
