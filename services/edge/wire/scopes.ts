/** The rights that an API key may have. Every route requires one of them. */
export const SCOPE_MEANINGS = {
  "masters:read": "read Masters, their results, and who follows them",
  "masters:write": "create, register and change Masters",
  "masters:close": "close a Master for good: every Investor leaves",
  "investors:read": "read Investors, balances, equity, statements and operations",
  "investors:write": "create, register and change Investors",
  "investors:erase": "erase the personal data of closed Investors for good",
  "subscriptions:read": "read subscriptions and the reconciliation report of a Master",
  "subscriptions:write": "assign and unassign Investors",
  "funds:deposit": "deposit",
  "funds:withdraw": "withdraw",
  "fees:read": "read fee configurations, payments and credits",
  "fees:write": "change fee configurations, and with `masters:write` the payment account of a Master",
  "secrets:read": "read the platform passwords of accounts; every call is audited",
  ops: "reconciliation and reviews, for operators",
  events: "read events of all accounts, of the types whose subjects the key may read",
  webhooks: "manage the webhooks of the client, which are sent what `events` reads",
} as const;

export type Scope = keyof typeof SCOPE_MEANINGS;

export const SCOPES = Object.keys(SCOPE_MEANINGS) as readonly Scope[];

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
