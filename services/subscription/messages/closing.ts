import { type Closing as ClosingMessage, ClosingState } from "#proto/pamm/subscription/v1/subscription.ts";
import { blockOf, type LeftInPool } from "../domain/closing.ts";
import type { Closing } from "../store/closings.ts";

export function closingMessage(closing: Closing, { investors, exits }: LeftInPool): ClosingMessage {
  const { masterLogin, state, requestedAt, archivedAt, progressedAt, reason } = closing;
  return {
    masterLogin,
    state: ClosingState[state],
    requestedAt,
    archivedAt: archivedAt ?? undefined,
    progressedAt,
    investorsLeft: investors,
    exitsInProgress: exits,
    blockedBy: blockOf(reason),
  };
}
