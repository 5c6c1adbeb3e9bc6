import { Type } from "typebox";
import { model, nullableString } from "../../fields/field.ts";
import { nullableTimeReply } from "../../fields/reply-fields.ts";
import { investorLogin } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const getActiveMaster = route({
  operationId: "getActiveMaster",
  method: "GET",
  url: "/api/v1/info/investor/:investor_login/master",
  scope: "investors:read",
  class: "read",
  tag: "Investors",
  summary: "Get the active Master of an Investor",
  description: "All three fields are null when the Investor has no active Master.",
  returns: "The Master that the Investor follows; three nulls when it follows none.",
  params: Type.Object({ investor_login: investorLogin }),
  reply: model("ActiveMaster", "The Master that an Investor follows.", {
    master_login: nullableString({ description: "Trading login of the Master.", example: "3000001" }),
    name: nullableString({ description: "Alias of the Master.", example: "Alpha Strategy" }),
    started_at: nullableTimeReply("When the subscription began."),
  }),
  refusals: ["investor_not_found"],
  call: ({ subscriptions }, request, context) => subscriptions.getActiveMaster(request, context),
});
