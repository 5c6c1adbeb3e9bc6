import { Type } from "typebox";
import { moneyToProto } from "#kernel/contract/money.ts";
import { MAX_AMOUNT } from "#kernel/money.ts";
import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { GetEquityResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import { refuse } from "../../problems/refusals.ts";
import { EquityReply, equityReply } from "../schemas/equity.ts";
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
  examples: [
    {
      name: "floating",
      summary: "A Master with an open position",
      request: { params: { investor_login: "3000003" } },
      answer: {
        investor_login: "3000003",
        as_of: "2026-01-02T03:04:05.678000",
        currency: "USD",
        balance: 1000,
        unposted_result: 0,
        floating_share: 450,
        equity: 1450,
        external_funds: 0,
        pending_fee: 30,
        debt: 0,
        high_water_mark: 500,
        free_to_withdraw: 0,
        free_when_flat: 1330,
        withdrawal_blocked_by: ["master_open_positions"],
        in_pool: true,
        pool: {
          master_login: "3000001",
          subscription_id: 4,
          pooled: 1000,
          joining: 0,
          units: 1000,
          pool_units: 6000,
          nav_per_unit: 1.45,
          open_positions: 1,
          as_of_deal_id: 1234567,
          as_of_deal_at: "2026-01-02T03:04:05.678000",
        },
      },
    },
    {
      name: "outside",
      summary: "An Investor outside a pool",
      request: { params: { investor_login: "3000004" } },
      answer: {
        investor_login: "3000004",
        as_of: "2026-01-02T03:04:05.678000",
        currency: "USD",
        balance: 250.5,
        unposted_result: 0,
        floating_share: 0,
        equity: 250.5,
        external_funds: 0,
        pending_fee: 0,
        debt: 0,
        high_water_mark: 0,
        free_to_withdraw: 250.5,
        free_when_flat: 250.5,
        withdrawal_blocked_by: [],
        in_pool: false,
        pool: null,
      },
    },
  ],

  async handle(deps, { params }, context) {
    const login = params.investor_login;
    const wanted = { login, amount: moneyToProto(MAX_AMOUNT), comment: "", client: undefined };
    let before = await deps.subscriptions.getEquity({ investorLogin: login }, context);
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      // Refuses an unknown Investor.
      const withdrawal = await deps.funding.previewWithdraw(wanted, context);
      const equity = await deps.subscriptions.getEquity({ investorLogin: login }, context);
      if (isSameState(before, equity)) return equityReply({ equity, withdrawal });
      before = equity;
    }
    throw refuse("allocation_in_progress", "The account changed in each reading. Send the request again in a second.", {
      retryAfterMs: RETRY_AFTER_MS,
    });
  },
});

/** Whatever was booked in between shows in one of these; the floating result may differ. */
function isSameState(left: GetEquityResponse, right: GetEquityResponse): boolean {
  return bookedOf(left) === bookedOf(right);
}

function bookedOf({ balance, unposted, quarantined, holding }: GetEquityResponse): string {
  const amounts = [balance, unposted, quarantined, holding?.pooled, holding?.joining].map(
    (amount) => amount?.minorUnits,
  );
  return [...amounts, holding?.allocationNumber, holding?.units].join();
}
