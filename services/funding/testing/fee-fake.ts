import type { Client } from "#kernel/contract/contract.ts";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { CollectRequest, FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { PlatformFake } from "./platform-fake.ts";

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
    listPaymentCredits: unused,
    listInvestorPayments: unused,
    prepare: unused,
    crystallise: unused,
    listBreaks: unused,
    listReviews: unused,
    decideReview: unused,
    listDueItems: async () => ({ items: [] }),
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
        if (pending > 0n) platform.deals.push({ key: `fee of ${key}`, login, minor: -pending, comment: "", lockOwner });
      }
      if (fault === "lost answer") throw outcomeUnknown("fee");
      return { collected: { currencyCode: "USD", minorUnits: pending } };
    },
  };
  return fake;
}
