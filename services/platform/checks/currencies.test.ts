import { expect, test } from "vitest";
import { readingOf } from "../testing/reading.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { insertChecks } from "#kernel/reconcile/store.ts";
import { stopOnBreaks } from "#kernel/reconcile/stop-on-breaks.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { stoppingBreaks } from "../jobs/stop-on-breaks.ts";
import { aDeposit } from "../testing/requests.ts";
import { decideBoth, reviewOf, vote } from "../testing/reviews.ts";
import { aCall, anAccount, type Instance, aProcess } from "../testing/world.ts";
import { balances } from "./balances.ts";
import { currencies } from "./currencies.ts";

const ROLES = [AccountRole.MASTER, AccountRole.INVESTOR, AccountRole.PAYMENT];
const CENT = { group: "real\\cent", currency: "USC", digits: "2" };

/** The check that notes the groups of the accounts, and the one of their currencies; then breaks stop accounts. */
async function runChecks({ deps }: Instance): Promise<string[]> {
  const checks = [balances({ ...deps, ...readingOf(deps) }), currencies(deps)];
  await insertChecks(deps.pool, checks);
  for (const check of checks) await runCheck(deps, check, undefined);
  await stopOnBreaks(deps.pool, stoppingBreaks(deps));
  const { items } = await listBreaks(deps.pool, { afterId: 0n, limit: 100, withoutChecks: true });
  return items.filter(({ check }) => check === "account_currency").map(({ message }) => message);
}

test.concurrent("no account in another currency, or with other digits, is registered or created, whatever its role", async (context) => {
  const { world, instance, service, deps } = await aProcess(
    context,
    { hasJobs: false },
    { groups: ["real\\cent=USC/2", "real\\yen=JPY/0", "real\\fine=USD/3"] },
  );
  for (const role of ROLES) {
    for (const [group, shown] of [
      ["real\\cent", "is in USC with 2 digits"],
      ["real\\yen", "is in JPY with 0 digits"],
      ["real\\fine", "is in USD with 3 digits"],
    ] as const) {
      const login = await world.control.addAccount({ group, name: "Ann", balance: "1000" });
      await expect(service.adoptAccount({ login, role }, aCall())).rejects.toMatchObject({
        code: "currency_not_supported",
        status: "invalid",
        outcome: "not_executed",
        message: `Group ${group} of the trading platform ${shown}. Accounts must be in USD with 2 digits.`,
        details: { group },
      });
    }
  }
  await world.control.group("pamm\\investor", "EUR", 2);
  await expect(anAccount(instance)).rejects.toMatchObject({ code: "currency_not_supported", outcome: "not_executed" });
  await world.control.managerGroups("demo*");
  const unseen = await deps.mt5.getGroup("pamm\\investor");
  expect(unseen).toBeUndefined();
});

test.concurrent("an account that is moved into another currency is stopped until its group is back and operators resume it", async (context) => {
  const { world, instance, service } = await aProcess(context, { hasJobs: false }, { groups: ["real\\cent=USC/2"] });
  const [login, other] = [await anAccount(instance), await anAccount(instance)];
  for (const each of [login, other]) await service.transfer(aDeposit(each, 10_00n), aCall());
  expect(await runChecks(instance)).toEqual([]);

  await world.control.move(login, CENT.group);
  const message = `Account ${login} is in group real\\cent of the trading platform, which is in USC with 2 digits instead of USD with 2.`;
  expect(await runChecks(instance)).toEqual([message]);
  await expect(service.transfer(aDeposit(login, 1_00n), aCall())).rejects.toMatchObject({
    code: "safety_stop",
    message: expect.stringContaining("not in USD with two digits"),
  });
  await expect(service.hold({ login, lockOwner: "one" }, aCall())).rejects.toMatchObject({ code: "safety_stop" });
  expect(await service.transfer(aDeposit(other, 1_00n), aCall())).toMatchObject({ state: TransferState.APPLIED });
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: false });
  const positions = [login, other].map((each) => ({ login: each, number: 0n }));
  const logs = async () => (await service.readLogBalances({ positions }, aCall())).balances;
  expect((await logs()).filter(({ otherCurrency }) => otherCurrency)).toMatchObject([{ login }]);
  const review = await reviewOf(instance, "account_stopped");
  expect(review).toMatchObject({ login, actions: ["resume"] });
  expect(review.evidence).toContain("USC");
  await expect(vote(instance, review, "key-of-ann", { action: "resume" })).rejects.toMatchObject({
    code: "action_not_possible",
    message: expect.stringContaining("Move the account back"),
  });

  await world.control.move(login, "pamm\\investor");
  expect(await runChecks(instance)).toEqual([]);
  await decideBoth(instance, review, { action: "resume" });
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: true });
  expect((await logs()).filter(({ otherCurrency }) => otherCurrency)).toEqual([]);
  expect(await service.transfer(aDeposit(login, 1_00n), aCall())).toMatchObject({ state: TransferState.APPLIED });
});

test.concurrent("every account of a group whose currency is changed is stopped, and a group that is not shown changes nothing", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const logins = [await anAccount(instance, "master"), await anAccount(instance), await anAccount(instance, "payment")];
  for (const group of ["master", "investor", "payment"]) await world.control.group(`pamm\\${group}`, "USC", 2);
  expect(await runChecks(instance)).toHaveLength(3);
  await world.control.managerGroups("demo*");
  expect(await runChecks(instance)).toHaveLength(3);
  await world.control.managerGroups("*");
  for (const group of ["master", "investor", "payment"]) await world.control.group(`pamm\\${group}`, "USD", 2);
  expect(await runChecks(instance)).toEqual([]);
  for (const login of logins) {
    await expect(instance.service.transfer(aDeposit(login, 1_00n), aCall())).rejects.toMatchObject({
      code: "safety_stop",
    });
  }
});
