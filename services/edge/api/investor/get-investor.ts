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
  examples: [
    {
      name: "investor",
      summary: "An Investor",
      request: { params: { investor_id: "8" } },
      answer: {
        engine: "PAMM",
        id: 8,
        mt5_login: "3000003",
        name: "Ada",
        email: "ada@example.com",
        external_id: "CRM-7001",
        metadata: { segment: "retail" },
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
  call: ({ accounts }, request, context) => accounts.getInvestorProfile(request, context),
});
