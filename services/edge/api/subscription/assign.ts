import assert from "node:assert/strict";
import { Type } from "typebox";
import { enabled, investorLogin, masterLogin, rate } from "../schemas/request-fields.ts";
import { NewSubscription, subscriptionFields } from "../schemas/subscription.ts";
import { labelsOf, operationLabelFields } from "../schemas/labels.ts";
import { route } from "../../http/route.ts";
import { decimalText } from "../../wire/json-body.ts";
import { ratePpm } from "../../wire/rate.ts";
import { timestamp } from "../../wire/timestamp.ts";

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
    perf_fee: Type.Object({ rate, enabled }, { description: "Performance fee from the start of the subscription." }),
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

  async handle({ subscriptions }, { body }, context) {
    const { subscription } = await subscriptions.assign(
      {
        masterLogin: body.master_login,
        investorLogin: body.investor_login,
        feeRatePpm: ratePpm(decimalText(body.perf_fee, "rate")),
        feeEnabled: body.perf_fee.enabled,
        labels: labelsOf(body),
      },
      context,
    );
    assert(subscription !== undefined, "the subscription is missing in the answer");
    return {
      ...subscriptionFields(subscription),
      master_id: subscription.masterId,
      investor_id: subscription.investorId,
      balance_baseline_op_id: subscription.balanceBaselineOpId,
      created_at: timestamp(subscription.createdAt),
    };
  },
});
