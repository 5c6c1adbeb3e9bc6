import { Type, type Static } from "typebox";
import { SCOPES } from "../../identity/keys/scopes.ts";
import type { ListedKey } from "../../identity/store/listed-keys.ts";
import { nullableTimestamp, timestamp } from "../../wire/timestamp.ts";
import { bool, choice, model, nullableString, setOf, string } from "../../fields/field.ts";
import { nullableTimeReply, timeReply } from "./reply-fields.ts";
import { scopeSet } from "../../fields/scope.ts";

const keyState = setOf("KeyState", "Whether a key is accepted.", {
  active: "It is accepted.",
  replaced: "It is accepted until it expires; a newer key of the client replaces it.",
  expired: "It is not accepted any more.",
  revoked: "It was revoked.",
});

export const ListedKeyReply = model(
  "ListedKey",
  "An API key as operators see it: without its secret or anything made of it.",
  {
    key_id: string({ description: "Public id of the key, as in the key itself.", example: "4fT9kQ2mZx7B" }),
    client: string({ description: "Name of the key's owner.", example: "crm" }),
    client_id: string({
      description: "Id of the first key of the chain of rotations; all keys of a client have the same.",
      example: "4fT9kQ2mZx7B",
    }),
    state: keyState.of("Whether the key is accepted.", "active"),
    scopes: Type.Array(scopeSet.of("Scope of the key.", "funds:deposit"), { description: "Scopes of the key." }),
    environment: choice(
      { live: "A system that moves money.", test: "A system with the simulator." },
      { description: "Environment of the key; the system accepts those of its own only.", example: "live" },
    ),
    has_allow_list: bool({ description: "Whether the key is accepted from some addresses only.", example: false }),
    rejects_duplicates: bool({
      description: "Whether money requests of the key that equal an executed one of the last 24 hours are refused.",
      example: false,
    }),
    replaces: nullableString({
      description: "Id of the key that it replaces; null for the first of a client.",
      example: null,
    }),
    replaced_by: nullableString({ description: "Id of the key that replaces it; null without one.", example: null }),
    created_at: timeReply("When the key was created."),
    expires_at: nullableTimeReply("When the key expires; null when it does not."),
    revoked_at: nullableTimeReply("When the key was revoked; null when it was not."),
    last_used_at: nullableTimeReply("When the key was last used, to the minute or so; null when never."),
  },
);

export function keyItem(key: ListedKey, at: Date): Static<typeof ListedKeyReply> {
  return {
    key_id: key.id,
    client: key.name,
    client_id: key.clientId,
    state: stateOf(key, at),
    scopes: SCOPES.filter((scope) => key.scopes.includes(scope)),
    environment: key.environment,
    has_allow_list: key.hasAllowList,
    rejects_duplicates: key.duplicateComment === "reject",
    replaces: key.replaces,
    replaced_by: key.replacedBy,
    created_at: timestamp(key.createdAt),
    expires_at: nullableTimestamp(key.expiresAt ?? undefined),
    revoked_at: nullableTimestamp(key.revokedAt ?? undefined),
    last_used_at: nullableTimestamp(key.lastUsedAt ?? undefined),
  };
}

function stateOf({ revokedAt, expiresAt, replacedBy }: ListedKey, at: Date): (typeof keyState.values)[number] {
  if (revokedAt !== null) return "revoked";
  if (expiresAt !== null && expiresAt <= at) return "expired";
  return replacedBy === null ? "active" : "replaced";
}
