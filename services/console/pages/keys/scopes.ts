import type { Scope } from "../../session/session.ts";

export type { Scope };

/** As in the OpenAPI document. */
export const MEANINGS: Readonly<Record<Scope, string>> = {
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
};

export const SCOPES = Object.keys(MEANINGS) as Scope[];
