import type { Mutant } from "./mutant.ts";

const FEE = "services/fee";

/** Defects of fees: what is due, and how often it is taken. */
export const FEE_MUTANTS: readonly Mutant[] = [
  {
    name: "each try of a fee has a new key",
    edits: [
      {
        file: `${FEE}/messages/fee-transfer.ts`,
        find: "{ key, investorLogin, paymentAccountLogin, due }: TransferredPayment,",
        put: "{ key: first, tries, investorLogin, paymentAccountLogin, due }: TransferredPayment & { tries: number },",
      },
      {
        file: `${FEE}/messages/fee-transfer.ts`,
        find: "    key,\n    lockOwner:",
        put: "    key: tries > 1 ? `${first}:${tries}` : first,\n    lockOwner:",
      },
    ],
    detectedBy: ["I11", "I10"],
    seed: 34,
  },
  {
    name: "the outcome of one fee is recorded for another",
    file: `${FEE}/jobs/pay-fees.ts`,
    find: "answers[index]",
    put: "answers[payments.length - 1 - index]",
    detectedBy: ["I2", "I3", "I4", "I10"],
    seed: 3,
  },
  {
    name: "a fee with an unknown outcome counts as not taken",
    file: `${FEE}/processes/payment/payment-transfer.ts`,
    find: '{ kind: "open", reason: code, isBusy: BUSY.has(code) }',
    put: '{ kind: "unpaid", status: "DEFERRED", reason: code }',
    detectedBy: ["I3"],
    seed: 428,
  },
  {
    name: "a collected debt stays a debt",
    file: `${FEE}/store/debts.ts`,
    find: "set taken_by_id = taken.id",
    put: "set taken_by_id = fee_payment.taken_by_id",
    detectedBy: ["I4"],
    seed: 34,
  },
  {
    name: "a fee that could not be taken does not become debt",
    file: `${FEE}/store/settled-payments.ts`,
    find: "reason = unpaid.reason, amount_minor = 0",
    put: "reason = unpaid.reason, amount_minor = due_minor - prepaid_minor",
    detectedBy: ["I4"],
    seed: 34,
  },
  {
    name: "payments that a crashed process was executing are not resumed",
    file: `${FEE}/store/due-payments.ts`,
    find: "mayStart: fragment`(\n      work.status = 'EXECUTING'",
    put: "mayStart: fragment`work.status = 'PENDING' and (\n      work.status = 'EXECUTING'",
    detectedBy: ["I10"],
    seed: 3,
  },
  {
    name: "a fee does not raise the high-water mark",
    file: "services/subscription/domain/fees/crystallise.ts",
    find: "fee === 0n ? before : {",
    put: "fee >= 0n ? before : {",
    detectedBy: ["I11"],
    seed: 3,
  },
];
