import { expect, test } from "vitest";
import { setBalance } from "#test/support/platform-fake/ledger.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { type Paid, type PaymentOutcome, unpaid } from "../../domain/payment-outcome.ts";
import { findOwed } from "../../store/debts.ts";
import { lockOpenPayments } from "../../store/due-payments.ts";
import { decideWeeks } from "../../testing/deciding.ts";
import { INVESTOR } from "../../testing/fee.ts";
import { aWeek, anInvestor, aWorld, expectToReconcile } from "../../testing/world.ts";
import { recordOutcomes } from "./record-outcomes.ts";

const REFUSED = unpaid("PF", "insufficient_funds");
const PARTLY_PAID: Paid = {
  kind: "paid",
  amount: 10_00n,
  transferId: 1n,
  debitDealId: 1n,
  creditDealId: 2n,
  executedAt: new Date("2026-01-17T00:00:05Z"),
};

test.each<[string, older: PaymentOutcome, younger: PaymentOutcome, debt: bigint]>([
  ["both are refused", REFUSED, REFUSED, 60_00n],
  ["the older is refused and the younger partly paid", REFUSED, PARTLY_PAID, 50_00n],
  ["the older is partly paid and the younger refused", PARTLY_PAID, REFUSED, 50_00n],
])("the debt of two weekly fees has the age of the older one when %s", async (_outcomes, older, younger, debt) => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  for (let week = 0; week < 2; week += 1) {
    aWeek(world, { [INVESTOR]: "+100.00" });
  }
  await decideWeeks(world);
  const [first, second] = await inTransaction(world.deps.pool, (tx) => lockOpenPayments(tx, [1n, 2n]));
  setBalance(world.platform.ledger, "6001", PARTLY_PAID.amount);

  await recordOutcomes(world.deps, [
    { payment: second!, outcome: younger },
    { payment: first!, outcome: older },
  ]);

  const { owed } = await findOwed(world.deps.pool, "", [INVESTOR]);
  const since = new Date("2026-01-10T00:00:00Z");
  expect(owed.get(INVESTOR)).toEqual([expect.objectContaining({ kind: "debt", amount: debt, since })]);
  await expectToReconcile(world);
});
