import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { type ListOperationsRequest, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { deposit } from "../commands/deposit.ts";
import { withdraw } from "../commands/withdraw.ts";
import { saveFollowings } from "../store/investor-facts.ts";
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
    sql`insert into cashflow (operation_id, action, login, amount_minor, comment, state, deal_id, deadline, created_at,
                              finished_at, next_try_at, is_imported)
        values ('op-3', 'withdraw', '1', 1, '', 'POSTED', 77, now(), now(), now(), now(), true)`,
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
