/** Whoever may give such a command may ask what became of it, and so may whoever reads Investors. */
export const READERS = {
  scope: "investors:read",
  orScopes: ["funds:deposit", "funds:withdraw", "subscriptions:write"],
} as const;
