import { Type } from "typebox";
import { blockingFields, blockingReply } from "../schemas/blocking.ts";
import { bool, model } from "../../fields/field.ts";
import { decimalReply, idReply, nullableDecimalReply } from "../schemas/reply-fields.ts";
import { enabled, investorLogin, masterLogin, rate } from "../schemas/request-fields.ts";
import { subscriptionStatus } from "../schemas/subscription.ts";
import { route } from "../../http/route.ts";
import { decimalText } from "../../wire/json-body.ts";
import { moneyText } from "../../wire/money.ts";
import { ratePpm } from "../../wire/rate.ts";

export const previewAssign = route({
  operationId: "previewAssignment",
  method: "POST",
  url: "/api/v1/investor/assign/preview",
  scope: "subscriptions:write",
  class: "read",
  changesNothing: true,
  tag: "Subscriptions",
  summary: "Preview an assignment",
  description:
    "Says what `POST /api/v1/investor/assign` with the same body would do now, and everything for which it would be refused. Nothing is executed, locked or recorded.",
  returns: "What the assignment would do.",
  body: Type.Object({
    master_login: masterLogin,
    investor_login: investorLogin,
    perf_fee: Type.Object({ rate, enabled }, { description: "Performance fee from the start of the subscription." }),
  }),
  reply: model("AssignmentPreview", "What an assignment would do now.", {
    ...blockingFields,
    master_id: idReply("Internal id of the Master.", 7),
    investor_id: idReply("Internal id of the Investor.", 8),
    status: subscriptionStatus.of("Status that the subscription would have.", "ACTIVE"),
    in_pool: bool({ description: "Whether the capital would be in the Master's pool.", example: true }),
    balance: nullableDecimalReply("Balance that would join the pool; null while the account cannot be read."),
    min_deposit: decimalReply("Minimum deposit of the Master."),
  }),
  refusals: ["master_not_found", "investor_not_found"],

  async handle({ subscriptions }, { body }, context) {
    const preview = await subscriptions.previewAssign(
      {
        masterLogin: body.master_login,
        investorLogin: body.investor_login,
        feeRatePpm: ratePpm(decimalText(body.perf_fee, "rate")),
      },
      context,
    );
    return {
      ...blockingReply(preview.refusals),
      master_id: preview.masterId,
      investor_id: preview.investorId,
      status: "ACTIVE" as const,
      in_pool: true,
      balance: preview.balance === undefined ? null : moneyText(preview.balance),
      min_deposit: moneyText(preview.minDeposit),
    };
  },
});
