import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { type ListOperationsRequest, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { deposit } from "../commands/deposit.ts";
import { withdraw } from "../commands/withdraw.ts";
import { saveFollowings } from "../store/investor-facts.ts";
import { type LedgerFilter, listOperations as readOperations } from "../store/ledger.ts";
import { aCall, INVESTOR, MASTER, usd, world } from "../testing/funding.ts";
import { getOperation, listOperations, operationReads } from "./operations.ts";

const REQUEST = { login: INVESTOR, amount: usd(100_00n), client: undefined, idempotencyKey: undefined };
const ALL = { login: "", outcome: OperationOutcome.UNSPECIFIED, beforeId: "", limit: 10 };

test("an operation keeps the Master that the Investor followed when it was recorded", async () => {
  const platform = platformFake({ balances: { [INVESTOR]: 500_00n } });
  const deps = await world({ platform, masterMinimum: 1n });
  // The first deposit asks for the facts; later operations know them from the feeds.
  await deposit(deps, { ...REQUEST, comment: "1" }, aCall("op-1"));
  await withdraw(deps, { ...REQUEST, comment: "2" }, aCall("op-2"));
  await inTransaction(deps.pool, (tx) => saveFollowings(tx, [{ login: INVESTOR, masterLogin: undefined }]));
  await deposit(deps, { ...REQUEST, comment: "3" }, aCall("op-3"));
  const ofMaster = async (masterLogin: string) => {
    const { items } = await listOperations(deps, { ...ALL, masterLogin });
    return items.map((item) => [item.operationId, item.masterLogin]);
  };

  expect(await ofMaster(MASTER)).toEqual([
    ["op-2", MASTER],
    ["op-1", MASTER],
  ]);
  expect(await ofMaster("77")).toEqual([]);
  const last = await getOperation(deps, operationReads(deps), { operationId: "op-3" });
  expect(last.masterLogin).toBeUndefined();
});

test("operations are found by the external id of their client, and show their labels", async () => {
  const platform = platformFake({ balances: { [INVESTOR]: 500_00n } });
  const deps = await world({ platform });
  const labels = { externalId: "CRM-7", metadata: { segment: "retail" } };
  await deposit(deps, { ...REQUEST, comment: "1", labels }, aCall("op-1"));
  await deposit(deps, { ...REQUEST, comment: "2" }, aCall("op-2"));
  await withdraw(deps, { ...REQUEST, comment: "3", labels }, aCall("op-3"));

  const found = await listOperations(deps, { ...ALL, externalId: "CRM-7" });
  expect(found.items.map((item) => [item.operationId, item.labels])).toEqual([
    ["op-3", labels],
    ["op-1", labels],
  ]);
  expect((await listOperations(deps, { ...ALL, externalId: "crm-7" })).items).toEqual([]);
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, ""]));
  const wrong = { ...REQUEST, comment: "x".repeat(256), labels: { externalId: "", metadata: many } };
  await expect(deposit(deps, wrong, aCall("op-4"))).rejects.toMatchObject({
    errors: [{ field: "comment" }, { field: "external_id" }, { field: "metadata" }],
  });
});

test("operations are found by the keys of their transfers and fees, together with other filters", async () => {
  const platform = platformFake({ balances: { [INVESTOR]: 500_00n } });
  const deps = await world({ platform });
  await deposit(deps, { ...REQUEST, comment: "1" }, aCall("op-1"));
  await withdraw(deps, { ...REQUEST, comment: "2" }, aCall("op-2"));
  await execute(
    deps.pool,
    sql`insert into cashflow (operation_id, action, login, amount_minor, currency, comment, state, deal_id, deadline, created_at,
                              finished_at, next_try_at, is_imported)
        values ('op-3', 'withdraw', '1', 1, 'USD', '', 'POSTED', 77, now(), now(), now(), now(), true)`,
  );
  const find = async (anyOf: string[], filter: Partial<ListOperationsRequest> = {}) => {
    const { items } = await listOperations(deps, { ...ALL, keys: { anyOf }, ...filter });
    return items.map(({ operationId }) => operationId);
  };

  expect(await find(["funding:deposit:op-1"])).toEqual(["op-1"]);
  expect(await find(["withdrawal:op-2"])).toEqual(["op-2"]);
  expect(await find(["withdrawal:op-2", "funding:deposit:op-1", "exit:1:1"])).toEqual(["op-2", "op-1"]);
  expect(await find(["imported:77", "imported:78", "imported:fee:0123456789"])).toEqual(["op-3"]);
  expect(await find(["funding:deposit:op-1"], { login: INVESTOR, comment: "1" })).toEqual(["op-1"]);
  expect(await find(["funding:deposit:op-1"], { comment: "2" })).toEqual([]);
  expect(await find(["funding:deposit:op-9", "exit:1:1"])).toEqual([]);
  expect(await find([])).toEqual([]);
});

const ROWS = 6_000;

/** Ids ascend. One in 500 is a withdrawal, one in ten is of Master 77, and all are of one Investor. */
async function insertMany(pool: Pool): Promise<void> {
  await execute(
    pool,
    sql`insert into cashflow (operation_id, action, login, amount_minor, currency, comment, state, deal_id, deadline, created_at,
                              finished_at, next_try_at, first_deposit_checked, min_deposit_minor, master_login)
        select lpad(n::text, 12, '0'), case when n % 500 = 0 then 'withdraw' else 'deposit' end, '1', 1, 'USD', 'c', 'POSTED', n, now(),
               now(), now(), now(), case when n % 500 > 0 then false end, case when n % 500 > 0 then 0 end,
               case when n % 10 = 0 then '77' end
        from generate_series(1, ${ROWS}::int) as n`,
  );
}

test("a page of operations costs the same at the end as at the start, under each filter", async () => {
  const { pool } = await world();
  await insertMany(pool);
  await asOwner(pool, "funding", "analyze cashflow");
  const filter: LedgerFilter = {
    login: "",
    comment: undefined,
    outcome: undefined,
    action: undefined,
    masterLogin: undefined,
    fromId: undefined,
    externalId: undefined,
    beforeId: "",
    limit: 6,
  };
  const idOf = (number: number) => String(number).padStart(12, "0");
  const cost = (part: Partial<LedgerFilter>) =>
    inTransaction(pool, (tx) =>
      rowsRead(tx, ["cashflow"], async () => {
        expect(await readOperations(tx, { ...filter, ...part }, new Date())).toHaveLength(6);
      }),
    );

  for (const part of [
    {},
    { action: "deposit" },
    { action: "withdraw" },
    { masterLogin: "77" },
    { masterLogin: "77", fromId: idOf(10) },
    { login: "1", masterLogin: "77" },
  ] as const) {
    expect(await cost(part)).toBeLessThan(100);
    expect(await cost({ ...part, beforeId: idOf(3_100) })).toBeLessThan(100);
  }
  for (const first of [1, ROWS - 5]) {
    const named = [0, 1, 2, 3, 4, 5].map((number) => ({ operationId: idOf(first + number) }));
    expect(await cost({ named })).toBe(12);
  }
});
