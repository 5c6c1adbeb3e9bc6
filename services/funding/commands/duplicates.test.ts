import { expect, test } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import type { DepositRequest } from "#proto/pamm/funding/v1/funding.ts";
import { aCall, INVESTOR, usd, world, type World } from "../testing/funding.ts";
import { deposit } from "./deposit.ts";

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

test("a duplicate of a finished deposit is executed and returns the deal of the first one, and a repetition gets the same answer", async () => {
  const deps = await world();
  const first = await deposit(deps, aDeposit(), aCall("op-1"));
  const second = await deposit(deps, aDeposit(), aCall("op-2"));

  expect([first.possibleDuplicateOf, second.possibleDuplicateOf]).toEqual([undefined, first.dealId]);
  expect(deps.platform.deals).toHaveLength(2);
  expect(await deposit(deps, aDeposit(), aCall("op-2"))).toEqual(second);
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
