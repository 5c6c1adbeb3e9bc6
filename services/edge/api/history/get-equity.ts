import { Type } from "typebox";
import { moneyToProto } from "#kernel/contract/money.ts";
import { MAX_AMOUNT } from "#kernel/money.ts";
import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { GetEquityResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import { refuse } from "../../problems/refusals.ts";
import { EquityReply } from "../schemas/equity.ts";
import { investorLogin } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

/** The two services are asked one after the other: what was booked meanwhile is asked again. */
const MAX_READS = 3;

export const getEquity = route({
  operationId: "getEquity",
  method: "GET",
  url: "/api/v1/info/investor/:investor_login/equity",
  scope: "investors:read",
  class: "read",
  tag: "Investors",
  summary: "Get what an Investor owns",
  description:
    "Balance, share of what floats now, pending fee, high-water mark, debt, what is free to withdraw, and the units in the pool of the Master, all of one state of the books. `free_to_withdraw` is decided as a withdrawal decides it, and `free_when_flat` as if the Master closed its positions now. 409 `allocation_in_progress` while the Master trades faster than its deals are booked: nothing is shown rather than amounts of different instants.",
  returns: "What the Investor owns.",
  params: Type.Object({ investor_login: investorLogin }),
  reply: EquityReply,
  refusals: ["investor_not_found", "allocation_in_progress", "platform_unavailable", "safety_stop"],

  async call({ subscriptions, funding }, request, context) {
    const wanted = { login: request.investorLogin, amount: moneyToProto(MAX_AMOUNT), comment: "", client: undefined };
    let before = await subscriptions.getEquity(request, context);
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      // Refuses an unknown Investor.
      const withdrawal = await funding.previewWithdraw(wanted, context);
      const equity = await subscriptions.getEquity(request, context);
      if (bookedOf(before) === bookedOf(equity)) return { ...equity, withdrawal };
      before = equity;
    }
    throw refuse("allocation_in_progress", "The account changed in each reading. Send the request again in a second.", {
      retryAfterMs: RETRY_AFTER_MS,
    });
  },
});

/** Whatever is booked in between shows in one of these; the floating result may differ. */
function bookedOf({ balance, unposted, quarantined, holding }: GetEquityResponse): string {
  const amounts = [balance, unposted, quarantined, holding?.pooled, holding?.joining].map(
    (amount) => amount?.minorUnits,
  );
  return [...amounts, holding?.allocationNumber, holding?.units].join();
}
