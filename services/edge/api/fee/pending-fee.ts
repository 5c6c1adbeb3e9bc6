import { Type } from "typebox";
import { calculationReply, linesReply } from "../schemas/fee-explanation.ts";
import { bool, list, model, nullableString } from "../../fields/field.ts";
import { decimalReply, investorLoginReply, masterLoginReply, timeReply } from "../../fields/reply-fields.ts";
import { investorLogin } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

const Debt = model("PendingFeeDebt", "Fees that were due before and could not be collected.", {
  master_login: masterLoginReply("Login of the Master to whom it is owed."),
  amount: decimalReply("What is owed."),
  owed_since: timeReply("Since when the oldest part is owed."),
});

export const getPendingFee = route({
  operationId: "getPendingFee",
  method: "GET",
  url: "/api/v1/investor/:investor_login/performance-fee/pending",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "Get the pending fee",
  description:
    "What would be collected if everything were crystallised now, decided by the same rule as a week and a withdrawal, without any effect. With a flat Master it is what a withdrawal shows as `perf_fee_pending_at_request`; an open loss lowers it, as at the end of a week. `calculation.through_deal_id` says up to which deal results count.",
  returns: "The pending fee.",
  params: Type.Object({ investor_login: investorLogin }),
  reply: model("PendingFee", "What would be collected if everything were crystallised now.", {
    investor_login: investorLoginReply(),
    master_login: nullableString({
      description: "Master of the pool that the Investor is in; null outside a pool, when only debts are pending.",
      example: "3000001",
    }),
    enabled: bool({ description: "Whether fees are collected now; if not, nothing is pending.", example: true }),
    at: timeReply("The instant of this decision."),
    pending: decimalReply("What would be collected: `fee` and `debt`, less `prepaid`."),
    fee: decimalReply("The fee for the profit above the high-water mark."),
    debt: decimalReply("Debts to all Masters."),
    prepaid: decimalReply("The part of it that was collected before a restore of the database."),
    open_weekly: decimalReply("Fees of closed weeks that are decided and not collected yet; not part of `pending`."),
    calculation: calculationReply("How the fee is calculated; null outside a pool, and while fees are switched off."),
    debts: list(Debt, { description: "The debts, the oldest first; at most 100 items." }),
    lines: linesReply,
  }),
  refusals: ["investor_not_found", "allocation_in_progress", "safety_stop", "platform_unavailable"],
  call: ({ fees }, request, context) => fees.getPendingFee(request, context),
});
