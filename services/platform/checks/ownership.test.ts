import { expect, test } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import { reviewVotes } from "#kernel/review/check-votes.ts";
import { heartbeat } from "../jobs/heartbeat.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { stopOnBreaks } from "#kernel/reconcile/stop-on-breaks.ts";
import { insertChecks } from "#kernel/reconcile/store.ts";
import { settledCursor } from "#kernel/testing/walk.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Requester } from "./requester.ts";
import { stoppingBreaks } from "../jobs/stop-on-breaks.ts";
import { requestersFake } from "../testing/requesters.ts";
import { aTransfer, type LegOrder, feeLegs } from "../testing/requests.ts";
import { decideBoth, openReviews, reviewOf, vote } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, decidedTransfer, eventually, type Instance } from "../testing/world.ts";
import { COMPARED_FOR_MS } from "./find-transfers.ts";
import { ownership } from "./ownership.ts";
import { recordedTransfer } from "../testing/recorded-transfer.ts";

type Rows = Partial<Record<Requester, OwnedLeg[]>>;

/** Runs the check and the stops that follow, as the jobs of the service do. */
async function checking(instance: Instance, rows: Rows) {
  const { deps } = instance;
  const { pool, log } = deps;
  const { requesters, asked } = requestersFake(rows);
  const check = ownership({ ...deps, requesters });
  await insertChecks(pool, [check]);
  const once = async (): Promise<string[]> => {
    await runCheck({ pool, log }, check, undefined);
    await stopOnBreaks(pool, stoppingBreaks(deps));
    const { items } = await listBreaks(pool, { afterId: 0n, limit: 100, withoutChecks: true });
    return items.map(({ message }) => message.replace(/^Transfer \d+: /, ""));
  };
  return { asked, once };
}

async function order(instance: Instance, key: string, legs: readonly LegOrder[], enqueue = false) {
  const request = aTransfer(key, legs, { enqueue });
  return await (enqueue ? instance.service.transfer(request, aCall()) : decidedTransfer(instance, request));
}

const deposit = (login: string, minor: bigint): LegOrder => ({ login, kind: MovementKind.DEPOSIT, minor });
const withdrawal = (login: string, minor: bigint): LegOrder => ({
  login,
  kind: MovementKind.WITHDRAWAL,
  minor: -minor,
});

const NO_ROW = "its service has no row for its key.";

test.concurrent("a transfer that its service has recorded is no break, one that it has not is one under every prefix", async (context) => {
  const instance = await (await aWorld(context)).start();
  const [investor, master, payment] = [
    await anAccount(instance),
    await anAccount(instance, "master"),
    await anAccount(instance, "payment"),
  ];
  const cases: { key: string; requester: Requester; legs: LegOrder[]; rows: Omit<OwnedLeg, "key">[] }[] = [
    {
      key: "funding:deposit:",
      requester: "funding",
      legs: [deposit(investor, 500_00n)],
      rows: [{ login: investor, kind: "deposit", amountMinor: 500_00n }],
    },
    {
      key: "withdrawal:",
      requester: "subscription",
      legs: [withdrawal(investor, 1_00n)],
      rows: [{ login: investor, kind: "withdrawal", amountMinor: -1_00n }],
    },
    {
      key: "fee:1:2:W:",
      requester: "fee",
      legs: feeLegs(investor, payment, 2_00n),
      rows: [
        { login: investor, kind: "fee_debit", amountMinor: -2_00n },
        { login: payment, kind: "fee_credit", amountMinor: 2_00n },
      ],
    },
    {
      key: "subscription:mirror:",
      requester: "subscription",
      legs: [{ login: master, kind: MovementKind.MIRROR, minor: 3_00n }],
      rows: [{ login: master, kind: "mirror", amountMinor: 3_00n }],
    },
    {
      key: "posting:1:",
      requester: "subscription",
      legs: [{ login: investor, kind: MovementKind.RESULT, minor: 4_00n }],
      // It was compared with its entry in the log, and forgotten.
      rows: [{ login: investor, kind: "result", amountMinor: undefined }],
    },
    {
      key: "exit:1:",
      requester: "subscription",
      legs: [{ login: master, kind: MovementKind.EXIT, minor: -1_00n }],
      rows: [{ login: master, kind: "exit", amountMinor: -1_00n }],
    },
  ];
  const rows: Record<Requester, OwnedLeg[]> = { fee: [], funding: [], subscription: [] };
  const { asked, once } = await checking(instance, rows);
  for (const { key, requester, legs, rows: own } of cases) {
    rows[requester].push(...own.map((leg) => ({ ...leg, key: `${key}1` })));
    expect(await order(instance, `${key}1`, legs)).toMatchObject({ state: TransferState.APPLIED });
  }
  expect(await once()).toEqual([]);
  expect([...new Set(Object.values(asked).flat())].toSorted()).toEqual(cases.map(({ key }) => `${key}1`).toSorted());

  for (const { key, legs } of cases) await order(instance, `${key}2`, legs);
  await order(instance, "bonus:1", [deposit(investor, 5_00n)]);
  await order(instance, "review:17:reverse", [deposit(investor, 6_00n)]);
  expect(await once()).toEqual([
    ...cases.map(() => NO_ROW),
    "no service requests transfers with such a key.",
    "no decided review has ordered this reversal.",
  ]);
});

test.concurrent("a transfer of which its service has recorded another amount, account, kind or number of legs is a break", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const login = await anAccount(instance);
  const cases: readonly (readonly [Partial<OwnedLeg>[], string])[] = [
    [[{ amountMinor: 1_00n }], "its service has recorded another amount."],
    [[{ login: "3999999" }], "its service has recorded another account."],
    [[{ kind: "withdrawal" }], "its service has recorded another kind of movement."],
    [[{}, {}], "its service has recorded another number of legs."],
    [[{ login: "3999999", amountMinor: undefined }], "its service has recorded another account."],
  ];
  const rows = cases.flatMap(([differences], index) =>
    differences.map((difference) => ({
      key: `funding:deposit:${index}`,
      login,
      kind: "deposit",
      amountMinor: 100_00n,
      ...difference,
    })),
  );
  const { once } = await checking(instance, { funding: rows });
  for (const index of cases.keys()) await order(instance, `funding:deposit:${index}`, [deposit(login, 100_00n)]);
  expect(await once()).toEqual(cases.map(([, problem]) => problem));
});

test.concurrent("nothing more is executed on the accounts of a forged transfer until two operators resume them", async (context) => {
  const instance = await (await aWorld(context)).start();
  const { service, deps } = instance;
  const [forged, other] = [await anAccount(instance), await anAccount(instance)];
  const rows: Rows = { funding: [] };
  const { once } = await checking(instance, rows);
  const known = await order(instance, "funding:deposit:1", [deposit(forged, 1_000_000_00n)]);
  expect(await once()).toEqual([NO_ROW]);

  const stopped = { code: "safety_stop", status: "unavailable", outcome: "not_executed" };
  await expect(order(instance, "withdrawal:2", [withdrawal(forged, 1_00n)])).rejects.toMatchObject(stopped);
  await expect(order(instance, "funding:deposit:3", [deposit(forged, 1_00n)])).rejects.toMatchObject(stopped);
  const lock = { login: forged, lockOwner: "withdrawal:4:1" };
  await expect(service.hold(lock, aCall())).rejects.toMatchObject(stopped);
  expect(await order(instance, "funding:deposit:1", [deposit(forged, 1_000_000_00n)])).toEqual(known);
  expect(await order(instance, "funding:deposit:5", [deposit(other, 1_00n)])).toMatchObject({
    state: TransferState.APPLIED,
  });
  const waiting = await order(
    instance,
    "subscription:mirror:6",
    [{ login: forged, kind: MovementKind.MIRROR, minor: 1_00n }],
    true,
  );
  expect(waiting).toMatchObject({ state: TransferState.PENDING });
  rows.funding?.push({ key: "funding:deposit:5", login: other, kind: "deposit", amountMinor: 1_00n });
  rows.subscription = [{ key: "subscription:mirror:6", login: forged, kind: "mirror", amountMinor: 1_00n }];

  const review = await reviewOf(instance, "account_stopped");
  expect(review).toMatchObject({ login: forged, actions: ["resume"], amount: { minorUnits: 1_000_000_00n } });
  await decideBoth(instance, review, { action: "resume" });
  expect(await once()).toEqual([]);
  deps.legsSignal.notify();
  const sent = () => recordedTransfer(service, "subscription:mirror:6");
  await eventually(sent, ({ state }) => state === TransferState.APPLIED);
  expect(await order(instance, "funding:deposit:7", [deposit(forged, 1_00n)])).toMatchObject({
    state: TransferState.APPLIED,
  });
});

test.concurrent("a fee to a stopped payment account is not debited", async (context) => {
  const instance = await (await aWorld(context)).start();
  const [investor, payment] = [await anAccount(instance), await anAccount(instance, "payment")];
  const { once } = await checking(instance, {
    funding: [{ key: "funding:deposit:1", login: investor, kind: "deposit", amountMinor: 9_00n }],
  });
  await order(instance, "funding:deposit:1", [deposit(investor, 9_00n)]);
  await order(instance, "bonus:1", [{ login: payment, kind: MovementKind.FEE_CREDIT, minor: 1_00n }]);
  await once();
  const fee = order(instance, "fee:1:2:W", feeLegs(investor, payment, 2_00n));
  await expect(fee).rejects.toMatchObject({ code: "safety_stop", details: { login: payment } });
});

test.concurrent("a forged transfer that was not sent yet is never sent, also after operators have resumed the account", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { service } = instance;
  const login = await anAccount(instance);
  const { once } = await checking(instance, {});
  // The leg waits behind the account lock of a saga.
  await service.hold({ login, lockOwner: "withdrawal:9:1" }, aCall());
  await order(instance, "subscription:mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 5_00n }], true);
  await once();
  expect(await recordedTransfer(service, "subscription:mirror:1")).toMatchObject({
    state: TransferState.REFUSED,
  });
});

test.concurrent("a further break of an account voids a proposal that was made without it", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const login = await anAccount(instance);
  const { once } = await checking(instance, {});
  await order(instance, "funding:deposit:1", [deposit(login, 1_00n)]);
  await order(instance, "funding:deposit:2", [deposit(login, 2_00n)]);
  await instance.deps.pool.query("update transfer set key = 'funding:deposit:one' where key = 'funding:deposit:1'");
  await once();
  const [review] = await openReviews(instance);
  expect(JSON.parse(review?.evidence ?? "{}")).toMatchObject({ transfers: ["1", "2"], breaks: [{}, {}] });
  await vote(instance, review!, "key-of-ann", { action: "resume" });
  await instance.deps.pool.query("update account set stopped_reason = null");
  await order(instance, "funding:deposit:3", [deposit(login, 3_00n)]);
  await once();
  const [extended] = await openReviews(instance);
  expect(extended).toMatchObject({ id: review?.id, actions: ["resume"], decision: undefined });
  expect(JSON.parse(extended?.evidence ?? "{}")).toMatchObject({ transfers: ["1", "2", "3"] });
});

test.concurrent("a reversal that a review has decided is no break, one of another amount is", async (context) => {
  const instance = await (await aWorld(context)).start();
  const { pool } = instance.deps;
  const login = await anAccount(instance);
  const { once } = await checking(instance, {
    funding: [{ key: "funding:deposit:1", login, kind: "deposit", amountMinor: 10_00n }],
  });
  await order(instance, "funding:deposit:1", [deposit(login, 10_00n)]);
  await pool.query(
    `insert into review_case (subject, reason, login, deal_id, evidence, actions, state, opened_at, action, chosen_deal_id, note, proposed_by,
                              proposed_at, confirmed_note, confirmed_by, confirmed_at, done_at)
     select 'deal:1', 'unmatched_deal', login, deal_id, '{}', '{reverse}', 'DECIDED', now(), 'reverse', 0, 'n', 'Ann', now(), 'n', 'Bob', now(), now()
     from leg`,
  );
  const reversal: LegOrder = { login, kind: MovementKind.REVERSAL, minor: -10_00n };
  await insertReversal(instance, "review:1:reverse", reversal);
  expect(await once()).toEqual([]);
  await pool.query("update transfer set key = 'review:9:reverse' where key = 'review:1:reverse'");
  await insertReversal(instance, "review:1:reverse", { ...reversal, minor: -9_00n });
  const problem = "no decided review has ordered this reversal.";
  expect((await once()).filter((each) => each === problem)).toEqual([problem, problem]);
});

/** A transfer with a waiting leg, as the service itself inserts it, or a statement in its database. */
async function insertReversal({ deps: { pool } }: Instance, key: string, { login, minor }: LegOrder): Promise<void> {
  await pool.query(
    `with inserted as (
       insert into transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, comment, request_id)
       values ('${key}', '', 1, true, false, '', '') returning id
     )
     insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready, state, next_scan_at)
     select nextval('leg_number'), id, 1, '${login}', 'reversal', ${minor}, ${minor}, true, true, 'INTENT', 'infinity' from inserted`,
  );
}

test.concurrent("an imported deal is no break, a transfer that was sent under a key of imported deals is one", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { pool } = instance.deps;
  const login = await anAccount(instance);
  const { once } = await checking(instance, {});
  await order(instance, "funding:deposit:1", [deposit(login, 10_00n)]);
  await pool.query("update transfer set key = 'imported:1'");
  expect(await once()).toEqual(["it was sent under a key of imported deals."]);
  await pool.query("delete from attempt");
  expect(await once()).toEqual([]);
});

test.concurrent("old transfers are not compared again, but a new row is, whatever time it has", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { pool } = instance.deps;
  const login = await anAccount(instance);
  const own = { key: "funding:deposit:1", login, kind: "deposit", amountMinor: 1_00n };
  const rows: Rows = { funding: [own] };
  const { once } = await checking(instance, rows);
  await order(instance, own.key, [deposit(login, 1_00n)]);
  for (let run = 0; run < 2; run += 1) {
    expect(await once()).toEqual([]);
    const [{ cursor }] = (await pool.query("select cursor from reconciliation_check")).rows;
    await pool.query("update reconciliation_check set cursor = $1", [settledCursor(cursor)]);
  }
  const aged = `update transfer set created_at = now() - interval '${COMPARED_FOR_MS / DAY_MS + 1} days'`;
  await pool.query(aged);
  rows.funding = [];
  expect(await once()).toEqual([]);

  await order(instance, "funding:deposit:2", [deposit(login, 2_00n)]);
  await pool.query(aged);
  for (let run = 0; run < 2; run += 1) expect(await once()).toEqual([NO_ROW]);
});

test.concurrent("a decision to resume all permits that has no valid votes stops them again", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { deps, service } = instance;
  const { pool } = deps;
  const login = await anAccount(instance);
  await pool.query(
    `insert into review_case (subject, reason, login, evidence, actions, state, opened_at, action, chosen_deal_id, note, proposed_by,
                              proposed_at, confirmed_note, confirmed_by, confirmed_at, done_at)
     values ('database_behind', 'database_behind', '${login}', '{}', '{resume}', 'DECIDED', now(), 'resume', 0, 'n', 'Ann', now(), 'n', 'Bob', now(), now())`,
  );
  const votes = reviewVotes({
    pool,
    service: "platform",
    masterOf: () => "",
    confirm: () => Promise.reject(new Error("unexpected call")),
  });
  await insertChecks(pool, [votes]);
  for (let run = 0; run < 2; run += 1) await runCheck({ pool, log: deps.log }, votes, undefined);
  await stopOnBreaks(pool, stoppingBreaks(deps));
  await heartbeat(deps);
  expect(deps.gate.read()).toBe("stopped");
  const reasons = (await openReviews(instance)).map(({ reason }) => reason);
  expect(reasons.toSorted()).toEqual(["account_stopped", "database_behind", "votes_unconfirmed"]);
  const lock = { login, lockOwner: "withdrawal:1:1" };
  await expect(service.hold(lock, aCall())).rejects.toMatchObject({ code: "safety_stop" });
});
