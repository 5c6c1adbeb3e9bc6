import { Type } from "typebox";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { isPositive, negate } from "#kernel/money.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import type { DepartureFigures } from "#proto/pamm/subscription/v1/subscription.ts";
import { blockingFields } from "../schemas/blocking.ts";
import { bool, model, nullableDecimal } from "../../fields/field.ts";
import { at, shown, withinOrNull } from "../../fields/message.ts";
import { nullableDecimalReply } from "../../fields/reply-fields.ts";
import { investorLogin, masterLogin } from "../schemas/request-fields.ts";
import { EndingSubscription } from "../schemas/subscription.ts";
import { route } from "../../http/route.ts";
import type { JsonNumber } from "../../wire/json-number.ts";
import { moneyNumber } from "../../wire/money.ts";

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
      payout_enqueued: at(
        "figures",
        shown(
          bool({ description: "Whether an exit transfer would leave the Master.", example: true }),
          (figures: DepartureFigures | undefined) =>
            figures !== undefined && isPositive(moneyFromProto(figures.effective)),
        ),
      ),
      ...withinOrNull("figures", {
        amount: at(
          "effective",
          shown(
            nullableDecimal({ description: "What would leave the Master: negative, or 0.", example: -250.5 }),
            (leaving: Money | undefined): JsonNumber | null =>
              moneyNumber(moneyToProto(negate(moneyFromProto(leaving)))),
          ),
        ),
        perf_fee_pending: at("pendingFee", nullableDecimalReply("Performance fee that would be collected first.")),
        balance_before: nullableDecimalReply("Balance of the Investor before the fee."),
        available_after_perf_fee: at(
          "availableAfterFee",
          nullableDecimalReply("What is left of it after the fee, without funds under review."),
        ),
      }),
    },
  ),
  refusals: ["master_not_found", "investor_not_found", "subscription_not_found"],

  call: ({ subscriptions }, request, context) => subscriptions.previewUnassign(request, context),
});
