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

/**
 * A transfer request of the service for one account: without an account lock, for the full amount, without a send
 * deadline.
 */
export function transferRequest(own: {
  readonly key: string;
  readonly leg: TransferLeg;
  readonly enqueue: boolean;
}): TransferRequest {
  const { key, leg, enqueue } = own;
  return { key, lockOwner: "", legs: [leg], upTo: undefined, enqueue, comment: "", sendBefore: undefined };
}

/** The state of a transfer for operators: why it waits or was refused. */
export function describe({ state, refusalCode }: TransferResult): string {
  return refusalCode === "" ? STATE[state] : `${STATE[state]}: ${refusalCode}`;
}
