/** ASSIGNING and ABORTED are ours alone: nobody outside sees a subscription that has not begun. */
export type SubscriptionStatus = "ASSIGNING" | "ACTIVE" | "PAUSED" | "CANCELLED" | "ABORTED";

export const VISIBLE_STATUSES = ["ACTIVE", "PAUSED", "CANCELLED"] as const satisfies readonly SubscriptionStatus[];
export type VisibleStatus = (typeof VISIBLE_STATUSES)[number];

export type LifecycleEvent =
  /** The baseline is taken and the Investor's capital is on its way into the pool. */
  | "assigned"
  /** The assignment was refused, or nobody decided it in time. */
  | "refused"
  /** The Investor has left the pool; something of it is still to leave. */
  | "left"
  /** The Investor has left the pool and nothing of it is anywhere. */
  | "left_empty"
  /** The last cent has left the Master. */
  | "emptied";

/** Every move there is. What is not here cannot happen; the statements in store make the same moves by compare-and-set. */
const MOVES: Readonly<Record<SubscriptionStatus, { readonly [Event in LifecycleEvent]?: SubscriptionStatus }>> = {
  ASSIGNING: { assigned: "ACTIVE", refused: "ABORTED" },
  ACTIVE: { left: "PAUSED", left_empty: "CANCELLED" },
  PAUSED: { emptied: "CANCELLED" },
  CANCELLED: {},
  ABORTED: {},
};

/** Undefined when the event cannot happen in this state. */
export function after(status: SubscriptionStatus, event: LifecycleEvent): SubscriptionStatus | undefined {
  return MOVES[status][event];
}

/** An Investor has at most one of these. */
export function isOpen(status: SubscriptionStatus): boolean {
  return status === "ASSIGNING" || status === "ACTIVE" || status === "PAUSED";
}

/** The Investor's capital is in the Master's pool. */
export function isInPool(status: SubscriptionStatus): boolean {
  return status === "ACTIVE";
}
