import { Type } from "typebox";
import { ANY_KEY, SCOPES } from "../../identity/keys/scopes.ts";
import { bool, choice, model, string } from "../../fields/field.ts";
import { scopeSet } from "../../fields/scope.ts";
import { nullableTimeReply } from "../schemas/reply-fields.ts";
import { route } from "../../http/route.ts";
import { nullableTimestamp } from "../../wire/timestamp.ts";

export const whoami = route({
  operationId: "getApiKey",
  method: "GET",
  url: "/api/v1/whoami",
  scope: ANY_KEY,
  class: "read",
  tag: "API keys",
  summary: "Get the API key of the request",
  description: "What the key permits, and until when. The response has no secret.",
  returns: "The key of the request.",
  reply: model("ApiKey", "An API key, without its secret.", {
    client: string({ description: "Name of the key's owner.", example: "crm" }),
    key_id: string({ description: "Public id of the key, as in the key itself.", example: "4fT9kQ2mZx7B" }),
    scopes: Type.Array(scopeSet.of("Scope of the key.", "funds:deposit"), { description: "Scopes of the key." }),
    environment: choice(
      { live: "A system that moves money.", test: "A system with the simulator." },
      { description: "Environment of the system and of its keys.", example: "live" },
    ),
    expires_at: nullableTimeReply("When the key expires; null when it does not."),
    has_allow_list: bool({
      description: "Whether the key is accepted from some addresses only.",
      example: false,
    }),
  }),
  refusals: [],

  async handle(_deps, _input, { client, key }) {
    return {
      client: client.owner,
      key_id: client.keyId,
      scopes: SCOPES.filter((scope) => key.scopes.has(scope)),
      environment: key.environment,
      expires_at: nullableTimestamp(key.expiresAt ?? undefined),
      has_allow_list: key.isLimitedToAddresses,
    };
  },
});
