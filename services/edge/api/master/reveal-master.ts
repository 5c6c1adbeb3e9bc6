import { Type } from "typebox";
import { masterLogin } from "../schemas/request-fields.ts";
import { RevealedMaster } from "../schemas/master.ts";
import { route } from "../../http/route.ts";
import { at } from "../../fields/message.ts";

export const revealMaster = route({
  operationId: "getMasterWithPasswords",
  method: "GET",
  url: "/api/v1/info/master/:master_login",
  scope: "secrets:read",
  class: "read",
  tag: "Masters",
  summary: "Get a Master with its passwords",
  description: "For authorised back ends only. Every call is audited. Do not log the response body.",
  returns: "The Master with the passwords of its trading account.",
  params: Type.Object({ master_login: at("login", masterLogin) }),
  reply: RevealedMaster,
  refusals: ["master_not_found"],
  examples: [
    {
      name: "created",
      summary: "An account that was created here",
      request: { params: { master_login: "3000001" } },
      answer: {
        id: 7,
        mt5_login: "3000001",
        name: "Alpha Strategy",
        mt5_password: "Main-1234",
        mt5_investor_password: "Read-1234",
        strategy_name: "Alpha",
        strategy: "Trend following.",
        payment_account_login: "3000002",
        min_deposit: 100.5,
        created_at: "2026-01-02T03:04:05.678000",
        investors_count: 2,
      },
    },
  ],
  revealsSecrets: true,
  call: ({ accounts }, request, context) => accounts.revealMaster(request, context),
});
