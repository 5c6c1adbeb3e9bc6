import { expect, test } from "vitest";
import { execute, many, one, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { platformComment } from "../domain/reference.ts";
import { legNumber } from "../domain/leg-number.ts";
import { verifyDeals } from "./verify-deals.ts";
import { claimVerifications } from "../store/deal-verifications.ts";
import { findingsOf, logOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { decideBoth, reviewOf } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, eventually, type Instance } from "../testing/world.ts";

const CLAIM_MS = 60_000;

type Row = { state: string; came_from: string | null; review: string | null; verifications: number; in_s: number };

async function status({ deps }: Instance): Promise<Row> {
  return await one<Row>(
    deps.pool,
    sql`select state, came_from, review, verifications,
               round(extract(epoch from next_scan_at - applied_at))::integer as in_s
        from leg`,
  );
}

/** As if this much time had passed since the deal was made, and its verification were due. */
async function passTime({ deps }: Instance, seconds: number): Promise<void> {
  await execute(
    deps.pool,
    sql`update leg
        set applied_at = applied_at - ${seconds}::integer * interval '1 second', next_scan_at = clock_timestamp()`,
  );
}

/** One run of the job, without the readers, which would detect changes first. */
async function verifyOnce({ deps }: Instance): Promise<number> {
  const due = await claimVerifications(deps.pool, CLAIM_MS, 10);
  if (due.length > 0) await verifyDeals(deps, due);
  return due.length;
}

async function anAppliedDeposit(instance: Instance) {
  const login = await anAccount(instance);
  const request = aDeposit(login, 9_00n);
  const { legs } = await instance.service.transfer(request, aCall());
  return { login, request, ticket: legs[0]!.dealId };
}

test.concurrent("a deal is verified three times: after a minute, an hour and a day", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  await anAppliedDeposit(instance);
  expect(await status(instance)).toMatchObject({ state: "APPLIED", verifications: 0 });
  expect(await verifyOnce(instance)).toBe(0);

  const due: number[] = [];
  for (const seconds of [60, 0, 0]) {
    await passTime(instance, seconds);
    await verifyOnce(instance);
    due.push((await status(instance)).in_s);
  }
  await passTime(instance, 0);

  expect(due.slice(0, 2)).toEqual([3_600, 86_400]);
  expect(await verifyOnce(instance)).toBe(0);
  expect(await status(instance)).toMatchObject({ state: "APPLIED", verifications: 3 });
});

test.concurrent("many deals are verified with one request, and each is judged for itself", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const deposits = [
    await anAppliedDeposit(instance),
    await anAppliedDeposit(instance),
    await anAppliedDeposit(instance),
  ];
  await world.control.removeDeal(Number(deposits[1]!.ticket));
  await passTime(instance, 61);
  const { calls: before } = await world.control.stats();

  expect(await verifyOnce(instance)).toBe(3);

  const { calls: after } = await world.control.stats();
  const made = (path: string) => (after[path] ?? 0) - (before[path] ?? 0);
  // Only the missing deal is requested by itself, and confirmed by a whole read of its login.
  expect(["deal/get_batch", "deal/get"].map(made)).toEqual([1, 1]);
  expect(await many(instance.deps.pool, sql`select login, state, verifications from leg order by number`)).toEqual(
    deposits.map(({ login }, index) => ({
      login,
      state: index === 1 ? "REVIEW" : "APPLIED",
      verifications: index === 1 ? 0 : 1,
    })),
  );
});

test.concurrent("a server that does not select by ticket is asked for each deal by itself", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  await anAppliedDeposit(instance);
  await passTime(instance, 61);
  await world.control.fault({ command: "deal/get_batch", parameter: "ticket", effect: "retcode:3" });
  await verifyOnce(instance);
  expect(await status(instance)).toMatchObject({ state: "APPLIED", verifications: 1 });
});

test.concurrent("a deal that the platform lost is reported once, its leg is in manual review, and no money is credited again", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { login, request, ticket } = await anAppliedDeposit(instance);
  await world.control.removeDeal(Number(ticket));

  await passTime(instance, 61);
  await verifyOnce(instance);
  await passTime(instance, 0);
  await verifyOnce(instance);

  expect(await status(instance)).toMatchObject({
    state: "REVIEW",
    came_from: "APPLIED",
    review: "applied_deal_gone",
  });
  expect((await logOf(instance, login, 2)).map(({ reason, dealId }) => [reason, dealId])).toEqual([
    ["", ticket],
    ["deal_gone", ticket],
  ]);
  expect(await findingsOf(instance, login)).toEqual(["applied_deal_gone"]);
  const [{ evidence } = { evidence: {} }] = await many<{ evidence: unknown }>(
    instance.deps.pool,
    sql`select evidence from finding`,
  );
  expect(evidence).toMatchObject({ key: request.key, amount_minor: "900", came_from: "APPLIED", shown: null });
  // A repeated key gets the reported result; no command is sent.
  expect((await instance.service.transfer(request, aCall())).state).toBe(TransferState.APPLIED);
  expect(await world.control.deals(login)).toEqual([]);
});

test.concurrent("a deal that the platform does not show yet is not reported as deleted, and is verified again after the quiet period", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false, quietPeriodMs: 120_000 });
  const { login, ticket } = await anAppliedDeposit(instance);
  await world.control.removeDeal(Number(ticket));

  await passTime(instance, 61);
  await verifyOnce(instance);

  expect(await status(instance)).toMatchObject({ state: "APPLIED", verifications: 0, in_s: 120 });
  expect(await findingsOf(instance, login)).toEqual([]);
});

test.concurrent("a ticket with another leg's reference is sent to manual review; a rewritten comment is not", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { login, ticket } = await anAppliedDeposit(instance);
  await world.control.editDeal(Number(ticket), { comment: "seen by the back office" });
  await passTime(instance, 61);
  await verifyOnce(instance);
  expect(await status(instance)).toMatchObject({ state: "APPLIED", verifications: 1 });

  const other = { kind: "deposit", number: legNumber(77n), attempt: 1 } as const;
  await world.control.editDeal(Number(ticket), { comment: platformComment(other, "") });
  await passTime(instance, 0);
  await verifyOnce(instance);

  expect(await status(instance)).toMatchObject({ state: "REVIEW", review: "applied_deal_differs" });
  expect((await logOf(instance, login, 2)).map(({ reason }) => reason)).toEqual(["", "deal_changed"]);
});

test.concurrent("a ticket that the platform reused on another login is a deleted deal of this one", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { login, ticket } = await anAppliedDeposit(instance);
  const other = await anAccount(instance);
  await world.control.restart(60_000);
  expect((await world.control.balance(other, "9.00")).deal).toBe(Number(ticket));

  await passTime(instance, 1);
  await verifyOnce(instance);

  expect(await status(instance)).toMatchObject({ state: "REVIEW", review: "applied_deal_gone" });
  expect((await logOf(instance, login, 2)).map(({ reason }) => reason)).toEqual(["", "deal_gone"]);
});

test.concurrent("a process that crashes with a claim delays the verification; another process runs it", async (context) => {
  const world = await aWorld(context);
  const crashing = await world.start({ hasJobs: false });
  const { login, ticket } = await anAppliedDeposit(crashing);
  await world.control.removeDeal(Number(ticket));
  await passTime(crashing, 61);
  expect(await claimVerifications(crashing.deps.pool, 1_000, 10)).toHaveLength(1);
  await crashing[Symbol.asyncDispose]();

  const next = await world.start();

  expect((await logOf(next, login, 2)).map(({ reason }) => reason)).toEqual(["", "deal_gone"]);
  expect(await status(next)).toMatchObject({ state: "REVIEW", verifications: 0 });
});

test.concurrent("a leg of a Master whose deal is lost before it was read is reported", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const login = await anAccount(instance, "master");
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 9_00n }]);
  const { legs } = await instance.service.transfer(mirror, aCall());
  await world.control.removeDeal(Number(legs[0]!.dealId));
  await execute(instance.deps.pool, sql`update leg set applied_at = applied_at - interval '90 seconds'`);

  // Its first verification is not due: the readers of the history find it missing.
  const reading = await world.start();
  const entries = await eventually(
    async () => (await reading.service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall())).entries,
    (seen) => seen.length > 0,
    20_000,
  );

  expect(entries).toMatchObject([{ kind: MovementKind.AMENDMENT, reason: "deal_gone", dealId: legs[0]!.dealId }]);
  expect(await status(reading)).toMatchObject({ state: "REVIEW", review: "applied_deal_gone", verifications: 0 });
});

test.concurrent("an amendment is logged once when it is committed, not by each verification of an acknowledged deal", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { ticket } = await anAppliedDeposit(instance);
  await world.control.removeDeal(Number(ticket));
  const lines: string[] = [];
  const log = { ...instance.deps.log, error: (message: string) => void lines.push(message) };
  const verify = async () =>
    await verifyDeals({ ...instance.deps, log }, await claimVerifications(instance.deps.pool, CLAIM_MS, 10));
  await passTime(instance, 61);
  await verify();
  await decideBoth(instance, await reviewOf(instance, "applied_deal_gone"), { action: "acknowledge" });
  await passTime(instance, 0);
  await verify();
  expect(await status(instance)).toMatchObject({ state: "APPLIED", verifications: 1 });
  expect(lines).toEqual(["recorded deal amended on the trading platform, manual review required"]);
});
