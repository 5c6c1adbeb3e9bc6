import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind, TransferImported } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { heartbeat } from "../../jobs/heartbeat.ts";
import { importedFeeKey, recordedFeeKey } from "../../domain/imported-leg.ts";
import { legNumber } from "../../domain/leg-number.ts";
import { platformComment } from "../../domain/reference.ts";
import type { LegKind } from "../../domain/leg-kind.ts";
import { keyHash } from "#kernel/values/key-hash.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { permitRequests } from "../permit-requests.ts";
import { commentOfLeg } from "../comment-of-leg.ts";
import { readTransferOrder } from "../transfer-order.ts";
import { findingsOf, logOf, summaryOf } from "../../testing/log-of.ts";
import { aDeposit, aTransfer, type LegOrder, moneyOf, feeLegs } from "../../testing/requests.ts";
import { aWaitingLeg } from "../../testing/rows.ts";
import { openReviews, resumeBoth } from "../../testing/reviews.ts";
import { countImports } from "../../store/recovery.ts";
import { readGeneration } from "../../store/permit-gate.ts";
import {
  aCall,
  anAccount,
  aWorld,
  decidedTransfer,
  eventually,
  type Instance,
  type World,
  aProcess,
} from "../../testing/world.ts";

const FEE_KEY = "fee:7001:9001:week:2026-11-20T22:00:00.000Z";
const { MIRROR, RESULT } = MovementKind;

import { IMPORTS_FEED } from "./import-deal.ts";
import { isRecorded, recordedTransfer, transferThatIs } from "../../testing/recorded-transfer.ts";

let lastNumber = 100n;

type Lost = { readonly login: string; readonly kind: LegKind; readonly amount: string; readonly key?: string };

/** A deal of this service that the database does not know. */
async function lose({ control }: World, { login, kind, amount, key = "lost" }: Lost): Promise<void> {
  lastNumber += 1n;
  const reference = { kind, number: legNumber(lastNumber), attempt: 1 };
  await control.balance(login, amount, commentOfLeg(reference, { key, comment: "bank" }));
}

function aFee(debited: string, credited: string, minor = 20_00n): readonly LegOrder[] {
  return feeLegs(debited, credited, minor);
}

/** The debit of a fee, imported without its credit. The jobs of the process that read it have ended: none decides again what is undecided. */
async function anImportedDebit(world: World) {
  const reader = await world.start();
  const [investor, payment] = [await anAccount(reader), await anAccount(reader, "payment")];
  await world.control.balance(investor, "100.00", "bank");
  await lose(world, { login: investor, kind: "fee_debit", amount: "-20.00", key: FEE_KEY });
  await logOf(reader, investor, 2);
  await reader[Symbol.asyncDispose]();
  return { investor, payment, quiet: await world.start({ hasJobs: false }) };
}

async function listFees({ service }: Instance) {
  return (await service.listImportedFees({ afterTransferId: 0n, limit: 100 }, aCall())).fees;
}

test.concurrent("lost deals are booked as what their references say; a deposit or withdrawal has one operation, which is published once and named when it is repeated", async (context) => {
  const { world, instance } = await aProcess(context);
  const [investor, master] = [await anAccount(instance), await anAccount(instance, "master")];
  await lose(world, { login: investor, kind: "deposit", amount: "100.00" });
  await lose(world, { login: investor, kind: "withdrawal", amount: "-10.00" });
  await lose(world, { login: investor, kind: "result", amount: "5.00" });
  await lose(world, { login: master, kind: "mirror", amount: "90.00" });
  await lose(world, { login: master, kind: "exit", amount: "-40.00" });

  expect((await logOf(instance, investor, 3)).map(summaryOf)).toEqual([
    "DEPOSIT 100.00",
    "WITHDRAWAL -10.00",
    "RESULT 5.00",
  ]);
  const moved = await logOf(instance, master, 2);
  expect(moved.map(summaryOf)).toEqual(["MIRROR 90.00", "EXIT -40.00"]);
  expect(moved.map(({ key }) => key)).toEqual(moved.map(({ dealId }) => `imported:${dealId}`));
  expect((await openReviews(instance)).map(({ reason }) => reason)).toEqual(["database_behind"]);

  // Another process reads the same history once more.
  await logOf(await world.start(), investor, 3);

  const published = await many<{ payload: Buffer }>(
    instance.deps.pool,
    sql`select payload from outbox where feed = ${IMPORTS_FEED} order by id`,
  );
  const imports = published.map(({ payload }) => TransferImported.decode(payload));
  const deals = await world.control.deals(investor);
  expect(imports).toMatchObject([
    { login: investor, kind: MovementKind.DEPOSIT, amount: { minorUnits: 100_00n }, comment: "bank" },
    { login: investor, kind: MovementKind.WITHDRAWAL, amount: { minorUnits: -10_00n }, comment: "bank" },
  ]);
  expect(imports.map(({ dealId }) => dealId)).toEqual(deals.slice(0, 2).map(({ deal }) => BigInt(deal)));
  expect(imports[0]!.operationId < imports[1]!.operationId).toBe(true);
  await resumeBoth(instance);
  const repeated = instance.service.transfer(aDeposit(investor, 100_00n, { comment: "bank" }), aCall());
  await expect(repeated).rejects.toMatchObject({
    code: "possible_duplicate",
    operationId: imports[0]!.operationId,
    details: { deal_id: String(imports[0]!.dealId) },
  });
});

test.concurrent("a lost deal that does not fit its reference stays external until operators decide", async (context) => {
  const { world, instance } = await aProcess(context);
  const [investor, master] = [await anAccount(instance), await anAccount(instance, "master")];
  await lose(world, { login: investor, kind: "mirror", amount: "2.00" });
  await lose(world, { login: investor, kind: "deposit", amount: "-1.00" });
  await lose(world, { login: investor, kind: "reversal", amount: "3.00" });
  await lose(world, { login: master, kind: "deposit", amount: "4.00" });

  const { EXTERNAL, AMENDMENT } = MovementKind;
  for (const [login, deals] of [
    [investor, 3],
    [master, 1],
  ] as const) {
    const kinds = (await logOf(instance, login, deals * 2)).map(({ kind }) => kind);
    expect(kinds).toEqual(Array.from({ length: deals }, () => [EXTERNAL, AMENDMENT]).flat());
    expect(await findingsOf(instance, login)).toEqual(Array.from({ length: deals }, () => "unknown_reference"));
  }
});

test.concurrent("a fee that was executed before the restore is not executed again under its key", async (context) => {
  const { world, instance } = await aProcess(context);
  const [investor, payment] = [await anAccount(instance), await anAccount(instance, "payment")];
  await world.control.balance(investor, "100.00", "bank");
  await lose(world, { login: investor, kind: "fee_debit", amount: "-20.00", key: FEE_KEY });
  await lose(world, { login: payment, kind: "fee_credit", amount: "20.00", key: FEE_KEY });
  await logOf(instance, investor, 2);
  await logOf(instance, payment, 1);
  await resumeBoth(instance);
  const before = [await world.control.deals(investor), await world.control.deals(payment)];

  const order = aTransfer(FEE_KEY, aFee(investor, payment));
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => decidedTransfer(instance, order)));
  expect(first).toMatchObject({ key: FEE_KEY, state: TransferState.APPLIED });
  expect(first!.legs.map(({ dealId }) => dealId)).toEqual(before.map((deals) => BigInt(deals.at(-1)!.deal)));
  for (const other of others) expect(other).toEqual(first);
  expect([await world.control.deals(investor), await world.control.deals(payment)]).toEqual(before);
  expect(await isRecorded(instance.service, importedFeeKey(keyHash(FEE_KEY)))).toBe(false);
  // The next week is another fee.
  const next = aTransfer("fee:7001:9001:week:2026-11-27T22:00:00.000Z", aFee(investor, payment));
  expect(await decidedTransfer(instance, next)).toMatchObject({ state: TransferState.APPLIED });
  expect(await world.control.deals(payment)).toHaveLength(before[1]!.length + 1);
});

test.concurrent("an imported fee is listed until it has the key of a payment, and is not debited again under its own key either", async (context) => {
  const { world, instance, service, deps } = await aProcess(context);
  const [investor, payment] = [await anAccount(instance), await anAccount(instance, "payment")];
  await world.control.balance(investor, "100.00", "bank");
  await lose(world, { login: investor, kind: "fee_debit", amount: "-20.00", key: FEE_KEY });
  await lose(world, { login: payment, kind: "fee_credit", amount: "20.00", key: FEE_KEY });
  const [, debited] = await logOf(instance, investor, 2);
  await logOf(instance, payment, 1);
  const keyHashOfFee = keyHash(FEE_KEY);
  const fees = await listFees(instance);
  expect(fees).toEqual([
    {
      transferId: expect.any(BigInt),
      keyHash: keyHashOfFee,
      investorLogin: investor,
      amount: moneyOf(20_00n),
      debitDealId: debited?.dealId,
      paymentAccountLogin: payment,
    },
  ]);
  const after = fees[0]!.transferId;
  expect(await service.listImportedFees({ afterTransferId: after, limit: 1 }, aCall())).toEqual({ fees: [] });
  expect(await countImports(deps.pool, new Date(0))).toMatchObject({ unclaimedFees: 1 });

  const key = recordedFeeKey(keyHashOfFee);
  const claimed = { keyHash: keyHashOfFee, key, paymentAccountLogin: payment, due: moneyOf(20_00n) };
  for (let times = 1; times <= 2; times += 1) await service.claimImportedFees({ fees: [claimed] }, aCall());
  expect(await listFees(instance)).toEqual([]);
  expect(await countImports(deps.pool, new Date(0))).toMatchObject({ unclaimedFees: 0 });
  await resumeBoth(instance);
  const recorded = await recordedTransfer(service, key);
  expect(recorded).toMatchObject({ state: TransferState.APPLIED, transferId: after });
  expect(await service.transfer(aTransfer(FEE_KEY, aFee(investor, payment)), aCall())).toEqual(recorded);
  const more = aTransfer(FEE_KEY, aFee(investor, payment, 30_00n));
  await expect(service.transfer(more, aCall())).rejects.toMatchObject({ code: "transfer_mismatch" });
  expect(await world.control.deals(payment)).toHaveLength(1);
  // What falls due next is another fee.
  const next = aTransfer("fee:7001:9001:W", aFee(investor, payment));
  expect(await decidedTransfer(instance, next)).toMatchObject({ state: TransferState.APPLIED });
  expect(await world.control.deals(payment)).toHaveLength(2);
});

test.concurrent("the credit of an imported fee is sent once when it is claimed, after every payment account was read", async (context) => {
  const world = await aWorld(context);
  const { investor, payment, quiet } = await anImportedDebit(world);
  const { service, deps } = quiet;
  await deps.pool.query("update account set undecided_from = now() where role = 'payment'");
  expect(await listFees(quiet)).toEqual([]);
  await deps.pool.query("update account set undecided_from = null");
  expect(await listFees(quiet)).toMatchObject([{ amount: moneyOf(20_00n), paymentAccountLogin: undefined }]);

  // 30.00 were due, and the account had less.
  const claimed = { keyHash: keyHash(FEE_KEY), key: FEE_KEY, paymentAccountLogin: payment, due: moneyOf(30_00n) };
  await Promise.all([1, 2, 3].map(() => service.claimImportedFees({ fees: [claimed] }, aCall())));
  expect(await recordedTransfer(service, FEE_KEY)).toMatchObject({ state: TransferState.PENDING });
  await resumeBoth(quiet);
  await world.start();
  await service.claimImportedFees({ fees: [claimed] }, aCall());
  const { legs } = await transferThatIs(TransferState.APPLIED, service, FEE_KEY);
  expect(legs.map(({ amount }) => amount?.minorUnits)).toEqual([-20_00n, 20_00n]);
  const order = aTransfer(FEE_KEY, aFee(investor, payment, 30_00n), { upTo: { floor: moneyOf(0n) } });
  expect(await service.transfer(order, aCall())).toMatchObject({ legs });
  expect(await world.control.deals(payment)).toHaveLength(1);
});

test.concurrent("while the credit of an imported fee may still be found, its order is neither claimed nor debited again", async (context) => {
  const world = await aWorld(context);
  const { investor, payment, quiet } = await anImportedDebit(world);
  const { service, deps } = quiet;
  const claim = async () => {
    const order = readTransferOrder(aTransfer(FEE_KEY, aFee(investor, payment)));
    const holders = { isReachable: true, of: () => undefined };
    return await inTransaction(deps.pool, async (tx) => {
      const requests = [{ kind: "order", order, requestId: "" }] as const;
      return [...(await permitRequests(tx, deps.settings.server, requests, holders)).values()];
    });
  };
  // A process that does not know yet that permits were stopped.
  expect(await claim()).toMatchObject([{ kind: "refused", refusal: { code: "service_unavailable" } }]);
  expect(await listFees(quiet)).toHaveLength(1);
  await resumeBoth(quiet);
  await deps.pool.query("update account set undecided_from = now() where role = 'payment'");
  const key = importedFeeKey(keyHash(FEE_KEY));
  expect(await claim()).toMatchObject([{ kind: "known", legs: [{ key }] }]);
  const order = aTransfer(FEE_KEY, aFee(investor, payment));
  await expect(service.transfer(order, aCall())).rejects.toMatchObject({ code: "transfer_mismatch" });
  expect(await world.control.deals(investor)).toHaveLength(2);
  await deps.pool.query("update account set undecided_from = null");
  expect(await claim()).toMatchObject([{ kind: "known", legs: [{ key: FEE_KEY }, {}] }]);
  expect(await isRecorded(service, FEE_KEY)).toBe(true);
});

test.concurrent("a page of imported fees has a limit, a fee is claimed only with a key of its hash, and no transfer is requested under an imported key", async (context) => {
  const world = await aWorld(context);
  const { service } = await world.start();
  const invalid = { code: "validation_failed" };
  for (const limit of [0, 1_001]) {
    await expect(service.listImportedFees({ afterTransferId: 0n, limit }, aCall())).rejects.toMatchObject(invalid);
  }
  const claimed = { keyHash: keyHash(FEE_KEY), key: FEE_KEY, paymentAccountLogin: "1", due: moneyOf(1n) };
  const tooMany = Array.from({ length: 1_001 }, () => claimed);
  for (const fees of [[], tooMany, [{ ...claimed, key: "fee:7001:9001:other" }]]) {
    await expect(service.claimImportedFees({ fees }, aCall())).rejects.toMatchObject(invalid);
  }
  for (const key of ["imported:5", recordedFeeKey(keyHash(FEE_KEY))]) {
    const order = aTransfer(key, [{ login: "1", kind: MIRROR, minor: 1n }]);
    await expect(service.transfer(order, aCall())).rejects.toMatchObject({
      code: "validation_failed",
      errors: [{ field: "key", code: "reserved" }],
    });
  }
});

test.concurrent("an amount of another generation is refused as outdated, also when its order waits, and on other accounts", async (context) => {
  const { world, instance, service, deps } = await aProcess(context);
  const [investor, master] = [await anAccount(instance), await anAccount(instance, "master")];
  const mirror = (key: string, generation: bigint) =>
    aTransfer(key, [{ login: master, kind: MIRROR, minor: 30_00n }], { enqueue: true, generation });
  const before = await readGeneration(deps.pool);
  await lose(world, { login: investor, kind: "deposit", amount: "50.00" });
  await logOf(instance, investor, 1);
  await heartbeat(deps);
  const stopped = { code: "safety_stop", outcome: "not_executed" };
  await expect(service.transfer(mirror("early", before), aCall())).rejects.toMatchObject(stopped);
  const waiting = { login: master, kind: "mirror", amountMinor: 30_00n, generation: before } as const;
  await aWaitingLeg(deps.pool, { ...waiting, key: "waits" });
  await aWaitingLeg(deps.pool, { ...waiting, key: "attempted", attempt: 1 });
  const number = await aWaitingLeg(deps.pool, { ...waiting, key: "executed" });
  await world.control.balance(master, "30.00", platformComment({ kind: "mirror", number, attempt: 1 }, ""));
  await logOf(instance, master, 1);

  // One of those that wait may have been executed in the lost time, so none ends before the whole history was read.
  const { state } = await recordedTransfer(service, "waits");
  expect(state).toBe(TransferState.PENDING);
  expect(await recordedTransfer(service, "executed")).toMatchObject({ state: TransferState.APPLIED });
  await resumeBoth(instance);
  const outdated = { state: TransferState.REFUSED, refusalCode: "outdated" };
  for (const key of ["waits", "attempted"]) {
    const ended = await eventually(
      () => recordedTransfer(service, key),
      (transfer) => transfer.state !== TransferState.PENDING,
    );
    expect(ended).toMatchObject(outdated);
  }
  expect(await service.transfer(mirror("before", before), aCall())).toMatchObject(outdated);
  const after = await readGeneration(deps.pool);
  expect(await service.transfer(mirror("later", after + 1n), aCall())).toMatchObject(outdated);
  await service.transfer(mirror("after", after), aCall());
  await transferThatIs(TransferState.APPLIED, service, "after");
  expect(await world.control.deals(master)).toHaveLength(2);
  const result = aTransfer("result", [{ login: investor, kind: RESULT, minor: 1_00n }], { generation: before });
  expect(await service.transfer(result, aCall())).toMatchObject(outdated);
});
