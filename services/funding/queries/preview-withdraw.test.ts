import { expect, test } from "vitest";
import { refusalToProto } from "#kernel/contract/error.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { PreviewWithdrawalRequest } from "#proto/pamm/subscription/v1/subscription.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { deposit } from "../commands/deposit.ts";
import { withdraw } from "../commands/withdraw.ts";
import { aCall, aRefusal, INVESTOR, repeatsLost, usd, world, type World } from "../testing/funding.ts";
import { previewWithdraw } from "./preview-withdraw.ts";

const CLIENT = { keyId: "KeyOfTheCrm1", choseComment: true, rejectsDuplicates: true };
const FORTY = { login: INVESTOR, amount: usd(40_00n), comment: "CRM-2", client: CLIENT };
const FIGURES = {
  balanceBefore: usd(100_00n),
  pendingFee: usd(10_00n),
  availableAfterFee: usd(90_00n),
  effective: usd(40_00n),
};

type Asked = World & { readonly asked: PreviewWithdrawalRequest[] };

/** A world in which the pool refuses with these codes. */
async function aPool(...codes: readonly string[]): Promise<Asked> {
  const platform = platformFake({ balances: { [INVESTOR]: 100_00n } });
  const deps = await world({ platform, masterMinimum: 0n });
  const asked: PreviewWithdrawalRequest[] = [];
  const refusals = codes.map((code) => refusalToProto(code === "lost" ? repeatsLost(7n) : aRefusal(code)));
  const previewWithdrawal = async (request: PreviewWithdrawalRequest) => {
    asked.push(request);
    return { refusals, inPool: true, figures: FIGURES };
  };
  return { ...deps, asked, subscriptions: { ...deps.subscriptions, previewWithdrawal } };
}

test("a preview returns the figures of the pool, and records nothing", async () => {
  const deps = await aPool();

  expect(await previewWithdraw(deps, FORTY, aCall(""))).toEqual({
    refusals: [],
    openPositionsChecked: true,
    figures: {
      effectiveWithdraw: usd(40_00n),
      pendingFee: usd(10_00n),
      balanceBefore: usd(100_00n),
      availableAfterFee: usd(90_00n),
    },
    possibleDuplicateOf: undefined,
  });
  expect(deps.asked).toEqual([{ investorLogin: INVESTOR, requested: usd(40_00n), comment: "CRM-2" }]);
  expect(await many(deps.pool, sql`select id from cashflow`)).toEqual([]);
  expect([deps.subscriptions.asked, deps.platform.deals]).toEqual([[], []]);
});

test("reasons of duplicates come before those of the account lock and the pool, in the words of the command", async () => {
  const deps = await aPool("account_busy", "lost", "platform_unavailable", "master_open_positions", "investor_deficit");
  await withdraw(deps, { ...FORTY, idempotencyKey: undefined }, aCall("op-1"));
  deps.platform.faults.transfer.push("unknown");
  const open = { ...FORTY, comment: "CRM-3", idempotencyKey: undefined };
  await expect(deposit(deps, open, aCall("op-2"))).rejects.toMatchObject({ code: "outcome_unknown" });

  const { refusals, possibleDuplicateOf } = await previewWithdraw(deps, FORTY, aCall(""));

  expect(refusals.map(({ code, operationId }) => [code, operationId])).toEqual([
    ["possible_duplicate", "op-1"],
    ["account_busy", "op-2"],
    ["possible_duplicate", ""],
    ["platform_unavailable", ""],
    ["master_open_positions", ""],
    ["investor_deficit", ""],
  ]);
  expect(possibleDuplicateOf).toBe(900_002n);
  await expect(withdraw(deps, { ...FORTY, idempotencyKey: undefined }, aCall("op-3"))).rejects.toMatchObject({
    code: "possible_duplicate",
  });
});

test("an identical withdrawal that is open is reported with its id", async () => {
  const deps = await aPool();
  deps.platform.faults.transfer.push("unknown");
  await expect(withdraw(deps, { ...FORTY, idempotencyKey: undefined }, aCall("op-1"))).rejects.toMatchObject({
    code: "outcome_unknown",
  });

  const { refusals } = await previewWithdraw(deps, FORTY, aCall(""));

  expect(refusals).toMatchObject([{ code: "operation_in_progress", operationId: "op-1" }]);
  const other = { ...FORTY, client: { ...CLIENT, choseComment: false } };
  expect((await previewWithdraw(deps, other, aCall(""))).refusals).toEqual([]);
});

test("an invalid request is refused with all its errors, and an unknown Investor as by the command", async () => {
  const deps = await aPool();
  const invalid = { ...FORTY, amount: usd(0n), comment: "x".repeat(256) };
  await expect(previewWithdraw(deps, invalid, aCall(""))).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "amount" }, { field: "comment" }],
  });
  await expect(previewWithdraw(deps, { ...FORTY, login: "77" }, aCall(""))).rejects.toMatchObject({
    code: "investor_not_found",
  });
});
