/** A key that may send such a command may read its outcome, and so may a key that reads Investors. */
export const READERS = {
  scope: "investors:read",
  orScopes: ["funds:deposit", "funds:withdraw", "subscriptions:write"],
} as const;
