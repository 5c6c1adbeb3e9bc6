import { expect, test } from "vitest";
import { readingOf } from "../testing/reading.ts";
import { column, many, sql } from "#kernel/postgres/query.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { balances } from "../checks/balances.ts";
import { readLogin } from "../protocol/history/read-history.ts";
import { readUnlisted } from "../protocol/unshown-accounts.ts";
import { inspectClosing } from "../queries/accounts.ts";
import { findAccount } from "../store/accounts.ts";
import { findingsOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer, aWithdrawal, moneyOf, feeLegs } from "../testing/requests.ts";
import { decideBoth, openReviews } from "../testing/reviews.ts";
import {
  aCall,
  anAccount,
  aWorld,
  eventually,
  type Instance,
  type World,
  aProcess,
  aProcessWith,
} from "../testing/world.ts";
import { eraseAccount } from "../commands/end-account.ts";
import { findReturned } from "./find-returned.ts";
import { setTimeout as pause } from "node:timers/promises";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { CONFIRM_AFTER_MS, readWholeLogin } from "../amendments/deleted-deals.ts";
import { AccountReader } from "../reader/account-reader.ts";
import { onlyReader } from "../testing/reader-role.ts";
import { transferThatIs } from "../testing/recorded-transfer.ts";

/** One run of the check platform_balance; the findings in short form. */
async function checkBalances({ deps }: Instance): Promise<string[]> {
  const { findings } = await balances({ ...deps, ...readingOf(deps) }).run({ cursor: "", pendingBreaks: [] });
  return findings.map(({ key }) => key);
}

/** Two runs of the check, which finds the same twice. */
async function archiveUnshown(instance: Instance): Promise<string[]> {
  const first = await checkBalances(instance);
  expect(await checkBalances(instance)).toEqual(first);
  return first;
}

async function archivedOf({ deps: { pool } }: Instance): Promise<string[]> {
  return await column<string>(pool, sql`select login from account where archived_at is not null order by login`);
}

/** An account that was emptied by its Investor. */
async function anEmptied(instance: Instance): Promise<string> {
  const login = await anAccount(instance);
  await instance.service.transfer(aDeposit(login, 100_00n), aCall());
  await instance.service.transfer(aWithdrawal(login, 100_00n), aCall());
  return login;
}

async function aFunded(instance: Instance, minor = 50_00n): Promise<string> {
  const login = await anAccount(instance);
  await instance.service.transfer(aDeposit(login, minor), aCall());
  return login;
}

async function callsOf({ control }: World): Promise<number> {
  const { calls } = await control.stats();
  const reads = ["user/get", "user/get_batch", "deal/get", "deal/get_batch", "deal/get_page", "deal/get_total"];
  return reads.reduce((sum, name) => sum + (calls[name] ?? 0), 0);
}

/** Reads the history as if the deals of the logs were some minutes old, and asks for those that it lacks. */
async function compareOldDeals({ deps }: Instance): Promise<void> {
  await corrupt(deps.pool, "update log_entry set deal_at = deal_at - interval '10 minutes'");
  const reader = new AccountReader(deps, onlyReader);
  await reader.read({ backMs: HOUR_MS, findsDeleted: true });
  await pause(CONFIRM_AFTER_MS);
  await reader.read({ backMs: HOUR_MS, findsDeleted: true });
}

const archived = (login: string) => ({
  code: "account_archived",
  status: "conflict",
  outcome: "not_executed",
  details: { mt5_login: login },
});

test.concurrent("an account without money that is archived is no break, refuses money, lets its Investor leave, and others go on", async (context) => {
  const { world, instance, service, deps } = await aProcess(context, { hasJobs: false });
  const [login, other] = [await anEmptied(instance), await aFunded(instance)];
  await world.control.archive(login);

  expect(await archiveUnshown(instance)).toEqual([]);
  expect(await archivedOf(instance)).toEqual([login]);
  await expect(service.transfer(aDeposit(login, 1_00n), aCall())).rejects.toMatchObject(archived(login));
  await expect(service.hold({ login, lockOwner: "withdrawal" }, aCall())).rejects.toMatchObject(archived(login));
  const { refusals } = await service.previewHold({ login }, aCall());
  expect(refusals).toMatchObject([{ code: "account_archived" }]);
  const leaving = { login, acceptsArchived: true };
  expect(await service.previewHold(leaving, aCall())).toMatchObject({ refusals: [], facts: { logNumber: 2n } });
  const held = await service.hold({ ...leaving, lockOwner: "exit" }, aCall());
  expect(held).toEqual({ balance: moneyOf(0n), logNumber: 2n, logEntryId: expect.any(BigInt), openPositions: 0 });
  // The deals of an account that is being left are no finding either.
  await compareOldDeals(instance);
  await service.release({ login, lockOwner: "exit" }, aCall());
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ balance: moneyOf(0n), complete: true });
  const fee = aTransfer(
    "fee:week",
    [
      { login, kind: MovementKind.FEE_DEBIT, minor: -7_00n },
      { login: await anAccount(instance, "payment"), kind: MovementKind.FEE_CREDIT, minor: 7_00n },
    ],
    { upTo: { floor: moneyOf(0n), filedNumber: undefined } },
  );
  expect(await service.transfer(fee, aCall())).toMatchObject({
    state: TransferState.REFUSED,
    refusalCode: "nothing_to_take",
  });
  const positions = [{ login, number: 0n }];
  expect((await service.readBalances({ positions }, aCall())).balances).toMatchObject([
    { balance: undefined, log: { archived: true } },
  ]);
  expect(await service.transfer(aDeposit(other, 1_00n), aCall())).toMatchObject({ state: TransferState.APPLIED });

  const role = AccountRole.INVESTOR;
  expect(await service.listUnshownAccounts({ afterLogin: "", limit: 10 }, aCall())).toMatchObject({
    accounts: [{ login, role, unshownSince: expect.any(Date), archivedAt: expect.any(Date) }],
    hasMore: false,
    archived: 1n,
    unconfirmed: 0n,
  });
  expect(await checkBalances(instance)).toEqual([]);
  expect(await openReviews(instance)).toEqual([]);
  expect(
    await many(deps.pool, sql`select kind, state, subject, login from state_change where kind = 'account'`),
  ).toEqual([{ kind: "account", state: "archived", subject: login, login }]);
});

test.concurrent("an account is archived by two runs of the check in a row, and the count begins anew when one was shown it", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const [login] = [await anEmptied(instance), await aFunded(instance)];
  for (const change of ["archive", "restore", "archive"] as const) {
    await world.control[change](login);
    expect(await checkBalances(instance)).toEqual([]);
    expect(await archivedOf(instance)).toEqual([]);
    // The reader and the search for returned accounts count nothing.
    await readUnlisted(instance.deps, [login]);
    await findReturned(instance.deps)();
    await readLogin(instance.deps, login);
  }
  const restarted = await world.start({ hasJobs: false });
  expect(await checkBalances(restarted)).toEqual([]);
  expect(await archivedOf(restarted)).toEqual([login]);
});

test.concurrent("an account with money that is not shown is a break, and one with a leg in progress is not archived", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const [funded, moving] = [await aFunded(instance), await anEmptied(instance)];
  await world.control.fault({ command: "trade/balance", effect: "drop_before", times: 1 });
  void instance.service.transfer(aDeposit(moving, 1_00n), aCall(4_000)).catch(() => undefined);
  await eventually(
    () => column(instance.deps.pool, sql`select login from leg where state in ('SENDING', 'UNKNOWN')`),
    (open) => open.length === 1,
  );
  for (const login of [funded, moving]) await world.control.archive(login);
  expect(await archiveUnshown(instance)).toEqual([`login:${funded}:-5000`]);
  expect(await archivedOf(instance)).toEqual([]);
});

test.concurrent("a manager that does not see the group, and a platform that shows no account, archive nothing", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const [login, other] = [await anEmptied(instance), await anAccount(instance, "master")];
  await world.control.managerGroups("pamm\\master");
  expect(await archiveUnshown(instance)).toEqual([]);
  expect(await archivedOf(instance)).toEqual([]);
  const { unconfirmed } = await instance.service.listUnshownAccounts({ afterLogin: "", limit: 10 }, aCall());
  expect(unconfirmed).toBe(1n);
  await expect(instance.service.hold({ login, lockOwner: "one" }, aCall())).rejects.toMatchObject({
    code: "platform_account_not_found",
  });
  await instance.service.release({ login, lockOwner: "one" }, aCall());

  await world.control.managerGroups("*");
  await world.control.fault({ command: "user/get", effect: "retcode:13", times: 100 });
  await world.control.fault({ command: "user/get_batch", effect: "retcode:13", times: 100 });
  expect(await archiveUnshown(instance)).toEqual([]);
  expect(await archivedOf(instance)).toEqual([]);
  await world.control.noFaults();
  expect(await archiveUnshown(instance)).toEqual([]);
  for (const each of [login, other]) {
    expect(await findAccount(instance.deps.pool, each)).toMatchObject({ isArchived: false });
    await readLogin(instance.deps, each);
  }
  expect(await instance.service.transfer(aDeposit(login, 1_00n), aCall())).toMatchObject({
    state: TransferState.APPLIED,
  });
});

test.concurrent("an account that is restored with its deals is normal again: it takes capital, and what waited for it is sent", async (context) => {
  const { world, instance, service, deps, login } = await aProcessWith("master", context);
  await aFunded(instance);
  await world.control.archive(login);
  await archiveUnshown(instance);
  expect(await archivedOf(instance)).toEqual([login]);
  // Capital is not recorded: it could not be withdrawn while it waits here.
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 5_00n }], { enqueue: true });
  await expect(service.transfer(mirror, aCall())).rejects.toMatchObject(archived(login));
  const exit = aTransfer("exit:1", [{ login, kind: MovementKind.EXIT, minor: -1_00n }], { enqueue: true });
  expect(await service.transfer(exit, aCall())).toMatchObject({ state: TransferState.PENDING });

  await world.control.restore(login);
  await findReturned(deps)();
  const ended = await transferThatIs(TransferState.REFUSED, service, "exit:1");
  expect(ended).toMatchObject({ refusalCode: "insufficient_funds" });
  await service.transfer(mirror, aCall());
  const sent = await transferThatIs(TransferState.APPLIED, service, "mirror:1");
  expect(sent.legs).toMatchObject([{ dealId: expect.any(BigInt) }]);
  expect(await findAccount(deps.pool, login)).toMatchObject({ isArchived: false });
  expect(await world.control.account(login)).toMatchObject({ balance: "5.00" });
  const states = await column(deps.pool, sql`select state from state_change where kind = 'account' order by id`);
  expect(states).toEqual(["archived", "returned"]);
  expect(await findingsOf(instance, login)).toEqual([]);
});

type Replaced = { readonly world: World; readonly instance: Instance; readonly login: string };

/** An account that was used, emptied, archived and deleted, and whose login a dealer has given to another person. */
async function aReplaced(world: World, role: "investor" | "master" | "payment", balance?: string): Promise<Replaced> {
  const instance = await world.start({ hasJobs: false });
  const { service, deps } = instance;
  const login = role === "investor" ? await anEmptied(instance) : await anAccount(instance, role);
  if (role !== "investor") for (const amount of ["3.00", "-3.00"]) await world.control.balance(login, amount);
  await readLogin(deps, login);
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ logNumber: 2n, complete: true });
  await aFunded(instance);
  await world.control.remove(login);
  await archiveUnshown(instance);
  expect(await archivedOf(instance)).toContain(login);
  await world.control.addAccount({
    login: Number(login),
    group: `pamm\\${role}`,
    name: "Bob",
    ...(balance && { balance }),
  });
  return { world, instance, login };
}

test.concurrent("a login that another person has got stays not usable, whatever its role and balance, before and after a restart", async (context) => {
  const world = await aWorld(context);
  const replaced = [
    await aReplaced(world, "investor"),
    await aReplaced(world, "investor", "7.00"),
    await aReplaced(world, "master", "8.00"),
    await aReplaced(world, "payment", "9.00"),
  ];
  const logins = replaced.map(({ login }) => login);
  const payer = await aFunded(replaced[0]!.instance);
  for (const instance of [replaced[0]!.instance, await world.start({ hasJobs: false })]) {
    const { service, deps } = instance;
    await findReturned(deps)();
    expect(await checkBalances(instance)).toEqual([]);
    expect(await archivedOf(instance)).toEqual(logins);
    const reviews = await openReviews(instance);
    expect(reviews.map(({ login, reason }) => `${login} ${reason}`).toSorted()).toEqual(
      logins.map((login) => `${login} other_account`),
    );
    for (const review of reviews) {
      expect(review.actions).toEqual(["resume", "acknowledge"]);
      expect(review.evidence).toContain(`the first one in the log of account ${review.login}`);
    }
    const [empty, credited, master, payment] = logins as [string, string, string, string];
    for (const login of [empty, credited]) {
      await expect(service.transfer(aDeposit(login, 1_00n), aCall())).rejects.toMatchObject(archived(login));
    }
    for (const login of [empty, credited, master]) {
      // Also a reading by the lock of an account does not take the money of the other person into the log.
      await expect(service.hold({ login, lockOwner: "one" }, aCall())).rejects.toMatchObject(archived(login));
      await readWholeLogin(deps, login);
      expect(await service.readAccount({ login }, aCall())).toMatchObject({
        balance: moneyOf(0n),
        logNumber: 2n,
        complete: true,
      });
      // Who had the account leaves with what the log has.
      const lockOwner = `exit:${login}:${deps.sender.epoch}`;
      const held = await service.hold({ login, acceptsArchived: true, lockOwner }, aCall());
      expect(held).toMatchObject({ balance: moneyOf(0n), logNumber: 2n });
      await service.release({ login, lockOwner }, aCall());
    }
    const fee = aTransfer(`fee:${deps.sender.epoch}`, feeLegs(payer, payment, 7_00n));
    await expect(service.transfer(fee, aCall())).rejects.toMatchObject(archived(payment));
    expect(await eraseAccount(deps, { login: credited })).toEqual({ shown: false });
    expect(await inspectClosing(deps, { login: credited })).toMatchObject({ balance: moneyOf(0n) });
  }
  expect(await world.control.account(logins[1]!)).toMatchObject({ name: "Bob", balance: "7.00" });
});

test.concurrent("a login that another person has got before the absence of the account was confirmed is archived at once", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const login = await anEmptied(instance);
  await aFunded(instance);
  await world.control.remove(login);
  expect(await checkBalances(instance)).toEqual([]);
  await world.control.addAccount({ login: Number(login), group: "pamm\\investor", name: "Bob", balance: "7.00" });
  expect(await checkBalances(instance)).toEqual([]);
  expect(await archivedOf(instance)).toEqual([login]);
  expect((await openReviews(instance)).map(({ reason }) => reason)).toEqual(["other_account"]);
});

test.concurrent("operators decide that a login has the same account, or take note that it has not", async (context) => {
  const world = await aWorld(context);
  const { instance, login } = await aReplaced(world, "investor", "7.00");
  const other = await aReplaced(world, "investor");
  const { service, deps } = instance;
  await findReturned(deps)();
  const reviews = await openReviews(instance);
  const of = (one: string) => reviews.find((review) => review.login === one)!;
  await decideBoth(instance, of(other.login), { action: "acknowledge" });
  await decideBoth(instance, of(login), { action: "resume" });
  await findReturned(deps)();
  expect(await openReviews(instance)).toEqual([]);
  expect(await archivedOf(instance)).toEqual([other.login]);
  await readLogin(deps, login);
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ balance: moneyOf(7_00n), complete: true });
  await compareOldDeals(instance);
  expect(await findingsOf(instance, login)).toEqual(["external_funds"]);
  expect(await checkBalances(instance)).toEqual([]);
});

/** An account that was archived, and that the platform shows again; the service has not looked yet. */
async function aRestored(context: Parameters<typeof aWorld>[0]) {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const login = await anEmptied(instance);
  await aFunded(instance);
  await world.control.archive(login);
  await archiveUnshown(instance);
  await world.control.restore(login);
  return { world, instance, login };
}

test.concurrent("a review of another account closes when the platform shows the deals of the log", async (context) => {
  const { world, instance, login } = await aRestored(context);
  // Its first deal is asked for, and then one of another account.
  await world.control.fault({ command: "deal/get", effect: "retcode:13", times: 1 });
  await findReturned(instance.deps)();
  expect((await openReviews(instance)).map(({ reason }) => reason)).toEqual(["other_account"]);
  await findReturned(instance.deps)();
  expect(await openReviews(instance)).toEqual([]);
  expect(await archivedOf(instance)).toEqual([]);
  await readLogin(instance.deps, login);
  expect(await instance.service.transfer(aDeposit(login, 1_00n), aCall())).toMatchObject({
    state: TransferState.APPLIED,
  });
});

test.concurrent("a platform that shows no deal of any account says nothing about an account that it shows again", async (context) => {
  const { world, instance, login } = await aRestored(context);
  await world.control.fault({ command: "deal/get", effect: "retcode:13", times: 2 });
  await findReturned(instance.deps)();
  expect(await archivedOf(instance)).toEqual([login]);
  expect(await openReviews(instance)).toEqual([]);
  await findReturned(instance.deps)();
  expect(await archivedOf(instance)).toEqual([]);
});

test.concurrent("an account without any deal in its log is normal again, also when it was created again", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { hasJobs: false });
  await aFunded(instance);
  await world.control.remove(login);
  await archiveUnshown(instance);
  await world.control.addAccount({ login: Number(login), group: "pamm\\investor", name: "Ann" });
  await findReturned(instance.deps)();
  expect(await archivedOf(instance)).toEqual([]);
  await readLogin(instance.deps, login);
  expect(await instance.service.transfer(aDeposit(login, 1_00n), aCall())).toMatchObject({
    state: TransferState.APPLIED,
  });
});

/** Deletes the accounts and gives their logins to another person, in another second than they were created in. */
async function replace({ control }: World, logins: readonly string[], balance?: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  for (const login of logins) {
    await control.remove(login);
    await control.addAccount({
      login: Number(login),
      group: "pamm\\investor",
      name: "Bob",
      ...(balance && { balance }),
    });
  }
}

test.concurrent("an account that is deleted and created again between two runs of the check is found, and not usable before that", async (context) => {
  const { world, instance, service, deps } = await aProcess(context, { hasJobs: false });
  const [emptied, funded, kept, fresh] = [
    await anEmptied(instance),
    await aFunded(instance, 50_00n),
    await aFunded(instance),
    await anAccount(instance),
  ];
  expect(await checkBalances(instance)).toEqual([]);
  const credited = await anEmptied(instance);
  expect(await checkBalances(instance)).toEqual([]);
  await replace(world, [emptied, funded, fresh]);
  await replace(world, [credited], "9.00");
  // The money of the other person is read as external before a run of the check; the account is not locked with it.
  await readLogin(deps, credited);
  await expect(service.hold({ login: credited, lockOwner: "w:1:1" }, aCall(2_000))).rejects.toMatchObject({
    code: "account_busy",
    outcome: "not_executed",
  });
  await service.release({ login: credited, lockOwner: "w:1:1" }, aCall());

  const restarted = await world.start({ hasJobs: false });
  for (const each of [instance, restarted]) {
    expect(await checkBalances(each)).toEqual([`login:${funded}:-5000`]);
    expect((await openReviews(each)).map(({ login }) => login).toSorted()).toEqual([emptied, funded, credited]);
    expect(await archivedOf(each)).toEqual([emptied]);
    await expect(each.service.transfer(aDeposit(emptied, 1_00n), aCall())).rejects.toMatchObject(archived(emptied));
    for (const login of [funded, credited]) {
      const stopped = { code: "safety_stop", outcome: "not_executed" };
      await expect(each.service.transfer(aDeposit(login, 1_00n), aCall())).rejects.toMatchObject(stopped);
      await expect(each.service.hold({ login, lockOwner: "w:2:1" }, aCall())).rejects.toMatchObject(stopped);
    }
    for (const login of [kept, fresh]) {
      expect(await each.service.transfer(aDeposit(login, 1_00n), aCall())).toMatchObject({
        state: TransferState.APPLIED,
      });
    }
  }
  const review = (await openReviews(instance)).find(({ login }) => login === credited)!;
  await decideBoth(instance, review, { action: "resume" });
  expect(await service.hold({ login: credited, lockOwner: "w:3:1" }, aCall())).toMatchObject({
    balance: moneyOf(9_00n),
  });
});

test.concurrent("many accounts that are archived at once cost a few requests a minute, before and after a restart", async (context) => {
  const world = await aWorld(context);
  const first = await world.start();
  const kept = await aFunded(first);
  const logins: string[] = [];
  for (let index = 0; index < 40; index += 1) {
    const login = await world.control.addAccount({ group: "pamm\\investor", name: `Ann ${index}` });
    logins.push(login);
  }
  await Promise.all(
    logins.map((login) => first.service.adoptAccount({ login, role: AccountRole.INVESTOR }, aCall(60_000))),
  );
  for (const login of logins) await world.control.archive(login);
  await archiveUnshown(first);
  expect(await archivedOf(first)).toHaveLength(logins.length);
  await first[Symbol.asyncDispose]();

  const instance = await world.start();
  await instance.service.readAccount({ login: kept }, aCall());
  const before = await callsOf(world);
  await checkBalances(instance);
  await findReturned(instance.deps)();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  // The reader asks for one group, twice in a second; a read for each account would be many times as many.
  expect((await callsOf(world)) - before).toBeLessThan(logins.length);

  await world.control.restore(logins[7]!);
  await findReturned(instance.deps)();
  expect(await archivedOf(instance)).toEqual(logins.filter((login) => login !== logins[7]).toSorted());
});

test.concurrent("an account that the platform archives between the lock and the transfer is paid at most once, and the outcome is clear", async (context) => {
  const { world, instance, service } = await aProcess(context, { hasJobs: false });
  const login = await anEmptied(instance);
  await aFunded(instance);
  await service.hold({ login, lockOwner: "one" }, aCall());
  await world.control.archive(login);
  const deposit = aTransfer("result:1", [{ login, kind: MovementKind.RESULT, minor: 3_00n }], { lockOwner: "one" });
  await expect(service.transfer(deposit, aCall())).resolves.toMatchObject({ state: TransferState.REFUSED });
  expect(await archiveUnshown(instance)).toEqual([`login:${login}:0`]);
  await service.release({ login, lockOwner: "one" }, aCall());
  expect(await archiveUnshown(instance)).toEqual([]);
  expect(await archivedOf(instance)).toEqual([login]);
});
