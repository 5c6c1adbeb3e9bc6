import { Type } from "typebox";
import { investorLogin, masterLogin } from "../schemas/request-fields.ts";
import { NewSubscription, perfFee } from "../schemas/subscription.ts";
import { operationLabelFields } from "../schemas/labels.ts";
import { route } from "../../http/route.ts";

export const assign = route({
  operationId: "assignInvestor",
  method: "POST",
  url: "/api/v1/investor/assign",
  scope: "subscriptions:write",
  class: "money",
  tag: "Subscriptions",
  summary: "Assign an Investor to a Master",
  description:
    "The Investor's balance must be at least the Master's minimum deposit, and the Investor must have no open positions; from then on it may not trade, until it has left the pool. The capital reaches the Master within seconds.",
  returns: "The subscription.",
  body: Type.Object({
    master_login: masterLogin,
    investor_login: investorLogin,
    perf_fee: perfFee,
    ...operationLabelFields,
  }),
  reply: NewSubscription,
  refusals: [
    "master_not_found",
    "investor_not_found",
    "below_min_deposit",
    "investor_has_open_positions",
    "already_subscribed",
    "exit_in_progress",
    "master_not_accepting",
    "investor_previously_subscribed",
    "account_archived",
    "account_busy",
    "safety_stop",
    "platform_rejected",
    "platform_unavailable",
  ],

  call: ({ subscriptions }, { perfFee: { ratePpm, enabled }, ...request }, context) =>
    subscriptions.assign({ ...request, feeRatePpm: ratePpm, feeEnabled: enabled }, context),
});
