import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { IdempotencyKey } from "#proto/pamm/common/v1/idempotency_key.ts";
import type { DepositRequest } from "#proto/pamm/funding/v1/funding.ts";
import { getOperation, operationReads } from "../queries/operations.ts";
import { aCall, INVESTOR, usd, world, type World } from "../testing/funding.ts";
import { deposit } from "./deposit.ts";
import { withdraw } from "./withdraw.ts";

const KEPT_MS = 30 * DAY_MS;
const OTHER_INVESTOR = "9002";

function aKey(overrides: Partial<IdempotencyKey> = {}): IdempotencyKey {
  const hash = createHash("sha256").update("key-1").digest();
  return { clientId: "KeyOfTheCrm1", hash, keptSince: new Date(Date.now() - KEPT_MS), ...overrides };
}

function aDeposit(overrides: Partial<DepositRequest> = {}): DepositRequest {
  const client = { keyId: "KeyOfTheCrm1", choseComment: false, rejectsDuplicates: false };
  return { login: INVESTOR, amount: usd(100_00n), comment: "bank", client, idempotencyKey: aKey(), ...overrides };
}

const find = (deps: World, operationId: string) => getOperation(deps, operationReads(deps), { operationId });
const operationsOf = ({ pool }: World) =>
  many(pool, sql`select operation_id as id, state, key_follows as follows from cashflow order by id`);

/** Leaves a deposit with an unknown outcome, whose caller may still wait until the deadline. */
async function withOpenDeposit(): Promise<World> {
  const deps = await world();
  deps.platform.faults.transfer.push("unknown");
  await deposit(deps, aDeposit(), aCall("op-1")).catch(() => {});
  return deps;
}

test("a deposit under the key of an executed one is answered with its result, under each id that it was requested with", async () => {
  const deps = await world();
  const first = await deposit(deps, aDeposit(), aCall("op-1"));

  expect(await deposit(deps, aDeposit(), aCall("op-2"))).toEqual(first);
  expect(await deposit(deps, aDeposit({ idempotencyKey: undefined }), aCall("op-2"))).toEqual(first);
  expect(first.operationId).toBe("op-1");
  expect(deps.platform.deals).toHaveLength(1);
  expect(await operationsOf(deps)).toEqual([{ id: "op-1", state: "POSTED", follows: 0n }]);
  expect(await find(deps, "op-2")).toEqual(await find(deps, "op-1"));
});

test("a withdrawal under the key of an executed one is answered with its result", async () => {
  const deps = await world();
  await deposit(deps, aDeposit({ idempotencyKey: undefined }), aCall("op-0"));
  const request = { ...aDeposit(), amount: usd(40_00n) };
  const first = await withdraw(deps, request, aCall("op-1"));

  expect(await withdraw(deps, request, aCall("op-2"))).toEqual(first);
  expect(deps.platform.deals).toHaveLength(2);
});

test("another request under the key of an executed one is refused, and the same key of another client, or another key, is executed", async () => {
  const deps = await world();
  const labels = { externalId: "A", metadata: { segment: "retail" } };
  const first = await deposit(deps, aDeposit({ labels }), aCall("op-1"));
  expect(await deposit(deps, aDeposit({ labels }), aCall("op-2"))).toEqual(first);
  const refused = { code: "idempotency_key_reused", outcome: "unknown", operationId: "op-1" };
  const others: readonly Partial<DepositRequest>[] = [
    { labels, amount: usd(100_01n) },
    { labels, comment: "other" },
    { labels, login: OTHER_INVESTOR },
    { labels: undefined },
    { labels: { ...labels, externalId: "B" } },
    { labels: { ...labels, metadata: {} } },
  ];
  for (const other of others) {
    await expect(deposit(deps, aDeposit(other), aCall("op-3"))).rejects.toMatchObject(refused);
  }
  await expect(withdraw(deps, aDeposit({ labels }), aCall("op-3"))).rejects.toMatchObject(refused);
  await expect(find(deps, "op-3")).rejects.toMatchObject({ code: "operation_not_found" });
  expect(deps.platform.deals).toHaveLength(1);

  const hash = createHash("sha256").update("key-2").digest();
  for (const [index, other] of [{ clientId: "KeyOfTheCrm2" }, { hash }].entries()) {
    await deposit(deps, aDeposit({ labels, idempotencyKey: aKey(other) }), aCall(`other-${index}`));
  }
  expect(deps.platform.deals).toHaveLength(3);
});

test("while the first caller may still wait, a request under its key is refused with the first operation, which its id stands for", async () => {
  const deps = await withOpenDeposit();

  await expect(deposit(deps, aDeposit(), aCall("op-2"))).rejects.toMatchObject({
    code: "operation_in_progress",
    outcome: "unknown",
    operationId: "op-1",
  });
  expect(await find(deps, "op-2")).toMatchObject({ operationId: "op-1" });
  expect(await operationsOf(deps)).toHaveLength(1);
});

test("after the deadline of the first caller a request under its key continues the first operation", async () => {
  const deps = await withOpenDeposit();
  await deps.pool.query("update cashflow set deadline = now() - interval '1 second', doubt = null");
  deps.platform.faults.transfer.length = 0;

  await deposit(deps, aDeposit(), aCall("op-2")).catch(() => {});

  expect(await operationsOf(deps)).toHaveLength(1);
  expect(deps.platform.deals.length).toBeLessThanOrEqual(1);
});

test("of twenty requests under one key at the same time one is executed", async () => {
  const deps = await world();
  const requests = Array.from({ length: 20 }, (_, index) => deposit(deps, aDeposit(), aCall(`op-${index}`)));
  const answers = await Promise.allSettled(requests);

  const executed = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.dealId] : []));
  const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason.code] : []));
  expect(new Set(executed).size).toBe(1);
  expect(refused.filter((code) => code !== "operation_in_progress")).toEqual([]);
  expect(deps.platform.deals).toHaveLength(1);
});

test("a key whose operation was refused is free for a new one", async () => {
  const deps = await world();
  deps.platform.faults.transfer.push("insufficient_funds");
  await expect(deposit(deps, aDeposit(), aCall("op-1"))).rejects.toMatchObject({ code: "insufficient_funds" });
  const second = await deposit(deps, aDeposit({ amount: usd(7_00n) }), aCall("op-2"));

  expect(second.operationId).toBe("op-2");
  expect(await operationsOf(deps)).toMatchObject([{ follows: 0n }, { follows: expect.any(BigInt), state: "POSTED" }]);
});

test("a key is free when its operation ended before the age that the edge keeps keys, and then belongs to the next one", async () => {
  const deps = await world();
  await deposit(deps, aDeposit(), aCall("op-1"));
  const kept = aDeposit({ idempotencyKey: aKey({ keptSince: new Date(Date.now() - 60_000) }) });
  expect(await deposit(deps, kept, aCall("op-2"))).toMatchObject({ operationId: "op-1" });

  const forgotten = aDeposit({ idempotencyKey: aKey({ keptSince: new Date(Date.now() + 1_000) }) });
  const next = await deposit(deps, forgotten, aCall("op-3"));
  expect(next.operationId).toBe("op-3");
  expect(await deposit(deps, kept, aCall("op-4"))).toEqual(next);
  expect(deps.platform.deals).toHaveLength(2);
});
