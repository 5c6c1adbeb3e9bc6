import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#kernel/values/duration.ts";
import { one, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { legNumber } from "../domain/leg-number.ts";
import { platformComment } from "../domain/reference.ts";
import { AccountReader } from "../reader/account-reader.ts";
import { amendmentsOf, logOf, summaryOf } from "../testing/log-of.ts";
import { moveReadTo } from "../store/reader-cursor.ts";
import { onlyReader } from "../testing/reader-role.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { decideBoth, openReviews } from "../testing/reviews.ts";
import { aCall, anAccount, type Instance, aProcess, aProcessWith } from "../testing/world.ts";
import { CONFIRM_AFTER_MS, readWholeLogin } from "./deleted-deals.ts";

/** Of a deal that has become a day old some minutes ago. */
const OLD_MS = DAY_MS + 5 * MINUTE_MS;

/** As if the deals were made this much earlier. */
async function passTime({ deps }: Instance, ms: number): Promise<void> {
  await corrupt(
    deps.pool,
    `update leg set applied_at = applied_at - ${ms} * interval '1 millisecond';
     update log_entry set deal_at = deal_at - ${ms} * interval '1 millisecond' where deal_id is not null`,
  );
}

/** Two reads of the last hour: the second one asks for the tickets that the first one has missed. */
async function readTwice({ deps }: Instance): Promise<void> {
  const reader = new AccountReader(deps, onlyReader);
  await reader.read({ backMs: HOUR_MS, findsDeleted: true });
  await pause(CONFIRM_AFTER_MS);
  await reader.read({ backMs: HOUR_MS, findsDeleted: true });
}

/** A platform that shows its deals as if they were made a day earlier, or more. */
function aged({ deps: { mt5 } }: Instance, ageMs = OLD_MS): Instance["deps"]["mt5"] {
  return {
    ...mt5,
    async findGroupDeals(group, { from, to }, rows) {
      const later = { from: new Date(from.getTime() + ageMs), to: new Date(to.getTime() + ageMs) };
      const found = await mt5.findGroupDeals(group, later, rows);
      if (found.kind !== "read") return found;
      return { ...found, deals: found.deals.map((deal) => ({ ...deal, at: new Date(deal.at.getTime() - ageMs) })) };
    },
  };
}

async function anAppliedDeposit(instance: Instance) {
  const login = await anAccount(instance);
  const request = aDeposit(login, 9_00n);
  const { legs } = await instance.service.transfer(request, aCall());
  return { login, request, ticket: legs[0]!.dealId };
}

async function status({ deps }: Instance): Promise<string> {
  const { state } = await one<{ state: string }>(deps.pool, sql`select state from leg order by number limit 1`);
  return state;
}

async function reasonsOf(instance: Instance, login: string, count: number): Promise<string[]> {
  return (await logOf(instance, login, count)).map(({ reason }) => reason);
}

test.concurrent("a leg is not written again once its answer is recorded, however often its deal is compared", async (context) => {
  const { instance } = await aProcess(context, { hasJobs: false });
  await anAppliedDeposit(instance);
  const rowOf = async () =>
    await one(instance.deps.pool, sql`select ctid::text as version, xmin::text as writer from leg`);
  const answered = await rowOf();

  const reader = new AccountReader(instance.deps, onlyReader);
  for (const backMs of [MINUTE_MS, 10 * MINUTE_MS, HOUR_MS]) await reader.read({ backMs, findsDeleted: true });
  await reader.readOld();

  expect(await rowOf()).toEqual(answered);
});

test.concurrent("a deal that the platform lost is reported once, also after its review is acknowledged, its leg stays applied, and no money is credited again", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const { login, request, ticket } = await anAppliedDeposit(instance);
  await world.control.removeDeal(Number(ticket));

  await passTime(instance, 2 * MINUTE_MS);
  for (let times = 0; times < 2; times += 1) await readTwice(instance);

  expect(await status(instance)).toBe("APPLIED");
  expect(await reasonsOf(instance, login, 2)).toEqual(["", "deal_gone"]);
  const [review, ...others] = await openReviews(instance);
  expect(others).toEqual([]);
  expect(review).toMatchObject({ reason: "history_changed", login, dealId: ticket });
  expect(JSON.parse(review!.evidence)).toMatchObject({
    deals: [{ deal_id: String(ticket), booked: expect.stringContaining("9.00"), shown: "no such deal" }],
  });
  // A repeated key gets the reported result; no command is sent.
  expect((await instance.service.transfer(request, aCall())).state).toBe(TransferState.APPLIED);
  expect(await world.control.deals(login)).toEqual([]);

  await decideBoth(instance, review!, { action: "acknowledge" });
  await readTwice(instance);
  expect(await openReviews(instance)).toEqual([]);
  expect(await amendmentsOf(instance, login)).toEqual(["deal_gone"]);
});

test.concurrent("a deal that is deleted or edited within a day is found when it is a day old, each with few requests", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const deposits = [
    await anAppliedDeposit(instance),
    await anAppliedDeposit(instance),
    await anAppliedDeposit(instance),
  ];
  await passTime(instance, OLD_MS);
  await world.control.removeDeal(Number(deposits[0]!.ticket));
  await world.control.editDeal(Number(deposits[1]!.ticket), { profit: "8.00" });
  await moveReadTo(instance.deps.pool, new Date(Date.now() - 10 * MINUTE_MS));
  const { calls: before } = await world.control.stats();

  const reader = new AccountReader({ ...instance.deps, mt5: aged(instance) }, onlyReader);
  await reader.readOld();
  await pause(CONFIRM_AFTER_MS);
  await reader.read({ backMs: MINUTE_MS, findsDeleted: false });

  const { calls: after } = await world.control.stats();
  // Only the missing deal is requested by itself.
  expect((after["deal/get"] ?? 0) - (before["deal/get"] ?? 0)).toBe(1);
  expect(await Promise.all(deposits.map(({ login }) => amendmentsOf(instance, login)))).toEqual([
    ["deal_gone"],
    ["deal_changed"],
    [],
  ]);
});

test.concurrent("after an outage of hours the deals that became a day old are read by a later process where the first one ended", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const { login, ticket } = await anAppliedDeposit(instance);
  const ageMs = DAY_MS + 3 * HOUR_MS;
  await passTime(instance, ageMs);
  await world.control.removeDeal(Number(ticket));
  await moveReadTo(instance.deps.pool, new Date(Date.now() - 5 * HOUR_MS));
  const deps = { ...instance.deps, mt5: aged(instance, ageMs) };
  const readLatest = async (reader: AccountReader) => {
    while (await reader.read({ backMs: MINUTE_MS, findsDeleted: false }));
  };

  const first = new AccountReader(deps, onlyReader);
  await readLatest(first);
  await first.readOld();
  const second = new AccountReader(deps, onlyReader);
  for (let hours = 0; hours < 5; hours += 1) await second.readOld();
  await pause(CONFIRM_AFTER_MS);
  await readLatest(second);

  expect(await amendmentsOf(instance, login)).toEqual(["deal_gone"]);
});

test.concurrent("a deal that the platform does not show yet is not reported as deleted before the quiet period has passed", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false, quietPeriodMs: 180_000 });
  const { login, ticket } = await anAppliedDeposit(instance);
  await world.control.removeDeal(Number(ticket));

  await passTime(instance, 2 * MINUTE_MS);
  await readTwice(instance);
  expect(await amendmentsOf(instance, login)).toEqual([]);

  await passTime(instance, 2 * MINUTE_MS);
  await readTwice(instance);
  expect(await amendmentsOf(instance, login)).toEqual(["deal_gone"]);
});

test.concurrent("a ticket with another leg's reference is reported; a rewritten comment is not", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const { login, ticket } = await anAppliedDeposit(instance);
  const reader = new AccountReader(instance.deps, onlyReader);
  const read = async () => await reader.read({ backMs: MINUTE_MS, findsDeleted: false });
  await world.control.editDeal(Number(ticket), { comment: "seen by the back office" });
  await read();
  expect(await openReviews(instance)).toEqual([]);

  const other = { kind: "deposit", number: legNumber(77n), attempt: 1 } as const;
  await world.control.editDeal(Number(ticket), { comment: platformComment(other, "") });
  for (let times = 0; times < 2; times += 1) await read();

  expect(await reasonsOf(instance, login, 2)).toEqual(["", "deal_changed"]);
  expect(await openReviews(instance)).toMatchObject([{ reason: "history_changed", dealId: ticket }]);
});

test.concurrent("a leg of a Master whose deal is lost before it was read is reported", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context, { hasJobs: false });
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 9_00n }]);
  const { legs } = await instance.service.transfer(mirror, aCall());
  await world.control.removeDeal(Number(legs[0]!.dealId));
  await passTime(instance, 2 * MINUTE_MS);

  await readTwice(instance);

  expect(await logOf(instance, login, 1)).toMatchObject([
    { kind: MovementKind.AMENDMENT, reason: "deal_gone", dealId: legs[0]!.dealId },
  ]);
  expect(await status(instance)).toBe("APPLIED");
});

test.concurrent("a login is read as a whole: a late deal is filed, and a deleted and an edited one are reported once", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { hasJobs: false });
  for (const key of ["a", "b"]) await instance.service.transfer(aDeposit(login, 100_00n, { key }), aCall());
  const [first, second] = await world.control.deals(login);
  // What happened on the account is older than all that the reader reads again, and than a deal that may still be shown late.
  await moveReadTo(instance.deps.pool, new Date(Date.now() + 3 * HOUR_MS));
  await corrupt(instance.deps.pool, "update log_entry set deal_at = deal_at - interval '2 minutes' where number > 0");
  await world.control.balance(login, "7.00");
  await world.control.removeDeal(first!.deal);
  await world.control.editDeal(second!.deal, { profit: "90.00" });

  for (let times = 0; times < 2; times += 1) await readWholeLogin(instance.deps, login);

  expect((await logOf(instance, login, 5)).map(summaryOf)).toEqual([
    "DEPOSIT 100.00",
    "DEPOSIT 100.00",
    "EXTERNAL 7.00",
    "AMENDMENT 0.00",
    "AMENDMENT 0.00",
  ]);
  const [review, ...others] = await openReviews(instance);
  expect(others).toEqual([]);
  const { deals } = JSON.parse(review!.evidence) as { deals: { deal_id: string }[] };
  expect(deals.map(({ deal_id: id }) => id).toSorted()).toEqual([first!.deal, second!.deal].map(String).toSorted());
});
