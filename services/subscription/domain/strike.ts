import { type Change, move } from "./places.ts";

/** Capital that joins or leaves what works in a pool. */
export type PoolFlow =
  /** Was mirrored, and waits. */
  | { readonly kind: "inflow"; readonly amount: bigint }
  /** Awaits its debit (reserved), or the mirror of a debit or exit that has happened (outbound). */
  | { readonly kind: "outflow"; readonly to: "reserved" | "outbound"; readonly amount: bigint };

/**
 * The one function through which capital joins and leaves P: who works in a pool, and from when, is decided here and
 * nowhere else.
 */
export function strike(flow: PoolFlow): Change {
  switch (flow.kind) {
    case "inflow":
      return move("waiting", "pooled", flow.amount);
    case "outflow":
      return move("pooled", flow.to, flow.amount);
  }
}
