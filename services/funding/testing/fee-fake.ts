import type { Client } from "#kernel/contract/contract.ts";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { CollectRequest, FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { PlatformFake } from "#test/support/platform-fake/platform-fake.ts";

/** A fault of one call of collect. */
export type CollectFailure = "unreachable" | "lost answer";

export type FeeFake = Client<FeeServiceService> & {
  readonly collected: CollectRequest[];
  readonly faults: CollectFailure[];
};

type Owed = { readonly platform: PlatformFake; readonly login: string; readonly pending: bigint };

/** Collects the pending amount once per key, under the account lock; a repetition gets the same answer. */
export function feeFake({ platform, login, pending }: Owed, unused: () => never): FeeFake {
  const taken = new Set<string>();
  const fake: FeeFake = {
    collected: [],
    faults: [],
    configure: unused,
    getConfiguration: unused,
    updateConfiguration: unused,
    listVersions: unused,
    explainPayment: unused,
    listRuns: unused,
    getRun: unused,
    listRunPayments: unused,
    getPendingFee: unused,
    cancelVersion: unused,
    listPaymentCredits: unused,
    listPaymentsOfInvestor: unused,
    findDueItems: unused,
    findKeysOfItem: unused,
    listInvestorPayments: unused,
    sumPaymentCredits: unused,
    getWaitingFees: unused,
    findTerms: unused,
    recordFees: unused,
    findTransfers: unused,
    listBreaks: unused,
    listReviews: unused,
    listReviewGroups: unused,
    decideReview: unused,
    decideReviewGroup: unused,
    listDueItems: async () => ({ items: [] }),
    changePaymentAccount: unused,
    async collect(request) {
      fake.collected.push(request);
      const fault = fake.faults.shift();
      if (fault === "unreachable") throw serviceUnavailable("fee");
      const { key, lockOwner } = request;
      if (!taken.has(key)) {
        if (platform.accountLocks.get(login) !== lockOwner) {
          throw new Refusal({ code: "lock_not_owned", status: "conflict", message: "the account lock is not held" });
        }
        taken.add(key);
        const entry = { kind: MovementKind.FEE_DEBIT, amount: -pending, key: `fee of ${key}`, lockOwner };
        if (pending > 0n) enter(platform.ledger, login, entry);
      }
      if (fault === "lost answer") throw outcomeUnknown("fee");
      return { collected: { currencyCode: "USD", minorUnits: pending } };
    },
  };
  return fake;
}
