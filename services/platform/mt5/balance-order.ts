/** What is to be moved, and what has to be known before and after it leaves. */
export type BalanceOrder = {
  readonly login: string;
  /** Signed change of the balance, not the new one. */
  readonly amountMinor: bigint;
  /** At most 31 characters; the platform cuts the rest without a word. */
  readonly comment: string;
  /** Whether a debit above the free margin is refused. */
  readonly checkMargin: boolean;
  /** Somebody is told the ticket, so what stands under it is looked at first. */
  readonly isTold?: boolean;
  /** Asked once, right before the bytes leave; false means that none does. */
  readonly mayWrite: () => boolean;
  /** The bytes have left, and no answer is there yet. */
  readonly onWritten?: () => void;
};
