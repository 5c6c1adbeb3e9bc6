import { expect, test } from "vitest";
import { column, many, sql } from "#kernel/postgres/query.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { verifyAppliedDeals } from "../amendments/amendments.ts";
import { balances } from "../checks/balances.ts";
import { readLogin, readWholeLogin } from "../protocol/history/read-history.ts";
import { noteAccounts, type ReadAccounts, readUnlisted } from "../protocol/unshown-accounts.ts";
import { findAccount } from "../store/accounts.ts";
import { findingsOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer, aWithdrawal, moneyOf } from "../testing/requests.ts";
import { openReviews } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, eventually, type Instance, type World } from "../testing/world.ts";
import { findReturned } from "./find-returned.ts";

/** One run of the check platform_balance; the findings in short form. */
async function checkBalances({ deps }: Instance): Promise<string[]> {
  const reading = {
    readLogin: (login: string) => readLogin(deps, login),
    readWholeLogin: (login: string) => readWholeLogin(deps, login),
    noteAccounts: (read: ReadAccounts) => noteAccounts(deps, read),
  };
  const { findings } = await balances({ ...deps, ...reading }).run({ cursor: "", pendingBreaks: [] });
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

const archived = (login: string) => ({
  code: "account_archived",
  status: "conflict",
  outcome: "not_executed",
  details: { mt5_login: login },
});

test.concurrent("an account without money that is archived is no break, refuses money, lets its Investor leave, and others go on", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service, deps } = instance;
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
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
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
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const [funded, moving] = [await aFunded(instance), await anEmptied(instance)];
  await world.control.fault({ command: "trade/balance", effect: "drop_before", times: 1 });
  void instance.service.transfer(aDeposit(moving, 1_00n), aCall(1_000)).catch(() => undefined);
  await eventually(
    () => column(instance.deps.pool, sql`select login from leg where state in ('SENDING', 'UNKNOWN')`),
    (open) => open.length === 1,
  );
  for (const login of [funded, moving]) await world.control.archive(login);
  expect(await archiveUnshown(instance)).toEqual([`login:${funded}:-5000`]);
  expect(await archivedOf(instance)).toEqual([]);
});

test.concurrent("a manager that does not see the group, and a platform that shows no account, archive nothing", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
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

test.concurrent("an account that is restored with its deals is normal again, and takes capital again", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const { service, deps } = instance;
  const login = await anAccount(instance, "master");
  await aFunded(instance);
  await world.control.archive(login);
  await archiveUnshown(instance);
  expect(await archivedOf(instance)).toEqual([login]);
  // Capital is not recorded: it could not be withdrawn while it waits here.
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 5_00n }], { enqueue: true });
  await expect(service.transfer(mirror, aCall())).rejects.toMatchObject(archived(login));

  await world.control.restore(login);
  await findReturned(deps)();
  await service.transfer(mirror, aCall());
  const sent = await eventually(
    () => service.getTransfer({ key: "mirror:1" }, aCall()),
    ({ state }) => state === TransferState.APPLIED,
  );
  expect(sent.legs).toMatchObject([{ dealId: expect.any(BigInt) }]);
  expect(await findAccount(deps.pool, login)).toMatchObject({ isArchived: false });
  expect(await world.control.account(login)).toMatchObject({ balance: "5.00" });
  const states = await column(deps.pool, sql`select state from state_change where kind = 'account' order by id`);
  expect(states).toEqual(["archived", "returned"]);
  expect(await findingsOf(instance, login)).toEqual([]);
});

test.concurrent("an account that comes back without its deals and without money is normal, with money it is a difference", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service, deps } = instance;
  const [empty, credited] = [await anEmptied(instance), await anEmptied(instance)];
  await aFunded(instance);
  for (const login of [empty, credited]) await world.control.remove(login);
  await archiveUnshown(instance);
  expect(await archivedOf(instance)).toEqual([empty, credited]);

  const group = "pamm\\investor";
  await world.control.addAccount({ login: Number(empty), group, name: "Ann" });
  await world.control.addAccount({ login: Number(credited), group, name: "Bob", balance: "7.00" });
  await findReturned(deps)();
  expect(await archivedOf(instance)).toEqual([]);
  await deps.pool.query(
    "update leg set next_scan_at = clock_timestamp() - interval '1 second' where state = 'APPLIED'",
  );
  await verifyAppliedDeals(deps);
  for (const login of [empty, credited]) await readLogin(deps, login);
  expect(await checkBalances(instance)).toEqual([]);
  expect(await service.transfer(aDeposit(empty, 2_00n), aCall())).toMatchObject({ state: TransferState.APPLIED });
  expect(await service.readAccount({ login: empty }, aCall())).toMatchObject({
    balance: moneyOf(2_00n),
    complete: true,
  });
  expect(await findingsOf(instance, empty)).toEqual([]);
  expect(await findingsOf(instance, credited)).toEqual(["external_funds"]);
});

test.concurrent("a hundred accounts that are archived at once cost a few requests a minute, before and after a restart", async (context) => {
  const world = await aWorld(context);
  const first = await world.start();
  const kept = await aFunded(first);
  const logins: string[] = [];
  for (let index = 0; index < 100; index += 1) {
    const login = await world.control.addAccount({ group: "pamm\\investor", name: `Ann ${index}` });
    logins.push(login);
  }
  await Promise.all(
    logins.map((login) => first.service.adoptAccount({ login, role: AccountRole.INVESTOR }, aCall(60_000))),
  );
  for (const login of logins) await world.control.archive(login);
  await archiveUnshown(first);
  expect(await archivedOf(first)).toHaveLength(100);
  await first[Symbol.asyncDispose]();

  const instance = await world.start();
  await instance.service.readAccount({ login: kept }, aCall());
  const before = await callsOf(world);
  await checkBalances(instance);
  await findReturned(instance.deps)();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  // The reader asks for one group, five times in a second; a read for each account would be a hundred times as many.
  expect((await callsOf(world)) - before).toBeLessThan(40);

  await world.control.restore(logins[7]!);
  await findReturned(instance.deps)();
  expect(await archivedOf(instance)).toEqual(logins.filter((login) => login !== logins[7]).toSorted());
}, 60_000);

test.concurrent("an account that the platform archives between the lock and the transfer is paid at most once, and the outcome is clear", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service } = instance;
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

test.concurrent("no fee is taken while the payment account is archived, and it is taken when the account is back", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service, deps } = instance;
  const [investor, payment] = [await aFunded(instance), await anAccount(instance, "payment")];
  await world.control.archive(payment);
  await archiveUnshown(instance);
  const fee = aTransfer("fee:1", [
    { login: investor, kind: MovementKind.FEE_DEBIT, minor: -7_00n },
    { login: payment, kind: MovementKind.FEE_CREDIT, minor: 7_00n },
  ]);
  await expect(service.transfer(fee, aCall())).rejects.toMatchObject(archived(payment));
  await expect(service.getTransfer({ key: "fee:1" }, aCall())).rejects.toMatchObject({ code: "transfer_not_found" });
  await world.control.restore(payment);
  await findReturned(deps)();
  await readLogin(deps, payment);
  await expect(service.transfer(fee, aCall())).resolves.toMatchObject({ state: TransferState.APPLIED });
  expect(await world.control.account(payment)).toMatchObject({ balance: "7.00" });
});
