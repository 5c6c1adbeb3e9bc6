import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import type { LeaveDecision } from "../../domain/decide-leave.ts";
import type { Leave } from "../../store/leaves.ts";

/** A leave whose gate is closed. */
export type GatedLeave = Leave & { readonly subscriptionId: bigint; readonly masterLogin: string };

/** What an Investor has, on the account and in the pool. */
export type LeavingBooks = { readonly account: AccountBook; readonly holding: HoldingBook };

/** A decision that is carried out in the commit that makes it final. */
export type Leaving = {
  readonly leave: GatedLeave;
  readonly books: LeavingBooks;
  readonly decision: LeaveDecision;
  readonly at: Date;
};
