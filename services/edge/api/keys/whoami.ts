import { ANY_KEY } from "../../wire/scopes.ts";
import { model } from "../../fields/field.ts";
import { at } from "../../fields/message.ts";
import {
  allowListReply,
  environmentReply,
  expiryReply,
  keyIdReply,
  ownerReply,
  scopesReply,
} from "../schemas/listed-key.ts";
import { route } from "../../http/route.ts";

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
    client: ownerReply,
    key_id: keyIdReply,
    scopes: scopesReply,
    environment: environmentReply("Environment of the system and of its keys."),
    expires_at: expiryReply,
    has_allow_list: at("isLimitedToAddresses", allowListReply),
  }),
  refusals: [],

  call: async (_deps, _request, { client, key }) => ({ ...key, client: client.owner, keyId: client.keyId }),
});
