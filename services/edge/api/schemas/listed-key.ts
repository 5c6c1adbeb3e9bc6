import { Type } from "typebox";
import { type Scope, SCOPE_MEANINGS, SCOPES } from "../../wire/scopes.ts";
import type { ListedKey } from "../../identity/store/api-keys.ts";
import { bool, choice, model, nullableString, setOf, string } from "../../fields/field.ts";
import { at, ofWhole, shown } from "../../fields/message.ts";
import { nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";

const scopeSet = setOf("Scope", "Right of an API key.", SCOPE_MEANINGS);
const keyState = setOf("KeyState", "Whether a key is accepted.", {
  active: "It is accepted.",
  replaced: "It is accepted until it expires; a newer key of the client replaces it.",
  expired: "It is no longer accepted.",
  revoked: "It was revoked.",
});

export const keyIdReply = string({
  description: "Public id of the key, as in the key itself.",
  example: "4fT9kQ2mZx7B",
});
export const ownerReply = string({ description: "Name of the key's owner.", example: "crm" });
export const scopesReply = shown(
  Type.Array(scopeSet.of("Scope of the key.", "funds:deposit"), { description: "Scopes of the key." }),
  (held: Iterable<Scope>) => {
    const all = new Set(held);
    return SCOPES.filter((scope) => all.has(scope));
  },
);
export const environmentReply = (description: string) =>
  choice(
    { live: "A system that moves money.", test: "A system with the simulator." },
    { description, example: "live" },
  );
export const expiryReply = nullableTimeReply("When the key expires; null when it does not.");
export const allowListReply = bool({
  description: "Whether the key is accepted from some addresses only.",
  example: false,
});

export const ListedKeyReply = model(
  "ListedKey",
  "An API key as operators see it: without its secret or anything made of it.",
  {
    key_id: at("id", keyIdReply),
    client: at("name", ownerReply),
    client_id: string({
      description: "Id of the first key of the chain of rotations; all keys of a client have the same.",
      example: "4fT9kQ2mZx7B",
    }),
    state: ofWhole(keyState.of("Whether the key is accepted.", "active"), stateOf),
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

function stateOf({ revokedAt, expiresAt, replacedBy }: ListedKey): (typeof keyState.values)[number] {
  if (revokedAt !== null) return "revoked";
  if (expiresAt !== null && expiresAt <= new Date()) return "expired";
  return replacedBy === null ? "active" : "replaced";
}
