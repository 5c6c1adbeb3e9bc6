import { Type } from "typebox";
import { bool, choice, list, model, nullableString, setOf, string, text } from "../../fields/field.ts";
import { at, ofWhole, optional, shown } from "../../fields/message.ts";
import { DEFAULT_LIMIT, limit100 } from "../../fields/page.ts";
import { nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { stateOf } from "../../identity/keys/api-key.ts";
import type { ListedKey } from "../../identity/store/api-keys.ts";
import { ANY_KEY, type Scope, SCOPE_MEANINGS, SCOPES } from "../../wire/scopes.ts";

const scopeSet = setOf("Scope", "Right of an API key.", SCOPE_MEANINGS);
const keyState = setOf("KeyState", "Whether a key is accepted.", {
  active: "It is accepted.",
  replaced: "It is accepted until it expires; a newer key of the client replaces it.",
  expired: "It is no longer accepted.",
  revoked: "It was revoked.",
});

const keyIdReply = string({
  description: "Public id of the key, as in the key itself.",
  example: "4fT9kQ2mZx7B",
});
const ownerReply = string({ description: "Name of the key's owner.", example: "crm" });
const scopesReply = shown(
  Type.Array(scopeSet.of("Scope of the key.", "funds:deposit"), { description: "Scopes of the key." }),
  (held: Iterable<Scope>) => {
    const all = new Set(held);
    return SCOPES.filter((scope) => all.has(scope));
  },
);
const environmentReply = (description: string) =>
  choice(
    { live: "A system that moves money.", test: "A system with the simulator." },
    { description, example: "live" },
  );
const expiryReply = nullableTimeReply("When the key expires; null when it does not.");
const allowListReply = bool({
  description: "Whether the key is accepted from some addresses only.",
  example: false,
});

const ListedKeyReply = model(
  "ListedKey",
  "An API key as operators see it: without its secret or anything made of it.",
  {
    key_id: at("id", keyIdReply),
    client: at("name", ownerReply),
    client_id: string({
      description: "Id of the first key of the chain of rotations; all keys of a client have the same.",
      example: "4fT9kQ2mZx7B",
    }),
    state: ofWhole(keyState.of("Whether the key is accepted.", "active"), shownState),
    scopes: scopesReply,
    environment: environmentReply("Environment of the key; the system accepts those of its own only."),
    has_allow_list: allowListReply,
    rejects_duplicates: at(
      "duplicateComment",
      shown(
        bool({
          description: "Whether money requests of the key that equal an executed one of the last 24 hours are refused.",
          example: false,
        }),
        (comment: ListedKey["duplicateComment"]) => comment === "reject",
      ),
    ),
    replaces: nullableString({
      description: "Id of the key that it replaces; null for the first of a client.",
      example: null,
    }),
    replaced_by: nullableString({ description: "Id of the key that replaces it; null without one.", example: null }),
    created_at: timeReply("When the key was created."),
    expires_at: expiryReply,
    revoked_at: nullableTimeReply("When the key was revoked; null when it was not."),
    last_used_at: nullableTimeReply("When the key was last used, to the minute or so; null when never."),
  },
);

function shownState(key: ListedKey): (typeof keyState.values)[number] {
  const state = stateOf(key, new Date());
  return state === "active" && key.replacedBy !== null ? "replaced" : state;
}

export const listApiKeys = route("GET /api/v1/ops/keys", {
  scope: "ops",
  summary: "List API keys",
  description:
    "All keys of the system, the newest first, also those that are no longer accepted, with their scopes, last use and rotation. No response has a secret, a hash, or an address from which a key is accepted. Keys are created, rotated and revoked by a command on the machine of the service.",
  returns: "A page of keys.",
  query: {
    limit: limit100(DEFAULT_LIMIT),
    cursor: optional(
      at(
        "afterId",
        text("key_id", {
          description: "Only keys that are older than this one. Use next_cursor.",
          example: "4fT9kQ2mZx7B",
          shown: { pattern: "^[0-9A-Za-z]{12}$" },
        }),
      ),
    ),
  },
  reply: model("ListedKeyPage", "A page of API keys. Newest first.", {
    items: list(ListedKeyReply, { description: "Newest first." }),
    next_cursor: nullableString({
      description: "Cursor of the next page, the id of the last key; null on the last one.",
      example: null,
    }),
    has_more: bool({ description: "Whether another page follows.", example: false }),
    has_bootstrap_key: shown(
      bool({
        description: "Whether the system was started with a bootstrap key, which has every scope and is not listed.",
        example: false,
      }),
      (has: boolean | undefined) => has ?? false,
    ),
    bootstrap_used_at: nullableTimeReply("When a bootstrap key was last used; null when never."),
  }),

  async call({ keys }, request) {
    const { keys: items, hasMore, system } = await keys.list(request);
    return { items, hasMore, nextCursor: hasMore ? items.at(-1)?.id : undefined, ...system };
  },
});

export const getApiKey = route("GET /api/v1/whoami", {
  scope: ANY_KEY,
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

  call: async (_deps, _request, { client, key }) => ({ ...key, client: client.owner, keyId: client.keyId }),
});
