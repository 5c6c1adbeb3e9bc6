import { Type } from "typebox";
import { bool, list, model, nullableString, text } from "../../fields/field.ts";
import { at, shown } from "../../fields/message.ts";
import { ListedKeyReply } from "../schemas/listed-key.ts";
import { nullableTimeReply } from "../../fields/reply-fields.ts";
import { DEFAULT_LIMIT, limit100 } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const listKeys = route({
  operationId: "listApiKeys",
  method: "GET",
  url: "/api/v1/ops/keys",
  scope: "ops",
  class: "read",
  tag: "API keys",
  summary: "List API keys",
  description:
    "All keys of the system, the newest first, also those that are no longer accepted, with their scopes, last use and rotation. No response has a secret, a hash, or an address from which a key is accepted. Keys are created, rotated and revoked by a command on the machine of the service.",
  returns: "A page of keys.",
  query: Type.Object({
    limit: limit100(DEFAULT_LIMIT),
    cursor: Type.Optional(
      at(
        "afterId",
        text("key_id", {
          description: "Only keys that are older than this one. Use next_cursor.",
          example: "4fT9kQ2mZx7B",
          shown: { pattern: "^[0-9A-Za-z]{12}$" },
        }),
      ),
    ),
  }),
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
  refusals: [],

  async call({ keys }, request) {
    const { keys: items, hasMore, system } = await keys.list(request);
    return { items, hasMore, nextCursor: hasMore ? items.at(-1)?.id : undefined, ...system };
  },
});
