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
  revealsSecrets: true,
  call: ({ accounts }, request, context) => accounts.revealMaster(request, context),
});
