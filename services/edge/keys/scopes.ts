/** The rights that an API key may have. Every route requires one of them. */
export const SCOPES = [
  "masters:read",
  "masters:write",
  "investors:read",
  "investors:write",
  "subscriptions:read",
  "subscriptions:write",
  "funds:deposit",
  "funds:withdraw",
  "fees:read",
  "fees:write",
  "secrets:read",
  "ops",
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
