import assert from "node:assert/strict";
import { Type } from "typebox";
import { idReply, timeReply } from "../../schemas/reply-fields.ts";
import { enabled, investorLogin, masterLogin, rate } from "../../schemas/request-fields.ts";
import {
  endedAtReply,
  inPoolReply,
  startedAtReply,
  statusReply,
  subscriptionFields,
  subscriptionIdReply,
} from "../../schemas/subscription.ts";
import { route } from "../../route.ts";
import { decimalText } from "../../wire/json-body.ts";
import { ratePpm } from "../../wire/rate.ts";
import { timestamp } from "../../wire/timestamp.ts";

export const assign = route({
  method: "POST",
  url: "/api/v1/investor/assign",
  scope: "subscriptions:write",
  class: "money",
  tag: "Subscriptions",
  summary: "Assign an Investor to a Master",
  description:
    "The Investor's balance must be at least the Master's minimum deposit, and the Investor must have no open positions. The capital reaches the Master within seconds.",
  body: Type.Object({
    master_login: masterLogin,
    investor_login: investorLogin,
    perf_fee: Type.Object({ rate, enabled }, { description: "Performance fee from the start of the subscription." }),
  }),
  reply: Type.Object({
    id: subscriptionIdReply,
    master_id: idReply("Internal id of the Master."),
    investor_id: idReply("Internal id of the Investor."),
    status: statusReply,
    in_pool: inPoolReply,
    started_at: startedAtReply,
    balance_baseline_op_id: idReply("Id of the movement at which the baseline was taken."),
    ended_at: endedAtReply,
    created_at: timeReply("When the subscription was recorded."),
  }),
  refusals: [
    "master_not_found",
    "investor_not_found",
    "below_min_deposit",
    "investor_has_open_positions",
    "already_subscribed",
    "exit_in_progress",
    "investor_previously_subscribed",
    "account_busy",
    "safety_stop",
    "platform_unavailable",
  ],

  async handle({ subscriptions }, { body }, context) {
    const { subscription } = await subscriptions.assign(
      {
        masterLogin: body.master_login,
        investorLogin: body.investor_login,
        feeRatePpm: ratePpm(decimalText(body.perf_fee, "rate")),
        feeEnabled: body.perf_fee.enabled,
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
