import { Type } from "typebox";
import { InvestorProfile } from "../schemas/investor.ts";
import { at } from "../../fields/message.ts";
import { investorId } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const getInvestor = route({
  operationId: "getInvestor",
  method: "GET",
  url: "/api/v1/investor/:investor_id",
  scope: "investors:read",
  class: "read",
  tag: "Investors",
  summary: "Get an Investor",
  description: "By internal id, not by login.",
  returns: "The Investor.",
  params: Type.Object({ investor_id: at("id", investorId) }),
  reply: InvestorProfile,
  refusals: ["investor_not_found"],
  call: ({ accounts }, request, context) => accounts.getInvestorProfile(request, context),
});
