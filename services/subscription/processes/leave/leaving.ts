import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import type { LeaveDecision } from "../../domain/decide-leave.ts";
import type { Leave } from "../../store/leaves.ts";

/** A leave whose gate is closed. */
export type GatedLeave = Leave & { readonly subscriptionId: bigint; readonly masterLogin: string };

/** The account and the holding of an Investor that leaves. */
export type LeavingBooks = { readonly account: AccountBook; readonly holding: HoldingBook };

/** A decision, carried out in the commit that records it. */
export type Leaving = {
  readonly leave: GatedLeave;
  readonly books: LeavingBooks;
  readonly decision: LeaveDecision;
  readonly at: Date;
};
