import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { DecidedFee, RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import { getRun } from "../queries/runs.ts";
import { addPrepaid } from "../store/debts.ts";
import { insertMaster } from "../store/masters.ts";
import { decideWeeks } from "../testing/deciding.ts";
import { aCall, INVESTOR, MASTER, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { collectOf } from "../testing/leaving.ts";
import {
  anInvestor,
  aWeek,
  aWorld,
  debtsOf,
  expectToReconcile,
  owe,
  passTime,
  paymentsOf,
  runsOf,
  settle,
  type World,
} from "../testing/world.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { anExplanation } from "../testing/an-explanation.ts";
import { recordFees } from "./record-fees.ts";

const CUT_OFF = new Date("2026-01-10T00:00:00Z");
const WEEK_START = new Date("2026-01-03T00:00:00Z");
const AT = new Date("2026-01-12T00:00:00Z");
const OWED_SINCE = new Date("2026-01-03T00:00:00Z");

/** Two Masters, and Investors with money. */
async function aSystem(...logins: string[]): Promise<World> {
  const world = await aWorld();
  for (const login of [INVESTOR, ...logins]) await anInvestor(world, { login, deposit: "1000.00" });
  await insertMaster(world.deps.pool, MASTER, PAYMENT_ACCOUNT);
  await insertMaster(world.deps.pool, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT);
  return world;
}

function aFee(amountMinor: bigint, parts: Partial<DecidedFee> = {}): DecidedFee {
  const { masterLogin = MASTER, suffix = "WD1", kind = "PF" } = parts;
  const key = `fee:${INVESTOR}:${masterLogin}:${suffix}`;
  return { key, kind, suffix, masterLogin, amountMinor, since: AT, explanation: undefined, ...parts };
}

/** A debt of 30.00, as `owe` makes it. */
function aDebt(occasion: string, masterLogin = OTHER_MASTER, amountMinor = 30_00n): DecidedFee {
  const key = `fee:${INVESTOR}:${masterLogin}:DEBT:${occasion}`;
  return aFee(amountMinor, { key, kind: "PF_DEBT", suffix: "DEBT", masterLogin, since: OWED_SINCE });
}

function aWithdrawal(due: DecidedFee[], parts: Partial<RecordFeesRequest> & { weekly?: string[] } = {}) {
  const { weekly: openWeeklyKeys = [], ...rest } = parts;
  return {
    masterLogin: MASTER,
    key: "withdrawal:1",
    periodStart: CUT_OFF,
    periodEnd: AT,
    isLast: true,
    investors: [{ investorLogin: INVESTOR, due, openWeeklyKeys }],
    ...rest,
  };
}

/** A page of the week, with a fee for each of these Investors. */
function aPage(fees: Readonly<Record<string, bigint>>, isLast: boolean): RecordFeesRequest {
  const week = { masterLogin: MASTER, key: "", periodStart: WEEK_START, periodEnd: CUT_OFF };
  const investors = Object.entries(fees).map(([investorLogin, amount]) => {
    const key = `fee:${investorLogin}:${MASTER}:W:${CUT_OFF.toISOString()}`;
    return { investorLogin, openWeeklyKeys: [], due: [aFee(amount, { key, suffix: "W", since: CUT_OFF })] };
  });
  return { ...week, isLast, investors };
}

const record = ({ deps }: World, request: RecordFeesRequest) => recordFees(deps, request, aCall());

async function itemsOf(world: World, request: RecordFeesRequest): Promise<[key: string, minor: bigint | undefined][]> {
  return (await record(world, request)).items.map(({ key, amount }) => [key, amount?.minorUnits]);
}

/** All rows that a decision writes. */
async function rowsOf({ deps }: World): Promise<unknown[]> {
  const tables = ["fee_run", "fee_payment"];
  return await Promise.all(
    tables.map(async (table) => (await deps.pool.query(`select * from ${table} order by 1, 2`)).rows),
  );
}

test("a withdrawal is a run of its own, and a repeated decision changes nothing and gets the same answer", async () => {
  const world = await aSystem();
  const charged = [{ amount: 200_00n, from: WEEK_START }];
  const explanation = anExplanation({ at: AT, earned: 200_00n, charged });
  const request = aWithdrawal([aFee(60_00n, { explanation })]);
  const answer = await record(world, request);
  expect(answer).toEqual({
    items: [{ key: "fee:9001:5001:WD1", amount: { currencyCode: "USD", minorUnits: 60_00n }, isWeekly: false }],
    endedKeys: [],
    transfers: [
      {
        key: "fee:9001:5001:WD1",
        lockOwner: "",
        legs: [
          { login: INVESTOR, kind: MovementKind.FEE_DEBIT, amount: { currencyCode: "USD", minorUnits: -60_00n } },
          {
            login: PAYMENT_ACCOUNT,
            kind: MovementKind.FEE_CREDIT,
            amount: { currencyCode: "USD", minorUnits: 60_00n },
          },
        ],
        upTo: { floor: { currencyCode: "USD", minorUnits: 0n }, filedNumber: undefined },
        enqueue: false,
        comment: "",
        sendBefore: undefined,
        releaseLock: false,
      },
    ],
    stopped: false,
  });
  expect(await getRun(world.deps, { runId: 1n })).toMatchObject({
    kind: "ON_DEMAND",
    masterLogin: MASTER,
    status: "SCHEDULED",
    periodStart: CUT_OFF,
    periodEnd: AT,
    openCount: 1,
  });
  const before = await rowsOf(world);
  expect(await record(world, request)).toEqual(answer);
  expect(await rowsOf(world)).toEqual(before);
  expect(await collectOf(world, request)).toBe("60.00");
  expect(await record(world, request)).toEqual({ ...answer, transfers: [] });
  const stored = await many(world.deps.pool, sql`select explanation, investor_id as id from fee_payment`);
  expect(stored).toEqual([{ explanation: JSON.parse(JSON.stringify(explanation)), id: 9001n }]);
});

test("a decision without a period, or of a repeated instant, has a run of a millisecond", async () => {
  const world = await aSystem();
  await record(world, aWithdrawal([], { periodStart: undefined }));
  await record(world, aWithdrawal([], { key: "other", periodStart: AT }));
  const start = new Date(AT.getTime() - 1);
  expect(await runsOf(world)).toMatchObject([
    { start, end: AT },
    { start, end: AT },
  ]);
});

test("of two decisions about one debt the second leaves it out, and its fee is recorded", async () => {
  const world = await aSystem();
  await owe(world.deps.pool, INVESTOR, OTHER_MASTER);
  const [first, second] = ["a", "b"].map((key) =>
    aWithdrawal([aDebt(key), aFee(5_00n, { suffix: `WD${key}` })], { key }),
  ) as [RecordFeesRequest, RecordFeesRequest];
  const answers = await Promise.all([itemsOf(world, first), itemsOf(world, second)]);

  expect(answers.map((items) => items.length).toSorted()).toEqual([1, 2]);
  expect(answers.flat().filter(([key]) => key.includes(":DEBT:"))).toHaveLength(1);
  expect(await debtsOf(world)).toEqual({});
  // The debt is owed again, as after a payment that was refused: what was left out stays so.
  await owe(world.deps.pool, INVESTOR, OTHER_MASTER);
  expect(await Promise.all([itemsOf(world, first), itemsOf(world, second)])).toEqual(answers);
  expect(await debtsOf(world)).toEqual({ "9001:5002": "30.00" });
});

test("a debt that has grown since it was decided is left out, and the decision is known without any payment", async () => {
  const world = await aSystem();
  await owe(world.deps.pool, INVESTOR, OTHER_MASTER);
  await owe(world.deps.pool, INVESTOR, OTHER_MASTER);
  const request = aWithdrawal([aDebt("x")]);
  expect(await itemsOf(world, request)).toEqual([]);
  expect(await debtsOf(world)).toEqual({ "9001:5002": "60.00" });
  expect(await collectOf(world, request)).toBe("0.00");
  expect((await runsOf(world)).at(-1)).toMatchObject({ kind: "ON_DEMAND", status: "EXECUTED" });
});

test("debts go to the accounts of their Masters, in the sequence of the decision, also outside a pool", async () => {
  const world = await aSystem();
  await owe(world.deps.pool, INVESTOR, OTHER_MASTER);
  await owe(world.deps.pool, INVESTOR, MASTER);
  const outside = { masterLogin: OTHER_MASTER };
  const request = aWithdrawal([aDebt("x"), aDebt("x", MASTER)], outside);
  const keys = await itemsOf(world, request);
  expect(keys.map(([key]) => key)).toEqual(["fee:9001:5002:DEBT:x", "fee:9001:5001:DEBT:x"]);
  expect(await collectOf(world, request)).toBe("60.00");
  expect(
    await many(
      world.deps.pool,
      sql`select payment_account_login as account, kind, amount_minor as paid from fee_payment where kind = 'PF_DEBT' order by id`,
    ),
  ).toEqual([
    { account: OTHER_PAYMENT_ACCOUNT, kind: "PF_DEBT", paid: 30_00n },
    { account: PAYMENT_ACCOUNT, kind: "PF_DEBT", paid: 30_00n },
  ]);
});

test("what imported fees have paid is taken once, and what is left is collected", async () => {
  const world = await aSystem();
  const { pool } = world.deps;
  await inTransaction(pool, (tx) =>
    addPrepaid(tx, { investorLogin: INVESTOR, masterLogin: MASTER, amountMinor: 70_00n }),
  );
  const request = aWithdrawal([aDebt("x", MASTER), aFee(60_00n)]);
  await owe(pool, INVESTOR, MASTER);
  expect(await itemsOf(world, request)).toEqual([["fee:9001:5001:WD1", 20_00n]]);
  expect(await itemsOf(world, request)).toEqual([["fee:9001:5001:WD1", 20_00n]]);
  const prepaid = sql`select prepaid_minor as minor from fee_prepaid`;
  expect(await many(pool, prepaid)).toEqual([{ minor: 0n }]);
  expect(await collectOf(world, request)).toBe("20.00");
});

test("open weekly fees come first, and those that were debited since the decision are left out", async () => {
  const world = await aSystem();
  for (const master of [MASTER, OTHER_MASTER]) {
    aWeek(world, { [INVESTOR]: "+100.00" }, master);
  }
  await decideWeeks(world);
  const weekly = ["fee:9001:5001:W:2026-01-10T00:00:00.000Z", "fee:9001:5002:W:2026-01-17T00:00:00.000Z"];
  await payFees(world.deps);
  expect(await paymentsOf(world)).toMatchObject([{ status: "EXECUTED" }, { status: "PENDING" }]);
  const request = aWithdrawal([aFee(1_00n)], { weekly });
  const items = [
    [weekly[1], 30_00n],
    ["fee:9001:5001:WD1", 1_00n],
  ];
  expect(await itemsOf(world, request)).toEqual(items);
  await passTime(world);
  await settle(world);
  expect(await itemsOf(world, request)).toEqual(items);
  expect(await collectOf(world, request)).toBe("31.00");
});

test("weekly fees that have ended without a debit since the decision are named, and nothing is collected for them", async () => {
  const world = await aSystem();
  aWeek(world, { [INVESTOR]: "+100.00" }, MASTER);
  await decideWeeks(world);
  const weekly = ["fee:9001:5001:W:2026-01-10T00:00:00.000Z"];
  await world.deps.pool.query("update fee_payment set status = 'DEFERRED'");
  const request = aWithdrawal([aFee(1_00n)], { weekly });
  const answer = { endedKeys: weekly, items: [{ key: "fee:9001:5001:WD1" }] };
  expect(await record(world, request)).toMatchObject(answer);
  expect(await record(world, request)).toMatchObject(answer);
});

test("all pages of a week have one run, which is decided with the last one", async () => {
  const world = await aSystem("9002", "9003");
  await record(world, aPage({}, false));
  expect(await runsOf(world)).toEqual([]);
  await record(world, aPage({ 9001: 1_00n, 9002: 2_00n }, false));
  expect(await getRun(world.deps, { runId: 1n })).toMatchObject({
    isDecided: false,
    status: "CALCULATING",
    openCount: 2,
  });
  await payFees(world.deps);
  await record(world, aPage({ 9003: 3_00n }, false));
  expect(await getRun(world.deps, { runId: 1n })).toMatchObject({ isDecided: false, openCount: 1, executedCount: 2 });
  await record(world, aPage({}, true));
  expect(await getRun(world.deps, { runId: 1n })).toMatchObject({ isDecided: true, status: "EXECUTING" });
  await settle(world);
  const ended = { isDecided: true, status: "EXECUTED", payments: 3n, executedCount: 3, openCount: 0 };
  expect(await getRun(world.deps, { runId: 1n })).toMatchObject(ended);

  const before = await rowsOf(world);
  for (const page of [aPage({}, true), aPage({ 9001: 1_00n, 9002: 2_00n }, false), aPage({ 9003: 3_00n }, false)]) {
    expect(await record(world, page)).toEqual({ items: [], endedKeys: [], transfers: [], stopped: false });
  }
  expect(await rowsOf(world)).toEqual(before);
  await expectToReconcile(world);
});

test("pages that come together, of which one is recorded, add what is new", async () => {
  const world = await aSystem("9002");
  await record(world, aPage({ 9001: 1_00n }, false));
  await record(world, aPage({ 9001: 1_00n, 9002: 2_00n }, true));
  expect(await paymentsOf(world)).toMatchObject([
    { investor: "9001", due: "1.00" },
    { investor: "9002", due: "2.00" },
  ]);
  expect(await getRun(world.deps, { runId: 1n })).toMatchObject({ isDecided: true, openCount: 2 });
});

test("a week without any fee has no run, and one page that is the last has a scheduled one", async () => {
  const world = await aSystem();
  await record(world, aPage({}, true));
  expect(await runsOf(world)).toEqual([]);
  await record(world, aPage({ 9001: 1_00n }, true));
  await record(world, aPage({ 9001: 1_00n }, true));
  expect(await runsOf(world)).toMatchObject([{ kind: "WEEKLY", status: "SCHEDULED" }]);
});

test("of concurrent pages of one week each is recorded once", async () => {
  const world = await aSystem("9002", "9003");
  const pages = [aPage({ 9001: 1_00n }, false), aPage({ 9002: 2_00n }, false), aPage({ 9003: 3_00n }, true)];
  await Promise.all([...pages, ...pages].map((page) => record(world, page)));
  expect(await runsOf(world)).toHaveLength(1);
  expect((await paymentsOf(world)).map(({ investor }) => investor).toSorted()).toEqual(["9001", "9002", "9003"]);
  expect(await getRun(world.deps, { runId: 1n })).toMatchObject({ isDecided: true, openCount: 3 });
});

test("the account of a Master without fees so far is read from the directory, once", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  const asked: string[] = [];
  const { accounts } = world.deps;
  const findMaster: typeof accounts.findMaster = async (request, context) => {
    asked.push(request.login);
    return await accounts.findMaster(request, context);
  };
  const deps = { ...world.deps, accounts: { ...accounts, findMaster } };
  await recordFees(deps, aWithdrawal([aFee(1_00n)]), aCall());
  await recordFees(deps, aWithdrawal([aFee(1_00n, { suffix: "WD2" })], { key: "other" }), aCall());
  expect(asked).toEqual([MASTER]);
  expect(await many(world.deps.pool, sql`select login, master_login as master from payment_account`)).toEqual([
    { login: PAYMENT_ACCOUNT, master: MASTER },
  ]);
});

test("an incomplete decision is refused, and a key that was used for another Investor fails", async () => {
  const world = await aSystem("9002");
  const invalid = { code: "validation_failed" };
  await expect(record(world, aWithdrawal([], { periodEnd: undefined }))).rejects.toMatchObject(invalid);
  await expect(record(world, aWithdrawal([], { investors: [] }))).rejects.toMatchObject(invalid);
  await expect(record(world, aWithdrawal([aFee(1n, { kind: "TAX" })]))).rejects.toMatchObject(invalid);
  await expect(record(world, { ...aPage({}, true), masterLogin: "" })).rejects.toMatchObject(invalid);
  await record(world, aWithdrawal([aFee(1n)]));
  const other = [{ investorLogin: "9002", due: [], openWeeklyKeys: [] }];
  await expect(record(world, aWithdrawal([], { investors: other }))).rejects.toThrow("another Investor");
});
