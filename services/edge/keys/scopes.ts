/** The rights that an API key may have. Every route requires one of them. */
export const SCOPES = [
  "masters:read",
  "masters:write",
  "masters:close",
  "investors:read",
  "investors:write",
  "investors:erase",
  "subscriptions:read",
  "subscriptions:write",
  "funds:deposit",
  "funds:withdraw",
  "fees:read",
  "fees:write",
  "secrets:read",
  "ops",
  "events",
  "webhooks",
] as const;

export type Scope = (typeof SCOPES)[number];

/** Of a route that any valid key may call. It is written like a scope, so that a route without one is a mistake. */
export const ANY_KEY = "any key";

export type RequiredScope = Scope | typeof ANY_KEY;

/** One of these is enough; none is needed where the list is empty. */
export function requiredScopes(route: {
  readonly scope: RequiredScope;
  readonly orScopes?: readonly Scope[];
}): readonly Scope[] {
  return route.scope === ANY_KEY ? [] : [route.scope, ...(route.orScopes ?? [])];
}

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
