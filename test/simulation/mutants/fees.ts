import type { Mutant } from "./mutant.ts";

const FEE = "services/fee";

/** What is owed as a fee, and how often it is taken. */
export const FEE_MUTANTS: readonly Mutant[] = [
  {
    name: "the key of a fee is made anew for each try",
    edits: [
      {
        file: `${FEE}/processes/payment/payment-transfer.ts`,
        find: "{ key, investorLogin, paymentAccountLogin, due }: DuePayment,",
        put: "{ key: first, tries, investorLogin, paymentAccountLogin, due }: DuePayment,",
      },
      {
        file: `${FEE}/processes/payment/payment-transfer.ts`,
        find: "    key,\n    lockOwner,",
        put: "    key: tries > 1 ? `${first}:${tries}` : first,\n    lockOwner,",
      },
    ],
    caughtBy: ["I11", "I10"],
    seed: 402,
  },
  {
    name: "what became of one fee is written down for another",
    edits: [
      {
        file: `${FEE}/jobs/pay-fees.ts`,
        find: "answers[index]",
        put: "answers[payments.length - 1 - index]",
      },
    ],
    caughtBy: ["I2", "I3", "I4", "I10"],
    seed: 3,
  },
  {
    name: "a fee of which nobody knows counts as not taken",
    edits: [
      {
        file: `${FEE}/processes/payment/payment-transfer.ts`,
        find: 'return { kind: "open", reason, isBusy: reason === "account_busy" || reason === "lock_not_owned" };',
        put: 'return { kind: "unpaid", status: "DEFERRED", reason };',
      },
    ],
    caughtBy: ["I3"],
    seed: 81,
  },
  {
    name: "a debt that is collected stays a debt",
    edits: [
      {
        file: `${FEE}/processes/accounting/record-due.ts`,
        find: "  await takeDebts(\n",
        put: "  if (due.length === 0) await takeDebts(\n",
      },
    ],
    caughtBy: ["I4"],
    seed: 626,
  },
  {
    name: "a fee that could not be taken is forgotten",
    edits: [
      {
        file: `${FEE}/processes/payment/record-outcomes.ts`,
        find: "for (const { payment } of refused) owe(payment, payment.due);",
        put: "for (const { payment } of refused) owe(payment, 0n);",
      },
    ],
    caughtBy: ["I4"],
    seed: 321,
  },
  {
    name: "fees that a dead process had in hand are nobody's",
    edits: [
      {
        file: `${FEE}/store/due-payments.ts`,
        find: "where status in ('PENDING', 'EXECUTING') and next_try_at",
        put: "where status = 'PENDING' and next_try_at",
      },
    ],
    caughtBy: ["I10"],
    seed: 3,
  },
  {
    name: "a fee leaves the high-water mark where it was",
    edits: [
      {
        file: `${FEE}/domain/crystallise.ts`,
        find: "fee === 0n ? before : {",
        put: "fee >= 0n ? before : {",
      },
    ],
    caughtBy: ["I11"],
    seed: 3,
  },
];
