/** A service that requests transfers. */
export const OWNERS = ["fee", "funding", "subscription"] as const;
export type Owner = (typeof OWNERS)[number];

/** By the first part of its key, who has a row behind a transfer: a service, a review of this one, or the import of lost deals. */
const OWNER_OF: Readonly<Record<string, Owner | "review" | "import">> = {
  funding: "funding",
  fee: "fee",
  subscription: "subscription",
  withdrawal: "subscription",
  exit: "subscription",
  posting: "subscription",
  review: "review",
  imported: "import",
};

/** Undefined for a key that no service requests. */
export function ownerOf(key: string): Owner | "review" | "import" | undefined {
  const [name = ""] = key.split(":", 1);
  return Object.hasOwn(OWNER_OF, name) ? OWNER_OF[name] : undefined;
}
