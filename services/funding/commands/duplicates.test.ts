import { expect, test } from "vitest";
import { DAY_MS } from "#kernel/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { DepositRequest } from "#proto/pamm/funding/v1/funding.ts";
import { aCall, INVESTOR, usd, world, type World } from "../testing/funding.ts";
import { deposit } from "./deposit.ts";
import { withdraw } from "./withdraw.ts";

const CLIENT = { keyId: "KeyOfTheCrm1", choseComment: true, rejectsDuplicates: false };
const STRICT = { ...CLIENT, rejectsDuplicates: true };

function aDeposit(overrides: Partial<DepositRequest> = {}): DepositRequest {
  return {
    login: INVESTOR,
    amount: usd(100_00n),
    comment: "CRM-1",
    client: CLIENT,
    idempotencyKey: undefined,
    ...overrides,
  };
}

/** Leaves a deposit with an unknown outcome. */
async function leaveUnresolved(deps: World, request = aDeposit()): Promise<void> {
  deps.platform.faults.transfer.push("unknown");
  await expect(deposit(deps, request, aCall("op-1"))).rejects.toMatchObject({ code: "outcome_unknown" });
}

async function recorded({ pool }: World): Promise<string[]> {
  const rows = await many<{ operation_id: string }>(pool, sql`select operation_id from cashflow order by id`);
  return rows.map(({ operation_id }) => operation_id);
}

test("a deposit with another comment, amount, client or external id, a default comment or no API key is no duplicate", async () => {
  const deps = await world();
  await leaveUnresolved(deps);
  const differences: readonly Partial<DepositRequest>[] = [
    { comment: "CRM-2" },
    { amount: usd(100_01n) },
    { client: { ...CLIENT, keyId: "KeyOfTheCrm2" } },
    { client: { ...CLIENT, choseComment: false } },
    { labels: { externalId: "A", metadata: {} } },
    { client: undefined, idempotencyKey: undefined },
  ];
  for (const [index, difference] of differences.entries()) {
    const answer = await deposit(deps, aDeposit(difference), aCall(`other-${index}`));
    expect([difference, answer.possibleDuplicateOf]).toEqual([difference, undefined]);
  }
});

test("a deposit with the same external id is a duplicate also with a default comment, and one with another is none", async () => {
  const deps = await world();
  const labelled = (externalId: string) =>
    aDeposit({ client: { ...STRICT, choseComment: false }, labels: { externalId, metadata: { try: "1" } } });
  await leaveUnresolved(deps, labelled("A"));

  await expect(deposit(deps, labelled("A"), aCall("op-2"))).rejects.toMatchObject({
    code: "operation_in_progress",
    operationId: "op-1",
  });
  expect(await deposit(deps, labelled("B"), aCall("op-3"))).toMatchObject({ possibleDuplicateOf: undefined });
  await expect(deposit(deps, labelled("B"), aCall("op-4"))).rejects.toMatchObject({ code: "possible_duplicate" });
});

test("of concurrent duplicates exactly one is executed, and the others are refused with its operation id", async () => {
  const deps = await world();
  const answers = await Promise.allSettled(
    ["op-1", "op-2", "op-3", "op-4"].map((id) => deposit(deps, aDeposit({ client: STRICT }), aCall(id))),
  );

  const executed = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.operationId] : []));
  const refusals = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  expect(executed).toHaveLength(1);
  expect(deps.platform.deals).toHaveLength(1);
  for (const refusal of refusals) {
    expect(refusal).toMatchObject({
      code: expect.stringMatching(/operation_in_progress|possible_duplicate/),
      operationId: executed[0],
    });
  }
});

test("a duplicate of a finished deposit is executed and returns the deal of the first one, and a repetition gets the same answer", async () => {
  const deps = await world();
  const first = await deposit(deps, aDeposit(), aCall("op-1"));
  const second = await deposit(deps, aDeposit(), aCall("op-2"));

  expect([first.possibleDuplicateOf, second.possibleDuplicateOf]).toEqual([undefined, first.dealId]);
  expect(deps.platform.deals).toHaveLength(2);
  expect(await deposit(deps, aDeposit(), aCall("op-2"))).toEqual(second);
});

test("duplicates of an API key that rejects them are refused with the deal and the operation", async () => {
  const deps = await world();
  const { dealId } = await deposit(deps, aDeposit({ client: STRICT }), aCall("op-1"));

  await expect(deposit(deps, aDeposit({ client: STRICT }), aCall("op-2"))).rejects.toMatchObject({
    code: "possible_duplicate",
    outcome: "not_executed",
    operationId: "op-1",
    details: { deal_id: String(dealId) },
  });
  expect(await recorded(deps)).toEqual(["op-1"]);
  expect(await deposit(deps, aDeposit({ client: STRICT }), aCall("op-1"))).toMatchObject({ dealId });
});

test("an equal deposit after a day, or after one that was not executed, is no duplicate", async () => {
  const deps = await world();
  deps.platform.faults.transfer.push("insufficient_funds");
  await expect(deposit(deps, aDeposit(), aCall("op-1"))).rejects.toMatchObject({ code: "insufficient_funds" });
  expect(await deposit(deps, aDeposit(), aCall("op-2"))).toMatchObject({ possibleDuplicateOf: undefined });

  const tomorrow = { ...deps, now: () => new Date(Date.now() + DAY_MS + 1_000) };
  const call = { ...aCall("op-3"), deadline: new Date(Date.now() + DAY_MS + 10_000) };
  expect(await deposit(tomorrow, aDeposit(), call)).toMatchObject({ possibleDuplicateOf: undefined });
});
