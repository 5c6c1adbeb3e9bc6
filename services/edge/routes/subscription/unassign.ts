import assert from "node:assert/strict";
import { Type } from "typebox";
import { bool, nullableInteger } from "../../schemas/field.ts";
import { moneyReply } from "../../schemas/reply-fields.ts";
import { investorLogin, masterLogin } from "../../schemas/request-fields.ts";
import {
  endedAtReply,
  inPoolReply,
  investorLoginReply,
  masterLoginReply,
  startedAtReply,
  statusReply,
  subscriptionFields,
  subscriptionIdReply,
} from "../../schemas/subscription.ts";
import { route } from "../../route.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber } from "../../wire/money.ts";

export const unassign = route({
  method: "POST",
  url: "/api/v1/subscriptions/unassign",
  scope: "subscriptions:write",
  class: "money",
  tag: "Subscriptions",
  summary: "Unassign an Investor from its Master",
  description:
    "Settles pending fees and begins the exit. PAUSED means in progress: poll the subscription until it is CANCELLED. Parameters come from the query; a body is ignored.",
  query: Type.Object({ master_login: masterLogin, investor_login: investorLogin }),
  reply: Type.Object({
    subscription: Type.Object({
      id: subscriptionIdReply,
      master_login: masterLoginReply,
      investor_login: investorLoginReply,
      status: statusReply,
      in_pool: inPoolReply,
      started_at: startedAtReply,
      ended_at: endedAtReply,
    }),
    payout_enqueued: bool({ description: "Whether an exit transfer leaves the Master.", example: true }),
    mt5_transfer_id: nullableInteger({
      description: "Id of the exit transfer; null when nothing leaves the Master.",
      example: 7,
    }),
    amount: moneyReply("What leaves the Master: negative, or 0.", -250.5),
  }),
  refusals: [
    "master_not_found",
    "investor_not_found",
    "subscription_not_found",
    "subscription_not_active",
    "exit_in_progress",
    "master_open_positions",
    "allocation_in_progress",
    "investor_deficit",
    "account_busy",
    "safety_stop",
    "platform_unavailable",
  ],

  async handle({ subscriptions }, { query }, context) {
    const { subscription, payoutEnqueued, transferId, amount } = await subscriptions.unassign(
      { masterLogin: query.master_login, investorLogin: query.investor_login },
      context,
    );
    assert(subscription !== undefined, "the subscription is missing in the answer");
    return {
      subscription: {
        ...subscriptionFields(subscription),
        master_login: subscription.masterLogin,
        investor_login: subscription.investorLogin,
      },
      payout_enqueued: payoutEnqueued,
      mt5_transfer_id: transferId === undefined ? null : jsonInteger(transferId),
      amount: moneyNumber(amount),
    };
  },
});
