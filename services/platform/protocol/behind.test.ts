import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState, type TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import { legNumber } from "../domain/leg-number.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import { heartbeat } from "../jobs/heartbeat.ts";
import { badAnswer } from "../mt5/errors.ts";
import { AccountReader } from "../reader/account-reader.ts";
import { aDeposit, aTransfer, feeLegs } from "../testing/requests.ts";
import { aWaitingLeg } from "../testing/rows.ts";
import {
  aCall,
  anAccount,
  eventually,
  type Instance,
  type World,
  aProcess,
  aProcessWith,
  sendWaiting,
} from "../testing/world.ts";
import { openReviews } from "../testing/reviews.ts";
import { onlyReader } from "../testing/reader-role.ts";
import { commentOfLeg } from "./comment-of-leg.ts";
import { readLogin } from "./history/read-history.ts";
import { recordedTransfer } from "../testing/recorded-transfer.ts";

const { MIRROR } = MovementKind;
const ENDED: readonly TransferState[] = [TransferState.APPLIED, TransferState.REFUSED, TransferState.REVIEW];

/** As if the server had been started again: then the gate is opened by the first reading. */
async function closeGate({ deps }: Instance): Promise<void> {
  await deps.pool.query(
    "update permit_gate set database = regexp_replace(database, '^([^/]+/[^/]+)/[^/]+', '\\1/the start before')",
  );
  await heartbeat(deps);
  expect(deps.gate.read()).toBe("reading");
}

/** Reads the history as after a restore, while one account has a row that is not as documented. */
async function readWithout({ deps }: Instance, odd: string): Promise<void> {
  const { mt5 } = deps;
  const findGroupDeals: typeof mt5.findGroupDeals = async (...request) => {
    const found = await mt5.findGroupDeals(...request);
    if (found.kind !== "read") return found;
    return { ...found, deals: found.deals.filter(({ login }) => login !== odd), unreadable: new Set([odd]) };
  };
  const findDeals: typeof mt5.findDeals = async (logins, period) => {
    if (logins.includes(odd)) throw badAnswer("the platform's answer has a Profit that cannot be read");
    return await mt5.findDeals(logins, period);
  };
  const reader = new AccountReader({ ...deps, mt5: { ...mt5, findGroupDeals, findDeals } }, onlyReader);
  while (await reader.read({ backMs: 0, findsDeleted: false }));
  await heartbeat(deps);
  expect(deps.gate.read()).toBe("open");
}

type Executed = {
  readonly kind: LegKind;
  readonly attempt: number;
  readonly request: TransferRequest;
  readonly number: bigint;
};

/** The platform has executed this attempt of the first leg, and the database has lost all that it had recorded of it. */
async function execute({ control }: World, { kind, attempt, request, number }: Executed): Promise<void> {
  const { key, comment, legs } = request;
  const cents = legs[0]!.amount!.minorUnits;
  const amount = (Number(cents) / 100).toFixed(2);
  await control.balance(
    legs[0]!.login,
    amount,
    commentOfLeg({ kind, number: legNumber(number), attempt }, { key, comment }),
  );
}

/** The mirror was recorded before the backup, and waits. */
async function aWaitingMirror({ deps }: Instance, { key, legs: [leg] }: TransferRequest): Promise<bigint> {
  const mirror = { key, login: leg!.login, kind: "mirror", amountMinor: leg!.amount!.minorUnits } as const;
  return await aWaitingLeg(deps.pool, { ...mirror, isEnqueued: true });
}

async function numberOfLeg({ deps }: Instance): Promise<bigint | undefined> {
  const legs = await many<{ number: bigint }>(deps.pool, sql`select number from leg order by number desc limit 1`);
  return legs[0]?.number;
}

async function attemptsOf({ deps }: Instance) {
  return await many(deps.pool, sql`select number, state from attempt order by number`);
}

test.concurrent("only the account whose history cannot be read waits, its callers are refused, and it continues once it was read", async (context) => {
  const { world, instance, deps, service } = await aProcess(context, { hasJobs: false, settings: { turnWaitMs: 300 } });
  const [odd, other] = [await anAccount(instance, "master"), await anAccount(instance, "master")];
  const [payment, investor] = [await anAccount(instance, "payment"), await anAccount(instance)];
  await service.transfer(aDeposit(investor, 50_00n), aCall());
  for (const login of [odd, other]) {
    await aWaitingMirror(instance, aTransfer(`mirror:${login}`, [{ login, kind: MIRROR, minor: 7_00n }]));
  }
  await closeGate(instance);
  await readWithout(instance, odd);
  await sendWaiting(deps);

  expect(await world.control.deals(other)).toHaveLength(1);
  expect(await service.transfer(aDeposit(investor, 1_00n), aCall())).toMatchObject({ state: TransferState.APPLIED });
  expect(await world.control.deals(odd)).toEqual([]);
  const exit = aTransfer("exit:1", [{ login: odd, kind: MovementKind.EXIT, minor: -1_00n }]);
  await expect(service.transfer(exit, aCall())).rejects.toMatchObject({
    code: "account_busy",
    outcome: "not_executed",
    details: { login: odd },
  });
  // Recorded before the gate was open: its caller learns that it is not over.
  const mirror = aTransfer(`mirror:${odd}`, [{ login: odd, kind: MIRROR, minor: 7_00n }]);
  expect(await service.transfer(mirror, aCall(3_000))).toMatchObject({ state: TransferState.PENDING });

  await readLogin(deps, odd);
  await sendWaiting(deps);
  expect(await world.control.deals(odd)).toHaveLength(1);
  expect(await recordedTransfer(service, mirror.key)).toMatchObject({ state: TransferState.APPLIED });

  await closeGate(instance);
  await readWithout(instance, payment);
  const fee = aTransfer("fee:1", feeLegs(investor, payment, 20_00n));
  await expect(service.transfer(fee, aCall())).rejects.toMatchObject({
    code: "account_busy",
    details: { login: payment },
  });
  expect(await world.control.deals(investor)).toHaveLength(2);
});

test.concurrent("a deposit that was recorded before the backup and executed after it is not refused while its account cannot be read", async (context) => {
  const { world, instance, deps, service, login } = await aProcessWith("investor", context, {
    hasJobs: false,
    settings: { turnWaitMs: 300 },
  });
  const request = aDeposit(login, 5n);
  const number = await aWaitingLeg(deps.pool, { key: request.key, login });
  await closeGate(instance);
  await readWithout(instance, login);

  expect(await service.transfer(request, aCall(3_000))).toMatchObject({ state: TransferState.PENDING });
  await execute(world, { kind: "deposit", attempt: 1, request, number });
  await readLogin(deps, login);

  expect(await recordedTransfer(service, request.key)).toMatchObject({ state: TransferState.APPLIED });
  expect((await openReviews(instance)).map(({ reason }) => reason).toSorted()).toEqual([
    "database_behind",
    "unreadable_history",
  ]);
  expect(await world.control.deals(login)).toHaveLength(1);
});

test.concurrent("a leg that waits for its permit although the platform has executed it is applied, also after another one was imported, and stops all permits", async (context) => {
  const { world, instance, deps, service, login } = await aProcessWith("master", context, { hasJobs: false });
  const request = aTransfer("subscription:mirror:1", [{ login, kind: MIRROR, minor: 7_00n }], { enqueue: true });
  const number = await aWaitingMirror(instance, request);
  await closeGate(instance);
  // The database does not know this leg: amounts that were calculated without it are outdated.
  await execute(world, {
    kind: "mirror",
    attempt: 1,
    request: { ...request, key: "subscription:mirror:2" },
    number: 77n,
  });
  await execute(world, { kind: "mirror", attempt: 1, request, number });

  await readLogin(deps, login);
  await heartbeat(deps);

  expect(deps.gate.read()).toBe("stopped");
  expect((await openReviews(instance)).map(({ reason }) => reason)).toEqual(["database_behind"]);
  expect(await recordedTransfer(service, request.key)).toMatchObject({ state: TransferState.APPLIED });
});

test.concurrent("a second attempt that the database has lost is not sent again after the first one was proven absent", async (context) => {
  const { world, instance, service, login } = await aProcessWith("master", context, { quietPeriodMs: 1_000 });
  await world.control.fault({ command: "trade/balance", effect: "drop_before" });
  const request = aTransfer("subscription:mirror:1", [{ login, kind: MIRROR, minor: 7_00n }]);
  expect(await instance.service.transfer(request, aCall(1_500))).toMatchObject({ state: TransferState.UNKNOWN });
  await execute(world, { kind: "mirror", attempt: 2, request, number: (await numberOfLeg(instance))! });

  await eventually(
    () => recordedTransfer(instance.service, request.key),
    ({ state }) => ENDED.includes(state),
  );
  expect(await world.control.deals(login)).toHaveLength(1);
  expect(await attemptsOf(instance)).toEqual([{ number: 1, state: "ABSENT" }]);
  expect(await recordedTransfer(service, request.key)).toMatchObject({ state: TransferState.APPLIED });
  expect(await service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall())).toMatchObject({
    entries: [{ number: 1n, amount: { minorUnits: 7_00n } }],
  });
  expect((await openReviews(instance)).map(({ reason }) => reason)).toEqual(["database_behind"]);
});
