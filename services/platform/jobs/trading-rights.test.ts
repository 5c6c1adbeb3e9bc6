import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { insertChecks } from "#kernel/reconcile/store.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { TestLifetime } from "#test/support/database.ts";
import { tradingRights as tradingRightsCheck } from "../checks/trading-rights.ts";
import { tradingUseFake } from "../testing/requesters.ts";
import { aDeposit, moneyOf } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually, type Instance, type World } from "../testing/world.ts";
import { giveTradingBack, takeTradingAgain } from "./trading-rights.ts";

/** Enabled and all that is usual; the same without trading. */
const TRADES = 0x163;
const TRADES_NOT = 0x167;

type Use = { pooled: string[]; joining: string[]; inUse: string[]; becoming: string[] };

async function aSystem(lifetime: TestLifetime, { takesTrading = true } = {}) {
  const world = await aWorld(lifetime);
  const instance = await world.start({ hasJobs: false, settings: { takesTrading } });
  const use: Use = { pooled: [], joining: [], inUse: [], becoming: [] };
  const deps = { ...instance.deps, tradingUse: tradingUseFake(use) };
  return {
    world,
    instance,
    use,
    rightsOf: async (login: string) => (await world.control.account(login)).rights,
    /** One run of both jobs. */
    run: async () => {
      await takeTradingAgain(deps);
      await giveTradingBack(deps);
    },
    check: () => tradingRightsCheck(deps).run({ cursor: "", pendingBreaks: [] }),
    deps,
  };
}

/** An Investor that was registered, and could trade before. */
async function anInvestor({ control }: World, { service }: Instance, balance = "100.00"): Promise<string> {
  const login = await control.addAccount({ group: "pamm\\investor", name: "Trader", balance });
  await service.adoptAccount({ login, role: AccountRole.INVESTOR }, aCall());
  return login;
}

let owners = 0;

function assignHold(login: string, minBalance = 50_00n) {
  owners += 1;
  const lockOwner = `subscription:assign:${owners}:1`;
  return { login, lockOwner, takeTrading: { minBalance: moneyOf(minBalance) } };
}

/** Everything that waits is due. */
async function passTime({ deps: { pool } }: Instance): Promise<void> {
  await execute(
    pool,
    sql`update taken_right
        set taken_at = taken_at - interval '2 hours', next_try_at = next_try_at - interval '2 hours',
            returning_until = returning_until - interval '2 hours'`,
  );
}

const endLocks = ({ deps: { pool } }: Instance) =>
  execute(pool, sql`update account set locked_by = null, lock_number = null, lock_granted_at = null`);

const taken = ({ deps: { pool } }: Instance) =>
  many(pool, sql`select login, tries, returning_until is not null as "isReturning", reason from taken_right`);

test.concurrent("an Investor that could trade gets its right back when it is in no pool, and keeps its other rights", async (context) => {
  const { world, instance, use, rightsOf, run } = await aSystem(context);
  const login = await anInvestor(world, instance);
  await world.control.setRights(login, TRADES | 0x8000);
  const before = (await world.control.stats()).calls;
  const hold = assignHold(login);
  use.joining.push(login);

  expect(await instance.service.hold(hold, aCall())).toMatchObject({ openPositions: 0 });

  const { calls } = await world.control.stats();
  const more = (command: string) => (calls[command] ?? 0) - (before[command] ?? 0);
  // One reading of the record, one change, and the reading that every lock has.
  expect([more("user/get"), more("user/update"), more("user/get_batch"), more("position/get_batch")]).toEqual([
    1, 1, 1, 1,
  ]);
  expect(await rightsOf(login)).toBe(TRADES_NOT | 0x8000);
  await expect(world.control.open(login, "0.01")).rejects.toThrow("trade_disabled");
  // A repetition of the command, of the whole assignment, or of one to another Master never records the taken right as the former one.
  await instance.service.hold(hold, aCall());
  await instance.service.release(hold, aCall());
  const other = assignHold(login);
  await instance.service.hold(other, aCall());
  await instance.service.release(other, aCall());
  use.joining.pop();
  use.pooled.push(login);
  await passTime(instance);
  await run();
  expect([await rightsOf(login), await taken(instance)]).toEqual([
    TRADES_NOT | 0x8000,
    [expect.objectContaining({ login })],
  ]);

  use.pooled.pop();
  // After a restore the other services may not know its subscription.
  instance.deps.gate.note("stopped");
  await run();
  expect(await rightsOf(login)).toBe(TRADES_NOT | 0x8000);
  instance.deps.gate.note("open");
  await run();
  expect([await rightsOf(login), await taken(instance)]).toEqual([TRADES | 0x8000, []]);
});

test.concurrent("a created Investor and a payment account never could trade, and nothing is sent for them until a dealer gives the right", async (context) => {
  const { world, instance, run, rightsOf } = await aSystem(context);
  const [login, payment, master] = [
    await anAccount(instance),
    await anAccount(instance, "payment"),
    await anAccount(instance, "master"),
  ];
  await instance.service.transfer(aDeposit(login, 100_00n), aCall());
  await world.control.noFaults();
  const before = (await world.control.stats()).calls;
  await instance.service.hold(assignHold(login), aCall());
  const { calls } = await world.control.stats();
  expect([calls["user/update"], calls["user/get"]]).toEqual([before["user/update"], before["user/get"]]);
  await run();
  expect([await rightsOf(login), await rightsOf(payment), await rightsOf(master)]).toEqual([
    TRADES_NOT,
    TRADES_NOT,
    TRADES,
  ]);
  expect(await taken(instance)).toEqual([]);

  await world.control.setRights(login, TRADES);
  await endLocks(instance);
  await instance.service.hold(assignHold(login), aCall());
  expect([await rightsOf(login), await taken(instance)]).toEqual([TRADES_NOT, [expect.objectContaining({ login })]]);
});

test.concurrent("an Investor whose assignment will be refused keeps its right", async (context) => {
  const { world, instance, rightsOf } = await aSystem(context);
  const [poor, trading] = [await anInvestor(world, instance, "49.99"), await anInvestor(world, instance)];
  await world.control.open(trading, "0.01");
  await instance.service.readAccount({ login: trading }, aCall());
  await instance.service.hold(assignHold(poor), aCall());
  expect(await instance.service.hold(assignHold(trading), aCall())).toMatchObject({ openPositions: 1 });
  expect([await rightsOf(poor), await rightsOf(trading), await taken(instance)]).toEqual([TRADES, TRADES, []]);
});

test.concurrent("without the setting no right is changed", async (context) => {
  const { world, instance, rightsOf, check } = await aSystem(context, { takesTrading: false });
  const [login, payment] = [await anInvestor(world, instance), await anAccount(instance, "payment")];
  await instance.service.hold(assignHold(login), aCall());
  expect([await rightsOf(login), await rightsOf(payment), (await check()).findings]).toEqual([TRADES, TRADES, []]);
});

test.concurrent("a manager that may not change accounts is named as the reason, and nothing is owed", async (context) => {
  const { world, instance, run, rightsOf } = await aSystem(context);
  const login = await anInvestor(world, instance);
  await world.control.fault({ command: "user/update", effect: "retcode:8", times: 1 });
  await expect(instance.service.hold(assignHold(login), aCall())).rejects.toMatchObject({
    code: "platform_rejected",
    message: `The trading platform refused to disable trading on account ${login} with code 8. The manager lacks the right to edit accounts.`,
  });
  await passTime(instance);
  await run();
  expect([await rightsOf(login), await taken(instance)]).toEqual([TRADES, []]);
});

test.concurrent("a right whose taking was answered by nothing is given back, or found taken by a repetition", async (context) => {
  const { world, instance, run, rightsOf } = await aSystem(context);
  const [login, again] = [await anInvestor(world, instance), await anInvestor(world, instance)];
  for (const each of [login, again]) {
    await world.control.fault({ command: "user/update", effect: "drop_after", times: 1 });
    await expect(instance.service.hold(assignHold(each), aCall())).rejects.toMatchObject({
      code: "platform_unavailable",
    });
    expect(await rightsOf(each)).toBe(TRADES_NOT);
  }
  await endLocks(instance);
  await instance.service.hold(assignHold(again), aCall());
  await passTime(instance);
  await run();
  expect([await rightsOf(login), await rightsOf(again), await taken(instance)]).toEqual([TRADES, TRADES, []]);
});

test.concurrent("a right is not given back while an assignment may need it, nor is it taken while it is being given back", async (context) => {
  const { world, instance, run, rightsOf, use } = await aSystem(context);
  const login = await anInvestor(world, instance);
  await instance.service.hold(assignHold(login), aCall());
  use.joining.push(login);
  await run();
  expect(await rightsOf(login)).toBe(TRADES_NOT);
  use.joining.pop();
  await endLocks(instance);
  await passTime(instance);
  // The platform executes the command after its connection is closed: until then no caller can assign the account.
  await world.control.fault({ command: "user/update", effect: "late_apply", times: 1, delay_ms: 600_000 });
  await run();
  expect([await rightsOf(login), await taken(instance)]).toEqual([
    TRADES_NOT,
    [{ login, tries: 1, isReturning: true, reason: expect.any(String) }],
  ]);
  await expect(instance.service.hold(assignHold(login), aCall(2_500))).rejects.toMatchObject({ code: "account_busy" });
  await world.control.endFaults();
  await eventually(
    () => rightsOf(login),
    (rights) => rights === TRADES,
  );
  await passTime(instance);
  await instance.service.hold(assignHold(login), aCall());
  expect(await rightsOf(login)).toBe(TRADES_NOT);
  use.pooled.push(login);
  await run();
  expect(await rightsOf(login)).toBe(TRADES_NOT);
});

test.concurrent("the right of an account that the platform does not show waits with growing pauses, and is given back when it returns", async (context) => {
  const { world, instance, run, rightsOf } = await aSystem(context);
  const login = await anInvestor(world, instance);
  await instance.service.hold(assignHold(login), aCall());
  await passTime(instance);
  await world.control.fault({ command: "user/get", effect: "retcode:13", times: 1 });
  await run();
  const waiting = { login, tries: 1, isReturning: false, reason: "the trading platform does not show the account" };
  expect(await taken(instance)).toEqual([waiting]);
  await run();
  expect(await taken(instance)).toEqual([waiting]);
  await passTime(instance);
  await run();
  expect([await rightsOf(login), await taken(instance)]).toEqual([TRADES, []]);
});

test.concurrent("a right that cannot be given back is a break with its reason after some tries", async (context) => {
  const { world, instance, run, rightsOf, check } = await aSystem(context);
  const login = await anInvestor(world, instance);
  await instance.service.hold(assignHold(login), aCall());
  await world.control.fault({ command: "user/update", effect: "retcode:8", times: 10 });
  for (let tries = 0; tries < 10; tries += 1) {
    expect((await check()).findings).toEqual([]);
    await passTime(instance);
    await run();
  }
  const reason = "the trading platform refused with code 8";
  expect((await check()).findings).toMatchObject([
    { key: `returned:${login}`, login, message: `Account ${login} was not given its right to trade back: ${reason}.` },
  ]);
  await passTime(instance);
  await run();
  expect([await rightsOf(login), (await check()).findings]).toEqual([TRADES, []]);
});

test.concurrent("an erased Investor is not given its right back", async (context) => {
  const { world, instance, run, rightsOf } = await aSystem(context);
  const login = await anInvestor(world, instance);
  await instance.service.hold(assignHold(login), aCall());
  await instance.service.eraseAccount({ login }, aCall());
  await passTime(instance);
  await run();
  expect([await rightsOf(login), await taken(instance)]).toEqual([TRADES_NOT & ~1, []]);
});

test.concurrent("a payment account is registered without positions only, may not trade, and gets its right back when another one takes its place", async (context) => {
  const { world, instance, use, run, rightsOf } = await aSystem(context);
  const login = await world.control.addAccount({ group: "pamm\\payment", name: "Pay", balance: "500.00" });
  const { position } = await world.control.open(login, "0.01");
  const adopt = () => instance.service.adoptAccount({ login, role: AccountRole.PAYMENT }, aCall());
  await expect(adopt()).rejects.toMatchObject({
    code: "payment_account_has_open_positions",
    outcome: "not_executed",
    details: { open_positions: "1" },
  });
  expect([await rightsOf(login), await taken(instance)]).toEqual([TRADES, []]);
  await world.control.close(position);

  // A crash before the registration, which account records within its first minute: no Master uses the account.
  await adopt();
  await run();
  expect(await rightsOf(login)).toBe(TRADES_NOT);
  await passTime(instance);
  await run();
  expect([await rightsOf(login), await taken(instance)]).toEqual([TRADES, []]);

  await adopt();
  use.becoming.push(login);
  await passTime(instance);
  await run();
  use.inUse.push(login);
  use.becoming.pop();
  await run();
  expect(await rightsOf(login)).toBe(TRADES_NOT);
  use.inUse.pop();
  // A repeated registration keeps the right for as long as account may not have recorded it.
  await adopt();
  await run();
  expect(await rightsOf(login)).toBe(TRADES_NOT);
  await passTime(instance);
  await run();
  expect([await rightsOf(login), await taken(instance)]).toEqual([TRADES, []]);
});

test.concurrent("accounts that must not trade and may are a break each until the job has taken their right, and no other account is", async (context) => {
  const { world, instance, use, run, rightsOf, deps } = await aSystem(context);
  const [pooled, joining, outside] = [
    await anInvestor(world, instance),
    await anInvestor(world, instance),
    await anInvestor(world, instance),
  ];
  const payment = await anAccount(instance, "payment");
  await world.control.setRights(payment, TRADES);
  use.pooled.push(pooled);
  use.joining.push(joining);
  use.inUse.push(payment);
  const check = tradingRightsCheck(deps);
  await insertChecks(deps.pool, [check]);
  const open = async () => {
    await runCheck(deps, check, undefined);
    const { items } = await listBreaks(deps.pool, { afterId: 0n, limit: 10, withoutChecks: true });
    return items.map(({ login, message }) => [login, message]);
  };
  expect(await open()).toEqual([
    [payment, `Account ${payment} is a payment account, and may trade: its rights are 0x163.`],
    [pooled, `Account ${pooled} is an Investor in a pool, and may trade: its rights are 0x163.`],
  ]);
  await world.control.fault({ command: "user/update", effect: "retcode:8", times: 1 });
  await run();
  expect(await open()).toHaveLength(1);
  await run();
  expect(await open()).toEqual([]);
  const rights = await Promise.all([pooled, payment, joining, outside].map(rightsOf));
  expect(rights).toEqual([TRADES_NOT, TRADES_NOT, TRADES, TRADES]);
  // What it was given back is what was found when it was taken.
  use.pooled.pop();
  await passTime(instance);
  await run();
  expect(await rightsOf(pooled)).toBe(TRADES);
});
