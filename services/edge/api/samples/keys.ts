import type { ListedKey } from "../../identity/store/api-keys.ts";
import { AT } from "./values.ts";

export function aListedKey(overrides: Partial<ListedKey> = {}): ListedKey {
  return {
    id: "KeyOfAnna001",
    environment: "test",
    name: "anna",
    scopes: ["masters:read", "ops"],
    hasAllowList: false,
    duplicateComment: "allow",
    clientId: "KeyOfAnna001",
    replaces: null,
    replacedBy: null,
    createdAt: AT,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...overrides,
  };
}
