import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { AccountReader } from "../reader/account-reader.ts";
import { onlyReader } from "../testing/reader-role.ts";
import { CONFIRM_AFTER_MS } from "./deleted-deals.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { logOf } from "../testing/log-of.ts";
import { openReviews } from "../testing/reviews.ts";
import { aCall, anAccount, aProcess, aProcessWith } from "../testing/world.ts";

const AMENDMENT = { kind: MovementKind.AMENDMENT, amount: { minorUnits: 0n }, key: "", trade: undefined };

test.concurrent("an edited result is reported once, with its old and its new values", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context);
  const { deal } = await world.control.result(login, "5.00");
  await logOf(instance, login, 2);
  await world.control.editDeal(deal, { profit: "6.00" });

  const entries = await logOf(instance, login, 3);
  await world.control.editDeal(deal, { comment: "explained" });
  await new Promise((resolve) => setTimeout(resolve, 1_000));

  expect(entries[2]).toMatchObject({ ...AMENDMENT, number: 3n, dealId: BigInt(deal), reason: "deal_changed" });
  expect(await logOf(instance, login, 3)).toHaveLength(3);
  const [review] = await openReviews(instance);
  expect(review).toMatchObject({ reason: "history_changed", login, dealId: BigInt(deal) });
  expect(JSON.parse(review!.evidence)).toMatchObject({
    deals: [{ booked: expect.stringMatching(/^5\.00 /), shown: expect.stringMatching(/^6\.00 /) }],
  });
  // The log keeps the recorded amount; as on a real server the balance does not follow the edit.
  expect(await instance.service.readAccount({ login }, aCall())).toMatchObject({ logBalance: { minorUnits: 5_00n } });
});

test.concurrent("a cancelled trade is reported, also when it was not recorded before", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context);
  const known = await world.control.result(login, "5.00");
  await logOf(instance, login, 2);
  await world.control.cancelDeal(known.deal);

  const entries = await logOf(instance, login, 3);

  expect(entries[2]).toMatchObject({ ...AMENDMENT, dealId: BigInt(known.deal), reason: "deal_cancelled" });
  await instance[Symbol.asyncDispose]();
  const unseen = await world.control.result(login, "7.00");
  await world.control.cancelDeal(unseen.deal);
  const again = await world.start();
  const later = await logOf(again, login, 5);
  expect(later.slice(3)).toMatchObject([
    { kind: MovementKind.TRADE, amount: { minorUnits: 0n } },
    { ...AMENDMENT, dealId: BigInt(unseen.deal), reason: "deal_cancelled" },
  ]);
  expect(await openReviews(again)).toMatchObject([{ reason: "history_changed", login }]);
});

test.concurrent("when a server loses its last deals and reuses their tickets, both logins have a reported amendment", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const one = await anAccount(instance, "master");
  const two = await anAccount(instance, "master");
  const { deal } = await world.control.result(one, "5.00");
  const reader = new AccountReader(instance.deps, onlyReader);
  const read = () => reader.read({ backMs: HOUR_MS, findsDeleted: true });
  await read();
  await world.control.restart(60_000);
  const again = await world.control.result(two, "7.00");
  expect(again.deal).toBe(deal);

  await read();
  await pause(CONFIRM_AFTER_MS);
  await read();
  const lost = await logOf(instance, one, 4);
  const reused = await logOf(instance, two, 2);

  expect(lost.slice(2).map(({ reason }) => reason)).toEqual(["deal_gone", "deal_gone"]);
  expect(reused.map(({ reason, dealId }) => [reason, dealId])).toEqual([
    ["deal_changed", BigInt(deal) - 1n],
    ["deal_changed", BigInt(deal)],
  ]);
  expect(await instance.service.readAccount({ login: two }, aCall())).toMatchObject({ complete: false });
});
