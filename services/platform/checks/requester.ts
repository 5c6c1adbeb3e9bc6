/** A service that requests transfers. */
export const REQUESTERS = ["fee", "funding", "subscription"] as const;
export type Requester = (typeof REQUESTERS)[number];

/** By the first part of its key, who has a row behind a transfer: a service, a review of this one, or the import of lost deals. */
const REQUESTER_OF: Readonly<Record<string, Requester | "review" | "import">> = {
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
export function requesterOf(key: string): Requester | "review" | "import" | undefined {
  const [name = ""] = key.split(":", 1);
  return Object.hasOwn(REQUESTER_OF, name) ? REQUESTER_OF[name] : undefined;
}
