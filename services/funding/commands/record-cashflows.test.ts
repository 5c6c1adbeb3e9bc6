import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import { cashflowQueues } from "../cashflow-queues.ts";
import { notSent } from "../domain/transfer-outcome.ts";
import { markPosted, markRefused } from "../store/cashflow-transitions.ts";
import { addInvestor, addMaster } from "../store/investor-facts.ts";
import { insertCashflows } from "../store/new-cashflows.ts";
import type { NewCashflow } from "../domain/cashflow.ts";
import { type Recorded, recordCashflows } from "./record-cashflows.ts";

const SOON = new Date(Date.now() + 10_000);
const LENIENT = { clientId: "KeyOfTheCrm1", rejectsDuplicates: false };
const STRICT = { clientId: "KeyOfTheCrm2", rejectsDuplicates: true };

function aDraft(operationId: string, own: Partial<NewCashflow> = {}): NewCashflow {
  const rest = { amount: 100_00n, comment: "CRM-1", duplicates: undefined, clientKey: undefined };
  const asked = { masterMinimum: undefined };
  return { operationId, action: "deposit", login: "9001", deadline: SOON, at: new Date(), asked, ...rest, ...own };
}

/** A deposit of an Investor that was never funded, before the owners of the facts were asked. */
function firstDeposit(operationId: string): NewCashflow {
  const { asked: _facts, ...draft } = aDraft(operationId, { login: "9002" });
  return draft;
}

async function setUp() {
  const { pool } = await testDatabase("funding");
  await addMaster(pool, "5001", 500_00n);
  await addInvestor(pool, { login: "9001", masterLogin: undefined });
  await addInvestor(pool, { login: "9002", masterLogin: "5001" });
  const record = (...drafts: readonly NewCashflow[]) => recordCashflows(pool, drafts);
  /** Records and executes an operation. */
  const execute = async (draft: NewCashflow, dealId: bigint | undefined) => {
    const [recorded] = (await record(draft)) as [Recorded];
    await markPosted(pool, [{ id: recorded.cashflow.id, dealId, at: new Date() }]);
  };
  const rows = () =>
    many(pool, sql`select operation_id as id, state, possible_duplicate_of as of from cashflow order by operation_id`);
  return { pool, record, execute, rows };
}

test("each operation of a batch gets its own result, and a refused one leaves no row", async () => {
  const { record, execute, rows } = await setUp();
  await execute(aDraft("known"), 700n);
  await execute(aDraft("before", { duplicates: LENIENT }), 701n);
  await execute(aDraft("earlier", { duplicates: STRICT }), 702n);
  await record(aDraft("open", { duplicates: LENIENT, comment: "CRM-2" }));

  const results = await record(
    aDraft("fresh"),
    aDraft("known"),
    aDraft("small", { login: "9002", asked: { masterMinimum: 500_00n } }),
    firstDeposit("unknown"),
    aDraft("marked", { duplicates: LENIENT }),
    aDraft("rejected", { duplicates: STRICT, action: "deposit" }),
    aDraft("blocked", { duplicates: LENIENT, comment: "CRM-2" }),
    aDraft("taken out", { action: "withdraw" }),
  );

  expect(results).toMatchObject([
    { isNew: true, cashflow: { operationId: "fresh", state: "RECORDED", possibleDuplicateOf: undefined } },
    { isNew: false, cashflow: { operationId: "known", state: "POSTED", dealId: 700n } },
    {
      isNew: true,
      cashflow: { operationId: "small", firstDepositChecked: true, minDeposit: 500_00n },
    },
    "unknown_investor",
    { isNew: true, cashflow: { operationId: "marked", possibleDuplicateOf: 701n } },
    {
      code: "possible_duplicate",
      outcome: "not_executed",
      operationId: "earlier",
      details: { deal_id: "702" },
    },
    { code: "operation_in_progress", outcome: "not_executed", operationId: "open" },
    { isNew: true, cashflow: { operationId: "taken out", minDeposit: undefined } },
  ]);
  expect(await rows()).toEqual([
    { id: "before", state: "POSTED", of: null },
    { id: "earlier", state: "POSTED", of: null },
    { id: "fresh", state: "RECORDED", of: null },
    { id: "known", state: "POSTED", of: null },
    { id: "marked", state: "RECORDED", of: 701n },
    { id: "open", state: "RECORDED", of: null },
    { id: "small", state: "RECORDED", of: null },
    { id: "taken out", state: "RECORDED", of: null },
  ]);
});

test("of two equal operations in one batch the first is recorded and refuses the second", async () => {
  const { record, rows } = await setUp();

  const results = await record(aDraft("a", { duplicates: STRICT }), aDraft("b", { duplicates: STRICT }));

  expect(results).toMatchObject([{ isNew: true }, { code: "operation_in_progress", operationId: "a" }]);
  expect(await rows()).toHaveLength(1);
});

test("each equal operation follows the last one that moved money", async () => {
  const { pool, record, execute, rows } = await setUp();
  const draft = (id: string) => aDraft(id, { action: "withdraw", duplicates: LENIENT });
  await execute(draft("a"), 701n);
  await execute(draft("pays nothing"), undefined);
  const [refused] = (await record(draft("refused"))) as [Recorded];
  const refusal = notSent("The operation could not begin in time.");
  await markRefused(pool, refused.cashflow.id, { refusal, at: new Date() });
  await execute(draft("b"), 702n);
  await record(draft("c"));

  expect(await rows()).toMatchObject([
    { id: "a", of: null },
    { id: "b", of: 701n },
    { id: "c", of: 702n },
    { id: "pays nothing", of: 701n },
    { id: "refused", of: 701n },
  ]);
});

test("an equal operation that was executed while a request waited for another one is found", async () => {
  const { pool, record, execute } = await setUp();

  const { results } = await inTransaction(pool, async (tx) => {
    await insertCashflows(tx, [aDraft("a")]);
    const recording = record(aDraft("a"), aDraft("b", { duplicates: STRICT }));
    await expect.poll(() => countLockWaiters(pool), { interval: 5 }).toBe(1);
    await execute(aDraft("c", { duplicates: STRICT }), 701n);
    return { results: recording };
  });

  expect(await results).toMatchObject([{ isNew: false }, { code: "possible_duplicate", operationId: "c" }]);
});

test("requests that equal those of another batch in another sequence do not lock each other out", async () => {
  const { pool, record } = await setUp();
  const draft = (id: string, comment: string) => aDraft(id, { duplicates: LENIENT, comment });

  const { batches } = await inTransaction(pool, async (tx) => {
    await insertCashflows(tx, [draft("b", "CRM-3"), draft("e", "CRM-4")]);
    const crossed = [
      record(draft("a", "CRM-1"), draft("b", "CRM-3"), draft("c", "CRM-2")),
      record(draft("d", "CRM-2"), draft("e", "CRM-4"), draft("f", "CRM-1")),
    ];
    await expect.poll(() => countLockWaiters(pool), { interval: 5 }).toBe(2);
    return { batches: Promise.all(crossed) };
  });

  const refused = (await batches).flat().filter((result) => result instanceof Error);
  expect(refused).toMatchObject([{ code: "operation_in_progress" }, { code: "operation_in_progress" }]);
});

test("an operation that is recorded is not reported as failed when the next statement fails", async () => {
  const { pool, record } = await setUp();
  await record(aDraft("known"));
  const lost = new Error("connection lost");
  vi.spyOn(pool, "query").mockRejectedValueOnce(lost);

  expect(await record(aDraft("fresh"), aDraft("known"))).toMatchObject([{ isNew: true }, lost]);
});

test("operations that are requested at the same time share a commit", async () => {
  const { pool } = await setUp();
  const { recording } = cashflowQueues(pool);

  const attempts = await Promise.all(Array.from({ length: 20 }, (_, index) => recording.add(aDraft(`op-${index}`))));

  expect(attempts.every(({ result }) => typeof result === "object" && result.isNew)).toBe(true);
  expect(await many(pool, sql`select count(distinct xmin::text) as commits, count(*) as rows from cashflow`)).toEqual([
    { commits: 1n, rows: 20n },
  ]);
});
