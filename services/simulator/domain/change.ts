import type { Account } from "./account.ts";
import type { Deal } from "./deal.ts";
import type { Group } from "./group.ts";
import type { Quote, TradingSession } from "./market.ts";
import type { Position } from "./position.ts";

/** Everything that can happen to the books. The journal is a list of these, and nothing else is kept. */
export type Change =
  /** Added, or replaced as a whole. */
  | { readonly kind: "account"; readonly account: Account }
  | { readonly kind: "account_removed"; readonly login: number }
  /** Made together: either all of them are in the journal or none. Balances and positions follow from them. */
  | { readonly kind: "deals"; readonly deals: readonly Deal[] }
  /** Edited or deleted by hand; as on the platform this leaves balances and positions as they are. */
  | { readonly kind: "deal_edited"; readonly deal: Deal }
  | { readonly kind: "deal_removed"; readonly ticket: number }
  | { readonly kind: "balance_fixed"; readonly login: number; readonly balance: bigint; readonly credit: bigint }
  /** Added, or replaced as a whole. */
  | { readonly kind: "group"; readonly group: Group }
  | { readonly kind: "quote"; readonly quote: Quote }
  | { readonly kind: "session"; readonly session: TradingSession }
  /** A restart lost the deals from this ticket on, and what they did. */
  | { readonly kind: "forgotten"; readonly fromTicket: number }
  /** The next two stand in a compacted journal only: what was there, without its effects. */
  | { readonly kind: "history"; readonly deal: Deal }
  | { readonly kind: "position"; readonly position: Position }
  | { readonly kind: "counters"; readonly counters: Counters };

export type Counters = {
  readonly nextDeal: number;
  readonly nextOrder: number;
  readonly nextLogin: number;
  /** Of all deals, by the wall clock. */
  readonly lastTimeMsc: number;
};
