import { Type } from "typebox";
import { feeConfiguration, FeeConfigurationReply } from "../../schemas/fee.ts";
import { investorLogin } from "../../schemas/request-fields.ts";
import { route } from "../../route.ts";

export const getFee = route({
  method: "GET",
  url: "/api/v1/investor/:investor_login/performance-fee",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "Get a fee configuration",
  description: "Returns the version in force, or the first scheduled one.",
  params: Type.Object({ investor_login: investorLogin }),
  reply: FeeConfigurationReply,
  refusals: ["investor_not_found", "fee_configuration_not_found"],

  async handle({ fees }, { params }, context) {
    return feeConfiguration(await fees.getConfiguration({ investorLogin: params.investor_login }, context));
  },
});
