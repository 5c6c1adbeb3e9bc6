import { expect, test } from "vitest";
import { HOUR_MS } from "#kernel/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { AccountReader } from "../reader/account-reader.ts";
import { onlyReader } from "../testing/reader-role.ts";
import { CONFIRM_AFTER_MS } from "./deleted-deals.ts";
import { findingsOf, logOf, summaryOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, aWorld } from "../testing/world.ts";

const AMENDMENT = { kind: MovementKind.AMENDMENT, amount: { minorUnits: 0n }, key: "", trade: undefined };

test.concurrent("an edited result is reported once, with its old and its new values", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance, "master");
  const { deal } = await world.control.result(login, "5.00");
  await logOf(instance, login, 2);
  await world.control.editDeal(deal, { profit: "6.00" });

  const entries = await logOf(instance, login, 3);
  await world.control.editDeal(deal, { comment: "explained" });
  await new Promise((resolve) => setTimeout(resolve, 1_000));

  expect(entries[2]).toMatchObject({ ...AMENDMENT, number: 3n, dealId: BigInt(deal), reason: "deal_changed" });
  expect(await logOf(instance, login, 3)).toHaveLength(3);
  const [finding] = await many<{ reason: string; deal_id: bigint; evidence: unknown }>(
    instance.deps.pool,
    sql`select reason, deal_id, evidence from finding where login = ${login}`,
  );
  expect(finding).toMatchObject({
    reason: "deal_changed",
    deal_id: BigInt(deal),
    evidence: { differences: ["profit"], recorded: { amountMinor: "500" }, shown: { profitMinor: "600" } },
  });
  // The log keeps the recorded amount; as on a real server the balance does not follow the edit.
  expect(await instance.service.readAccount({ login }, aCall())).toMatchObject({ logBalance: { minorUnits: 5_00n } });
});

test.concurrent("an edited comment is not an amendment", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance);
  await instance.service.transfer(aDeposit(login, 5_00n), aCall());
  const [deal] = await world.control.deals(login);
  await world.control.editDeal(deal!.deal, { comment: "seen by the back office" });
  await new Promise((resolve) => setTimeout(resolve, 1_000));

  expect((await logOf(instance, login, 1)).map(summaryOf)).toEqual(["DEPOSIT 5.00"]);
});

test.concurrent("a cancelled trade is reported, also when it was not recorded before", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance, "master");
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
  expect(await findingsOf(again, login)).toEqual(["deal_cancelled", "deal_cancelled"]);
});

test.concurrent("deleted deals of the service and of a trader are reported, and no others", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service } = instance;
  const master = await anAccount(instance, "master");
  const investor = await anAccount(instance);
  const mirror = aTransfer("mirror:1", [{ login: master, kind: MovementKind.MIRROR, minor: 9_00n }]);
  const mirrored = await service.transfer(mirror, aCall());
  const deposited = await service.transfer(aDeposit(investor, 9_00n), aCall());
  const { deal } = await world.control.result(master, "5.00");
  const reader = new AccountReader(instance.deps, onlyReader);
  const read = async () => await reader.read({ backMs: HOUR_MS, findsDeleted: true });
  await read();
  const deleted = [mirrored.legs[0]!.dealId, BigInt(deal)];
  for (const ticket of [...deleted, deposited.legs[0]!.dealId]) await world.control.removeDeal(Number(ticket));

  await read();
  await new Promise((resolve) => setTimeout(resolve, CONFIRM_AFTER_MS));
  for (let times = 0; times < 2; times += 1) await read();

  const entries = await logOf(instance, master, 5);
  expect(entries.slice(3).map(({ dealId }) => dealId)).toEqual(deleted);
  expect(entries.slice(3)).toMatchObject([
    { ...AMENDMENT, reason: "deal_gone" },
    { ...AMENDMENT, reason: "deal_gone" },
  ]);
  expect((await logOf(instance, investor, 2)).map(({ reason }) => reason)).toEqual(["", "deal_gone"]);
  expect(await findingsOf(instance, master)).toEqual(["applied_deal_gone", "deal_gone"]);
});

test.concurrent("a deal that the platform does not show yet is not reported as deleted", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect: "hide_deal", delay_ms: 9_000 });

  const result = await instance.service.transfer(aDeposit(login, 9_00n), aCall());
  await new Promise((resolve) => setTimeout(resolve, 11_000));

  expect(result.state).toBe(TransferState.APPLIED);
  expect((await logOf(instance, login, 1)).map(summaryOf)).toEqual(["DEPOSIT 9.00"]);
});

test.concurrent("when a server loses its last deals and reuses their tickets, both logins have a reported amendment", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const one = await anAccount(instance, "master");
  const two = await anAccount(instance, "master");
  const { deal } = await world.control.result(one, "5.00");
  await logOf(instance, one, 2);
  await world.control.restart(60_000);
  const again = await world.control.result(two, "7.00");
  expect(again.deal).toBe(deal);

  const lost = await logOf(instance, one, 4);
  const reused = await logOf(instance, two, 2);

  expect(lost.slice(2).map(({ reason }) => reason)).toEqual(["deal_gone", "deal_gone"]);
  expect(reused.map(({ reason, dealId }) => [reason, dealId])).toEqual([
    ["deal_changed", BigInt(deal) - 1n],
    ["deal_changed", BigInt(deal)],
  ]);
  expect(await instance.service.readAccount({ login: two }, aCall())).toMatchObject({ complete: false });
});
