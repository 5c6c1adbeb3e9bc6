import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually, type CrashPoint } from "../testing/world.ts";
import { recordedTransfer } from "../testing/recorded-transfer.ts";

const LONG_ENOUGH_MS = 60_000;

/** The result that a retrying caller gets in the end, and the number of deals then. */
const POINTS: { point: CrashPoint; kind: "deposit" | "mirror"; state: TransferState; deals: number }[] = [
  // The first permit was committed, but its process did not send: an external leg is not sent again.
  { point: "after_permit", kind: "deposit", state: TransferState.REFUSED, deals: 0 },
  { point: "after_permit", kind: "mirror", state: TransferState.APPLIED, deals: 1 },
  { point: "after_answer", kind: "deposit", state: TransferState.APPLIED, deals: 1 },
  { point: "after_answer", kind: "mirror", state: TransferState.APPLIED, deals: 1 },
  { point: "after_record", kind: "deposit", state: TransferState.APPLIED, deals: 1 },
  { point: "after_record", kind: "mirror", state: TransferState.APPLIED, deals: 1 },
];

test.concurrent.for(POINTS)(
  "a process that crashes at crash point $point of a $kind leaves at most one deal, and the next process finds it",
  async (example, context) => {
    const world = await aWorld(context);
    const crashing = await world.start({ quietPeriodMs: 1_000 });
    const login = await anAccount(crashing, example.kind === "mirror" ? "master" : "investor");
    const leg = { login, kind: example.kind === "mirror" ? MovementKind.MIRROR : MovementKind.DEPOSIT, minor: 5_00n };
    const request = aTransfer(`crash:${example.point}`, [leg]);
    crashing.crashAt(example.point);
    await expect(crashing.service.transfer(request, aCall())).rejects.toThrow(example.point);
    await crashing[Symbol.asyncDispose]();

    const next = await world.start({ quietPeriodMs: 1_000 });
    const ended = await eventually(
      () => next.service.transfer(request, aCall()),
      ({ state }) => state === TransferState.APPLIED || state === TransferState.REFUSED,
      LONG_ENOUGH_MS,
    );

    expect(ended.state).toBe(example.state);
    expect(await world.control.deals(login)).toHaveLength(example.deals);
    const log = await eventually(
      () => next.service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall()),
      ({ entries }) => entries.length === example.deals,
    );
    expect(log.entries.map(({ amount }) => amount?.minorUnits)).toEqual(example.deals === 1 ? [5_00n] : []);
    expect((await next.service.transfer(aDeposit(login, 1_00n), aCall())).state).toBe(TransferState.APPLIED);
  },
);

test.concurrent("an intent whose process crashed before its permit is continued by another process, or expires", async (context) => {
  const world = await aWorld(context);
  const crashing = await world.start({ hasJobs: false });
  const login = await anAccount(crashing);
  await crashing.service.hold({ login, lockOwner: "a" }, aCall());
  const open = aDeposit(login, 5_00n);
  const sendBefore = new Date(Date.now() + 600);
  const late = aDeposit(login, 7_00n, { sendBefore });
  const enqueued = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 1_00n }], { enqueue: true });
  // All are queued when their process ends, so no request refuses them.
  const waiting = Promise.allSettled(
    [open, late, enqueued].map((request) => crashing.service.transfer(request, aCall())),
  );
  await eventually(
    () => many(world.database.pool, sql`select from leg`),
    (found) => found.length === 3,
  );
  await crashing[Symbol.asyncDispose]();
  await waiting;
  const next = await world.start();
  await eventually(
    () => Promise.resolve(Date.now()),
    (now) => now > sendBefore.getTime(),
  );
  await next.service.release({ login, lockOwner: "a" }, aCall());

  const [applied, expired, mirrored] = await eventually(
    () => Promise.all([open, late, enqueued].map(({ key }) => recordedTransfer(next.service, key))),
    (results) => results.every(({ state }) => state === TransferState.APPLIED || state === TransferState.REFUSED),
  );

  expect(mirrored).toMatchObject({ state: TransferState.APPLIED });
  expect(applied).toMatchObject({ state: TransferState.APPLIED });
  expect(expired).toMatchObject({ state: TransferState.REFUSED, refusalCode: "expired" });
  expect(await world.control.deals(login)).toHaveLength(2);
});

test.concurrent("a new process never reuses a leg number, also with a restored database", async (context) => {
  const world = await aWorld(context);
  const first = await world.start();
  const login = await anAccount(first);
  const one = await first.service.transfer(aDeposit(login, 1_00n), aCall());
  await first[Symbol.asyncDispose]();
  // The database as it was before that deposit was recorded.
  await world.database.pool.query("select setval('leg_number', (select min(number) - 1 from leg))");

  const second = await world.start();
  const two = await second.service.transfer(aDeposit(login, 1_00n), aCall());

  expect(two.legs[0]!.reference).not.toBe(one.legs[0]!.reference);
  const epochs = await many<{ epoch: bigint }>(world.database.pool, sql`select epoch from sender order by epoch`);
  expect(epochs).toHaveLength(2);
});
