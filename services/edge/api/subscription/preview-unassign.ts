import assert from "node:assert/strict";
import { Type } from "typebox";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { isPositive, negate } from "#kernel/money.ts";
import type { DepartureFigures } from "#proto/pamm/subscription/v1/subscription.ts";
import { blockingFields, blockingReply } from "../schemas/blocking.ts";
import { bool, model, nullableDecimal } from "../../fields/field.ts";
import { nullableDecimalReply } from "../schemas/reply-fields.ts";
import { investorLogin, masterLogin } from "../schemas/request-fields.ts";
import { EndingSubscription, subscriptionFields } from "../schemas/subscription.ts";
import { route } from "../../http/route.ts";
import { moneyNumber, moneyText } from "../../wire/money.ts";

export const previewUnassign = route({
  operationId: "previewUnassignment",
  method: "POST",
  url: "/api/v1/subscriptions/unassign/preview",
  scope: "subscriptions:write",
  class: "read",
  changesNothing: true,
  tag: "Subscriptions",
  summary: "Preview an unassignment",
  description:
    "Says what `POST /api/v1/subscriptions/unassign` with the same parameters would do now, and everything for which it would be refused. Nothing is executed, locked or recorded. While the Master has open positions, the figures are those of its closed trades.",
  returns: "What the unassignment would do.",
  query: Type.Object({ master_login: masterLogin, investor_login: investorLogin }),
  reply: model(
    "UnassignmentPreview",
    "What an unassignment would do now. Figures are null while they cannot be read.",
    {
      ...blockingFields,
      subscription: EndingSubscription,
      payout_enqueued: bool({ description: "Whether an exit transfer would leave the Master.", example: true }),
      amount: nullableDecimal({ description: "What would leave the Master: negative, or 0.", example: -250.5 }),
      perf_fee_pending: nullableDecimalReply("Performance fee that would be collected first."),
      balance_before: nullableDecimalReply("Balance of the Investor before the fee."),
      available_after_perf_fee: nullableDecimalReply("What is left of it after the fee, without funds under review."),
    },
  ),
  refusals: ["master_not_found", "investor_not_found", "subscription_not_found"],

  async handle({ subscriptions }, { query }, context) {
    const pair = { masterLogin: query.master_login, investorLogin: query.investor_login };
    const { refusals, subscription, figures } = await subscriptions.previewUnassign(pair, context);
    assert(subscription !== undefined, "the subscription is missing in the preview");
    return {
      ...blockingReply(refusals),
      subscription: {
        ...subscriptionFields(subscription),
        master_login: subscription.masterLogin,
        investor_login: subscription.investorLogin,
      },
      ...figuresOf(figures),
    };
  },
});

function figuresOf(figures: DepartureFigures | undefined) {
  if (figures === undefined) {
    const texts = { perf_fee_pending: null, balance_before: null, available_after_perf_fee: null };
    return { payout_enqueued: false, amount: null, ...texts };
  }
  const leaving = moneyFromProto(figures.effective);
  return {
    payout_enqueued: isPositive(leaving),
    amount: moneyNumber(moneyToProto(negate(leaving))),
    perf_fee_pending: moneyText(figures.pendingFee),
    balance_before: moneyText(figures.balanceBefore),
    available_after_perf_fee: moneyText(figures.availableAfterFee),
  };
}
