import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { readBetweenLegs } from "../protocol/history/read-between-legs.ts";
import { readLogin } from "../protocol/history/read-history.ts";
import { platformComment } from "../domain/reference.ts";
import { legNumber } from "../domain/leg-number.ts";
import { findAccount } from "../store/accounts.ts";
import { findingsOf, logOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually } from "../testing/world.ts";

const UNMATCHED = { kind: MovementKind.AMENDMENT, amount: { minorUnits: 0n }, key: "", reason: "unmatched_deal" };

test.concurrent("a trader's deals and a dealer's deposit are in the log in the order of the history, and the sum is the balance", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance, "master");
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 1_000_00n }]);
  await service.transfer(mirror, aCall());
  const { position } = await world.control.open(login, "0.10");
  await world.control.balance(login, "3.00", "dealer deposit");
  const closed = await world.control.close(position);
  await service.transfer(aTransfer("mirror:2", [{ login, kind: MovementKind.MIRROR, minor: 1_00n }]), aCall());

  const entries = await logOf(instance, login, 5);

  expect(entries.map(({ kind }) => kind)).toEqual([
    MovementKind.MIRROR,
    MovementKind.TRADE,
    MovementKind.EXTERNAL,
    MovementKind.TRADE,
    MovementKind.MIRROR,
  ]);
  expect(entries[1]!.trade).toMatchObject({
    action: 0,
    entry: 0,
    positionId: BigInt(position),
    symbol: "EURUSD",
    volume: 10_000_000n,
  });
  expect(entries[3]).toMatchObject({ dealId: BigInt(closed.deal), trade: { entry: 1, volumeClosed: 10_000_000n } });
  const deals = await world.control.deals(login);
  expect(entries.map(({ dealId }) => dealId)).toEqual(deals.map(({ deal }) => BigInt(deal)));
  // The server's wall clock differs from UTC by hours; the published time is in UTC.
  expect(Math.abs(entries[3]!.dealAt!.getTime() - Date.now())).toBeLessThan(60_000);
  const facts = await service.readAccount({ login }, aCall());
  expect(facts).toMatchObject({ complete: true, logNumber: 5n, positions: [] });
  expect(facts.balance).toEqual(facts.logBalance);
});

test.concurrent("two processes that read the same history log each deal once", async (context) => {
  const world = await aWorld(context);
  const one = await world.start();
  const two = await world.start();
  const login = await anAccount(one, "master");
  for (let index = 0; index < 5; index += 1) await world.control.result(login, `${index}.10`);

  const readings = [one, two, one, two].map(({ service }) => service.readAccount({ login }, aCall()));

  // The four readings wait for each other's lock, and one that waits too long is refused.
  for (const reading of await Promise.allSettled(readings)) {
    if (reading.status === "rejected") expect(reading.reason).toMatchObject({ code: "busy" });
  }
  const entries = await logOf(one, login, 10);
  expect(entries.map(({ number }) => number)).toEqual(Array.from({ length: 10 }, (_, index) => BigInt(index + 1)));
  expect(new Set(entries.map(({ dealId }) => dealId)).size).toBe(10);
});

test.concurrent("a deal of the same amount during a lost answer stays undecided until the outcome is known", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 60_000 });
  const { service } = instance;
  const login = await anAccount(instance, "master");
  await world.control.fault({ command: "trade/balance", effect: "late_apply", delay_ms: 600_000 });
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 5_00n }]);
  expect((await service.transfer(mirror, aCall(3_000))).state).toBe(TransferState.UNKNOWN);

  await world.control.balance(login, "5.00", "dealer deposit");
  await world.control.result(login, "1.00");
  await new Promise((resolve) => setTimeout(resolve, 800));
  expect(await service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall())).toMatchObject({ entries: [] });
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: false });

  await world.control.endFaults();
  const entries = await logOf(instance, login, 4);
  expect(entries.map(({ kind, amount }) => [kind, amount?.minorUnits])).toEqual([
    [MovementKind.EXTERNAL, 5_00n],
    [MovementKind.TRADE, 0n],
    [MovementKind.TRADE, 1_00n],
    [MovementKind.MIRROR, 5_00n],
  ]);
});

test.concurrent("a deal with an unknown reference is logged and sent to manual review", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance);
  const unknown = { kind: "reversal", number: legNumber(77n), attempt: 1 } as const;
  await world.control.balance(login, "8.00", platformComment(unknown, "from a lost database"));

  const entries = await logOf(instance, login, 2);

  expect(entries).toMatchObject([
    { kind: MovementKind.EXTERNAL, amount: { minorUnits: 8_00n } },
    { ...UNMATCHED, dealId: entries[0]!.dealId },
  ]);
  expect(await many(instance.deps.pool, sql`select login, reason, deal_id, evidence from finding`)).toMatchObject([
    {
      login,
      reason: "unknown_reference",
      deal_id: entries[0]!.dealId,
      evidence: { amount_minor: "800", reference: { kind: "reversal", number: "77", attempt: 1 } },
    },
  ]);
});

test.concurrent("a second deal of one leg is logged as external and does not change the answered result", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance);
  const request = aDeposit(login, 8_00n);
  const first = await service.transfer(request, aCall());
  const [deal] = await world.control.deals(login);
  await world.control.balance(login, "8.00", deal!.comment);

  const entries = await logOf(instance, login, 3);

  expect(entries.map(({ kind }) => kind)).toEqual([MovementKind.DEPOSIT, MovementKind.EXTERNAL, UNMATCHED.kind]);
  expect(entries[2]).toMatchObject(UNMATCHED);
  expect(await service.transfer(request, aCall())).toEqual(first);
  expect(await findingsOf(instance, login)).toEqual(["unmatched_deal"]);
});

test.concurrent("a deal that appears after its absence was recorded is external, and its leg is sent to manual review", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const { service, deps } = instance;
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect: "retcode:8" });
  const refused = aDeposit(login, 8_00n);
  const first = await service.transfer(refused, aCall());
  expect(first.state).toBe(TransferState.REFUSED);
  await world.control.balance(login, "8.00", `${first.legs[0]!.reference} late`);

  const entries = await logOf(instance, login, 2);

  expect(entries).toMatchObject([{ kind: MovementKind.EXTERNAL, key: "" }, UNMATCHED]);
  expect(await findingsOf(instance, login)).toEqual(["unmatched_deal", "deal_after_refusal"]);
  expect(await many(deps.pool, sql`select state, came_from, review from leg`)).toEqual([
    { state: "REVIEW", came_from: "REFUSED", review: "deal_after_refusal" },
  ]);
  expect(await service.transfer(refused, aCall())).toEqual(first);
  // No leg is in progress any more, so the login is free.
  expect((await service.transfer(aDeposit(login, 1_00n), aCall())).state).toBe(TransferState.APPLIED);
});

test.concurrent("deals made while the service was down are read after its restart", async (context) => {
  const world = await aWorld(context);
  const first = await world.start();
  const login = await anAccount(first, "master");
  await eventually(
    () => many(first.deps.pool, sql`select read_to from reader_cursor`),
    (cursor) => cursor.length > 0,
  );
  await first[Symbol.asyncDispose]();
  await world.control.result(login, "2.00");
  await execute(world.database.pool, sql`update reader_cursor set read_to = read_to - interval '2 days'`);

  const second = await world.start();

  expect(await logOf(second, login, 2)).toMatchObject([
    { amount: { minorUnits: 0n } },
    { amount: { minorUnits: 2_00n } },
  ]);
});

test.concurrent("a login whose deals cannot be logged does not block other logins and is read again from the same position", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const failing = await anAccount(instance, "master");
  const healthy = await anAccount(instance, "master");
  const { pool, admin } = world.database;
  await admin.query(`
    create function fail_insert() returns trigger language plpgsql as $$
    begin if new.login = '${failing}' then raise exception 'planted'; end if; return new; end $$;
    create trigger fail_insert before insert on log_entry for each row execute function fail_insert()`);
  await world.control.result(failing, "1.00");
  await eventually(
    () => many<{ since: Date | null }>(pool, sql`select undecided_from as since from account where login = ${failing}`),
    ([account]) => account?.since instanceof Date,
  );
  await world.control.result(healthy, "2.00");
  expect(await logOf(instance, healthy, 2)).toHaveLength(2);
  expect(await instance.service.readAccount({ login: failing }, aCall())).toMatchObject({ complete: false });

  await admin.query("drop trigger fail_insert on log_entry");

  expect((await logOf(instance, failing, 2)).map(({ amount }) => amount?.minorUnits)).toEqual([0n, 1_00n]);
  expect(await instance.service.readAccount({ login: failing }, aCall())).toMatchObject({ complete: true });
});

test.concurrent("an account that differs from its log is read again between two legs of this service, never during one", async (context) => {
  const world = await aWorld(context);
  // No job takes the fault.
  const instance = await world.start({ hasJobs: false });
  const { service } = instance;
  const login = await anAccount(instance, "master");
  const mirror = (index: number) =>
    service.transfer(aTransfer(`mirror:${index}`, [{ login, kind: MovementKind.MIRROR, minor: 1n }]), aCall());
  await mirror(1);
  await world.control.fault({ command: "user/get_batch", effect: "delay", delay_ms: 600_000 });

  const reading = readBetweenLegs(instance.deps, login);
  // A read delays the permits for one second, which on a slow machine is over before the next leg asks.
  await eventually(
    () =>
      many(
        instance.deps.pool,
        sql`update account set reading_until = clock_timestamp() + interval '1 minute'
          where reading_until > clock_timestamp() returning login`,
      ),
    ({ length }) => length === 1,
  );
  const next = mirror(2);
  await world.control.endFaults();

  expect(await reading).toMatchObject({ isComplete: true, log: { number: 1n }, balanceMinor: 1n });
  expect((await next).state).toBe(TransferState.APPLIED);
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: true, logNumber: 2n });
});

test.concurrent("a crashed reader does not block permits", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance);
  await execute(
    instance.deps.pool,
    sql`update account set reading_until = clock_timestamp() + interval '1 second', reading_token = 'ended process'`,
  );

  expect((await instance.service.transfer(aDeposit(login, 1_00n), aCall())).state).toBe(TransferState.APPLIED);
});

test.concurrent("an undecided deal stays undecided however often its login is read, and no later deal is logged before it", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 60_000 });
  const login = await anAccount(instance, "master");
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });
  await world.control.fault({ command: "trade/balance", effect: "cut_comment" });
  const lost = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 7_00n }]);
  await instance.service.transfer(lost, aCall(3_000));

  for (let reading = 0; reading < 3; reading += 1) await readLogin(instance.deps, login);
  expect((await findAccount(instance.deps.pool, login))?.undecidedFrom).toBeInstanceOf(Date);
  await world.control.result(login, "1.00");
  for (let reading = 0; reading < 3; reading += 1) await readLogin(instance.deps, login);

  const { entries } = await instance.service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall());
  expect(entries).toEqual([]);
});

test.concurrent("a deal with the reference of another login's leg is logged as external and reported as unmatched", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const [login, master] = [await anAccount(instance), await anAccount(instance, "master")];
  const deposit = await instance.service.transfer(aDeposit(login, 8_00n), aCall());
  await world.control.balance(master, "8.00", deposit.legs[0]!.reference);

  const entries = await logOf(instance, master, 2);

  expect(entries).toMatchObject([{ kind: MovementKind.EXTERNAL, amount: { minorUnits: 8_00n } }, UNMATCHED]);
  expect(await findingsOf(instance, master)).toEqual(["misplaced_reference"]);
  expect(await findingsOf(instance, login)).toEqual([]);
});
