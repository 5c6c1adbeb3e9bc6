import type { CallContext } from "#kernel/contract/contract.ts";
import { refusalFromProto } from "#kernel/contract/error.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type { PreviewHoldRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";

/** The account as a saga would find it when it has the account lock. */
export type AccountFacts = { readonly balance: bigint; readonly logNumber: bigint; readonly openPositions: number };

export type LockPreview = {
  /** Why the account lock would be refused, in the words of platform. */
  readonly refusals: readonly Refusal[];
  /** Undefined while the account cannot be read. */
  readonly facts: AccountFacts | undefined;
};

export async function previewLock(
  { platform }: Deps,
  request: PreviewHoldRequest,
  context: CallContext,
): Promise<LockPreview> {
  try {
    const { refusals, facts } = await platform.previewHold(request, queryContext(context));
    if (facts === undefined) return { refusals: refusals.map(refusalFromProto), facts };
    const { balance, logNumber, openPositions } = facts;
    return {
      refusals: refusals.map(refusalFromProto),
      facts: { balance: moneyFromProto(balance, "balance").minor, logNumber, openPositions },
    };
  } catch (error) {
    if (error instanceof Refusal) return { refusals: [error], facts: undefined };
    throw error;
  }
}
