/** What a key may be allowed to do. Every route names exactly one. */
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
