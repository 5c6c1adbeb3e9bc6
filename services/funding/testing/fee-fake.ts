import type { Client } from "#kernel/contract/contract.ts";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { CollectRequest, FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { PlatformFake } from "./platform-fake.ts";

/** What goes wrong at the next collection, once. */
export type CollectTrouble = "unreachable" | "lost answer";

export type FeeFake = Client<FeeServiceService> & {
  readonly collected: CollectRequest[];
  readonly troubles: CollectTrouble[];
};

type Owed = { readonly platform: PlatformFake; readonly login: string; readonly pending: bigint };

/** Takes what is pending once per key, under the lane; asked again, it answers the same. */
export function feeFake({ platform, login, pending }: Owed, unused: () => never): FeeFake {
  const taken = new Set<string>();
  const fake: FeeFake = {
    collected: [],
    troubles: [],
    configure: unused,
    getConfiguration: unused,
    updateConfiguration: unused,
    listPaymentCredits: unused,
    listInvestorPayments: unused,
    prepare: unused,
    crystallize: unused,
    listBreaks: unused,
    listReviews: unused,
    decideReview: unused,
    listDueItems: async () => ({ items: [] }),
    async collect(request) {
      fake.collected.push(request);
      const trouble = fake.troubles.shift();
      if (trouble === "unreachable") throw serviceUnavailable("fee");
      const { key, holder } = request;
      if (!taken.has(key)) {
        if (platform.lanes.get(login) !== holder) {
          throw new Refusal({ code: "no_lane", status: "conflict", message: "the lane is not held" });
        }
        taken.add(key);
        if (pending > 0n) platform.deals.push({ key: `fee of ${key}`, login, minor: -pending, comment: "", holder });
      }
      if (trouble === "lost answer") throw outcomeUnknown("fee");
      return { collected: { currencyCode: "USD", minorUnits: pending } };
    },
  };
  return fake;
}
