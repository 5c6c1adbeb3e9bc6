import { Type } from "typebox";
import { blockingFields } from "../schemas/blocking.ts";
import { bool, model } from "../../fields/field.ts";
import { always } from "../../fields/message.ts";
import { decimalReply, idReply, nullableDecimalReply } from "../../fields/reply-fields.ts";
import { investorLogin, masterLogin } from "../schemas/request-fields.ts";
import { perfFee, subscriptionStatus } from "../schemas/subscription.ts";
import { route } from "../../http/route.ts";

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
    perf_fee: perfFee,
  }),
  reply: model("AssignmentPreview", "What an assignment would do now.", {
    ...blockingFields,
    master_id: idReply("Internal id of the Master.", 7),
    investor_id: idReply("Internal id of the Investor.", 8),
    status: always(subscriptionStatus.of("Status that the subscription would have.", "ACTIVE"), "ACTIVE"),
    in_pool: always(bool({ description: "Whether the capital would be in the Master's pool.", example: true }), true),
    balance: nullableDecimalReply("Balance that would join the pool; null while the account cannot be read."),
    min_deposit: decimalReply("Minimum deposit of the Master."),
  }),
  refusals: ["master_not_found", "investor_not_found"],

  call: ({ subscriptions }, { perfFee: { ratePpm }, ...pair }, context) =>
    subscriptions.previewAssign({ ...pair, feeRatePpm: ratePpm }, context),
});
