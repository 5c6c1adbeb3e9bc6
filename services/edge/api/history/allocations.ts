import type { CallContext } from "#kernel/contract/contract.ts";
import type { Amendment } from "#proto/pamm/platform/v1/platform.ts";
import type { InvestorAllocation } from "#proto/pamm/subscription/v1/subscription.ts";
import { model, modelOrNull, setOf } from "../../fields/field.ts";
import { at, optional, or } from "../../fields/message.ts";
import { DEFAULT_LIMIT, limit500, OpaquePage } from "../../fields/page.ts";
import {
  idReply,
  masterLoginReply,
  moneyReply,
  nullableMoneyReply,
  ticketReply,
  timeReply,
  unitsReply,
} from "../../fields/reply-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import type { Deps } from "../../http/route.ts";
import { investorLogin } from "../schemas/request-fields.ts";
import { dayKind, periodErrors, periodFrom, periodOf, periodTo } from "./periods.ts";

const amendmentKind = setOf(
  "AmendmentKind",
  "What became of a deal on the trading platform after its result was allocated.",
  {
    deal_gone: "It was deleted.",
    deal_changed: "It was changed.",
    deal_cancelled: "It was cancelled.",
  },
);

const CorrectionReply = model(
  "DealCorrection",
  "A deal that the trading platform has amended after its result was allocated.",
  {
    kind: at("reason", amendmentKind.known("What became of the deal.", "deal_changed")),
    found_at: timeReply("When it was found."),
    amount: at(
      "corrected",
      nullableMoneyReply(
        "Difference that operators have booked on the Master's account since: one amount for all deals that were amended until then. It belongs to no Investor: what was allocated stays. Null while they have booked nothing.",
        -10.5,
      ),
    ),
  },
);

const AllocationReply = model("Allocation", "The part of an Investor in one result of its Master.", {
  master_login: masterLoginReply(),
  subscription_id: idReply("Id of the subscription.", 4),
  number: idReply("Number of the result among those of the Master.", 17),
  deal_id: ticketReply("Ticket of the Master's deal."),
  deal_at: timeReply("Time of the deal."),
  allocated_at: timeReply("When the result was allocated."),
  deal_result: at(
    "result",
    moneyReply("Result of the deal for the whole pool: profit, swap, commission and fee; signed.", 600),
  ),
  amount: moneyReply("Part of the Investor; signed.", 100),
  units: unitsReply("Units of the Investor by which it was shared."),
  pool_units: unitsReply("Units of the whole pool, as `units`.", 6000),
  correction: modelOrNull(CorrectionReply, "What became of the deal since; null when nothing did."),
});

export const listAllocations = pageRoute("GET /api/v1/info/investor/:investor_login/allocations", {
  scope: "investors:read",
  summary: "List an Investor's parts of results",
  description:
    "The part of the Investor in each result of the Masters that it has followed, newest first. Parts of 0.00 are left out. `from` and `to` are times of `allocated_at`. A page may have fewer items than its limit, also none, while `has_more` is true: go on with `next_cursor`. Results reach the account as postings, which the statement lists; one posting may cover several results.",
  returns: "A page of parts.",
  params: { investor_login: investorLogin },
  filter: { from: optional(periodFrom), to: optional(periodTo), day: or(dayKind, "utc") },
  limit: limit500(DEFAULT_LIMIT),
  cursor: "pair",
  reply: OpaquePage("AllocationPage", AllocationReply, "Newest first."),
  refusals: ["investor_not_found"],
  check: ({ query }, deps) => periodErrors(query, deps),

  async call(deps, { investorLogin, limit, ...period }, after, context) {
    const before = after && { subscriptionId: after[0], number: after[1] };
    const request = { investorLogin, ...periodOf(period, deps), before, limit };
    const [{ items, next }] = await Promise.all([
      deps.subscriptions.listInvestorAllocations(request, context),
      deps.accounts.findInvestor({ login: investorLogin }, context),
    ]);
    const amendments = await amendmentsOf(deps, items, context);
    return { items: items.map((item) => ({ ...item, correction: amendments.get(nameOf(item)) })), next };
  },
  next: ({ next }) => next && [next.subscriptionId, next.number],
});

/** By Master and deal. */
async function amendmentsOf(
  { platform }: Deps,
  items: readonly InvestorAllocation[],
  context: CallContext,
): Promise<ReadonlyMap<string, Amendment>> {
  const byMaster = Map.groupBy(items, ({ masterLogin }) => masterLogin);
  const found = await Promise.all(
    Array.from(byMaster, async ([masterLogin, parts]) => {
      const dealIds = [...new Set(parts.map(({ dealId }) => dealId))];
      const { amendments } = await platform.findAmendments({ login: masterLogin, dealIds }, context);
      return amendments.map((amendment) => [nameOf({ masterLogin, dealId: amendment.dealId }), amendment] as const);
    }),
  );
  return new Map(found.flat());
}

function nameOf({ masterLogin, dealId }: Pick<InvestorAllocation, "masterLogin" | "dealId">): string {
  return `${masterLogin}/${dealId}`;
}
