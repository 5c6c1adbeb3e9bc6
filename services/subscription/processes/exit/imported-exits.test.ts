import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { maybeOne, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { balanceOf, enter } from "#test/support/platform-fake/ledger.ts";
import { externalFundsMaster } from "../../checks/external-funds.ts";
import { departureKey } from "../../domain/departure.ts";
import { catchUp } from "../filing/catch-up.ts";
import { importedFeeKey, insertFeeDebits, listTakenFees } from "../../store/fees.ts";
import { decideWithdrawal, holdForWithdrawal, release } from "../../testing/funding.ts";
import { expectBooksToReconcile } from "../../testing/books.ts";
import { inBucket, poolLedger, findingsOf } from "../../testing/ledger.ts";
import { deliver, settle, subscribed, aPair, settleAndReconcile } from "../../testing/settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, type World } from "../../testing/world.ts";

const { DEPOSIT, EXIT, MIRROR, WITHDRAWAL } = MovementKind;
let lastTicket = 0;

/** The deal of a transfer whose records platform has lost. */
function imported({ platform }: World, login: string, kind: MovementKind, amount: bigint): void {
  lastTicket += 1;
  enter(platform.ledger, login, { kind, amount, key: `imported:${lastTicket}` });
}

function transfersOf({ platform }: World, prefix: string): string[] {
  return [...platform.byKey.keys()].filter((key) => key.startsWith(prefix));
}

async function importedOn({ deps }: World, login: string): Promise<bigint | undefined> {
  const row = await maybeOne<{ minor: bigint }>(
    deps.pool,
    sql`select imported_mirrors_minor + imported_exits_minor as minor from master_pool where login = ${login}`,
  );
  return row?.minor;
}

test("a mirror that was executed before the restore is not executed again", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const before = transfersOf(world, "subscription:mirror:").length;
  imported(world, masterLogin, MIRROR, 30_00n);

  await settleAndReconcile(world);
  expect(await importedOn(world, masterLogin)).toBe(30_00n);
  expect(await findingsOf(externalFundsMaster(world.deps))).toMatchObject([
    { atRiskMinor: 30_00n, message: expect.stringContaining("before the database was restored") },
  ]);
  imported(world, investorLogin, DEPOSIT, 30_00n);
  await settleAndReconcile(world);
  expect(transfersOf(world, "subscription:mirror:")).toHaveLength(before);
  expect(await importedOn(world, masterLogin)).toBe(0n);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(530_00n);
});

test("only what was not executed before the restore is mirrored", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  imported(world, investorLogin, DEPOSIT, 30_00n);
  imported(world, investorLogin, DEPOSIT, 20_00n);
  imported(world, masterLogin, MIRROR, 30_00n);

  await settle(world);
  expect(await importedOn(world, masterLogin)).toBe(0n);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(550_00n);
  const mirrors = [...world.platform.byKey.values()].filter(({ request }) => request.legs[0]?.kind === MIRROR);
  expect(mirrors.at(-1)?.request.legs[0]?.amount?.minorUnits).toBe(20_00n);
  await expectBooksToReconcile(world);
});

test("what was mirrored for a flow that an opposite one cancels out now is moved back", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  imported(world, masterLogin, MIRROR, 30_00n);
  imported(world, investorLogin, DEPOSIT, 30_00n);
  imported(world, investorLogin, WITHDRAWAL, -30_00n);
  await settleAndReconcile(world);
  expect(await importedOn(world, masterLogin)).toBe(0n);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(500_00n);
});

test("an inflow that was mirrored before the restore is not held when a withdrawal that is imported too takes its Investor below zero", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const investorLogin = anInvestor(world, 50_00n);
  await world.service.assign(anAssignment({ masterLogin, investorLogin }), aCall());
  imported(world, masterLogin, MIRROR, 50_00n);
  imported(world, investorLogin, WITHDRAWAL, -1_15n);
  await deliver(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([-1_15n]);

  await settleAndReconcile(world);
  expect(await importedOn(world, masterLogin)).toBe(0n);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([48_85n]);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(48_85n);
});

test("an exit that was executed before the restore is not executed again when the caller repeats the unassign", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const { masterLogin } = pair;
  const other = await subscribed(world, masterLogin, 200_00n);
  imported(world, masterLogin, EXIT, -500_00n);
  await settleAndReconcile(world);
  expect(await importedOn(world, masterLogin)).toBe(-500_00n);

  await world.service.unassign(pair, aCall());
  await settleAndReconcile(world);
  expect(await importedOn(world, masterLogin)).toBe(0n);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(200_00n);
  expect((await world.service.findOpenSubscription(pair, aCall())).subscription).toBeUndefined();
  expect((await world.service.findOpenSubscription(other, aCall())).subscription).toBeDefined();
});

test("of an exit that is decided again with another amount only the rest is executed", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const { masterLogin } = pair;
  await subscribed(world, masterLogin, 200_00n);
  imported(world, masterLogin, EXIT, -470_00n);
  await settle(world);

  await world.service.unassign(pair, aCall());
  await settle(world);

  const exits = [...world.platform.byKey.values()].filter(({ request }) => request.legs[0]?.kind === EXIT);
  expect(exits.map(({ request }) => request.legs[0]?.amount?.minorUnits)).toEqual([-30_00n]);
  expect(await importedOn(world, masterLogin)).toBe(0n);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(200_00n);
  expect((await world.service.findOpenSubscription(pair, aCall())).subscription).toBeUndefined();
  await expectBooksToReconcile(world);
});

test("a fee that was debited before the restore is not reserved when it is due again", async () => {
  const { deps } = await aWorld();
  const [due, other] = ["fee:7001:9001:WD1", "fee:7001:9001:WD2"];
  const debit = { key: importedFeeKey(due), login: "7001", number: 3n, amount: -20_00n };
  await inTransaction(deps.pool, (tx) => insertFeeDebits(tx, [debit]));

  expect(await listTakenFees(deps.pool, [due, other])).toEqual(new Set([due]));
});

test("an imported fee settles the reserve that a restored decision has opened for it", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
  await decideWithdrawal(world, withdrawal);
  const amount = -200_00n;
  const key = importedFeeKey(departureKey(withdrawal));
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.FEE_DEBIT, amount, key });
  await release(world, withdrawal);
  await settle(world);

  const { holdings } = await poolLedger(world, masterLogin);
  expect(holdings).toMatchObject([{ pooled: 300_00n, reserved: 0n }]);
  await expectBooksToReconcile(world);
});

test("no log is read while platform is at an older time than what was received from it", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  world.state.isPlatformRewound = true;
  // All is filed by its number, which may name another entry by now.
  await expect(world.service.unassign({ masterLogin, investorLogin }, aCall())).rejects.toMatchObject({
    code: "platform_unavailable",
    outcome: "not_executed",
  });
  enter(world.platform.ledger, investorLogin, { kind: DEPOSIT, amount: 30_00n, key: "deposit" });
  await expect(catchUp(world.deps, { login: investorLogin }, aCall())).rejects.toThrow("restored to an older time");
  await expect(world.service.unassign({ masterLogin, investorLogin }, aCall())).rejects.toMatchObject({
    outcome: "not_executed",
  });
  world.state.isPlatformRewound = false;
  await catchUp(world.deps, { login: investorLogin }, aCall());
  await settleAndReconcile(world);
});
