import { expect, test } from "vitest";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer, moneyOf, feeLegs } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually, type CrashPoint } from "../testing/world.ts";

const LONG_ENOUGH_MS = 60_000;
const FEES = 5;

/** The debits reach the crash point first, the credits later. */
const CRASHES: { point: CrashPoint; after: number }[] = [
  { point: "after_permit", after: 2 },
  { point: "after_answer", after: 3 },
  { point: "after_permit", after: FEES + 1 },
  { point: "after_answer", after: FEES + 2 },
  { point: "after_record", after: 1 },
];

test.concurrent.for(CRASHES)(
  "each fee of a batch is collected once when its process crashes at crash point $point, passed $after times before",
  async ({ point, after }, context) => {
    const world = await aWorld(context);
    let timesReached = -1;
    const crashing = await world.start({
      quietPeriodMs: 1_000,
      onFailpoint(at) {
        if (timesReached < 0 || at !== point) return;
        timesReached += 1;
        // The process does nothing after this point.
        if (timesReached > after) crashing.crashAt(point);
      },
    });
    const payment = await anAccount(crashing, "payment");
    const logins = await Promise.all(Array.from({ length: FEES }, () => anAccount(crashing)));
    for (const login of logins) await crashing.service.transfer(aDeposit(login, 50_00n), aCall());
    const requests = logins.map((login) =>
      aTransfer(`fee:${login}`, feeLegs(login, payment, 30_00n), { upTo: { floor: moneyOf(0n) } }),
    );
    timesReached = 0;
    await crashing.service.transferBatch({ requests }, aCall(3_000)).catch(() => undefined);
    await crashing[Symbol.asyncDispose]();

    const next = await world.start({ quietPeriodMs: 1_000 });
    await eventually(
      () => next.service.transferBatch({ requests }, aCall()),
      ({ answers }) =>
        answers.every(({ answer }) => answer?.$case === "result" && answer.value.state === TransferState.APPLIED),
      LONG_ENOUGH_MS,
    );

    for (const login of logins) expect(await world.control.account(login)).toMatchObject({ balance: "20.00" });
    expect(await world.control.account(payment)).toMatchObject({ balance: "150.00" });
    expect(await world.control.deals(payment)).toHaveLength(FEES);
    const log = await next.service.readLog({ login: payment, afterNumber: 0n, limit: 10 }, aCall());
    expect(log.entries.map(({ number }) => number)).toEqual([1n, 2n, 3n, 4n, 5n]);
  },
);
