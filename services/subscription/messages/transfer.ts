import {
  type TransferLeg,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";

const STATE: Readonly<Record<TransferState, string>> = {
  [TransferState.UNSPECIFIED]: "unspecified",
  [TransferState.PENDING]: "pending",
  [TransferState.UNKNOWN]: "unknown",
  [TransferState.APPLIED]: "applied",
  [TransferState.REFUSED]: "refused",
  [TransferState.REVIEW]: "review",
};

/** A transfer of one leg whose amount was calculated in a generation of platform's permits. */
type CalculatedTransfer = { readonly key: string; readonly leg: TransferLeg; readonly generation: bigint };

/** A queued transfer request for one account: without an account lock, for the full amount, without a send deadline. */
export function queuedTransfer({ key, leg, generation }: CalculatedTransfer): TransferRequest {
  return {
    generation,
    key,
    lockOwner: "",
    legs: [leg],
    upTo: undefined,
    enqueue: true,
    comment: "",
    sendBefore: undefined,
    releaseLock: false,
  };
}

/** The state of a transfer for operators: why it waits or was refused. */
export function stateText({ state, refusalCode }: TransferResult): string {
  return refusalCode === "" ? STATE[state] : `${STATE[state]}: ${refusalCode}`;
}

/** Refused because the amount is above the free margin, or the balance. */
export function isForMargin({ refusalCode }: TransferResult): boolean {
  return refusalCode === "insufficient_funds";
}
