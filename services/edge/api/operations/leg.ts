import { OperationOutcome, type OperationLeg } from "#proto/pamm/funding/v1/funding.ts";
import { type TransferLegResult, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { MirroredPart } from "#proto/pamm/subscription/v1/subscription.ts";
import { KIND_NAMES, type LegKindName } from "../schemas/operation.ts";

const OUTCOMES: Readonly<Record<TransferState, OperationOutcome>> = {
  [TransferState.UNSPECIFIED]: OperationOutcome.UNKNOWN,
  [TransferState.PENDING]: OperationOutcome.PENDING,
  [TransferState.UNKNOWN]: OperationOutcome.UNKNOWN,
  [TransferState.APPLIED]: OperationOutcome.EXECUTED,
  [TransferState.REFUSED]: OperationOutcome.NOT_EXECUTED,
  [TransferState.REVIEW]: OperationOutcome.REVIEW,
};

export function legOf({ login, kind, amount, state, dealId, reference, appliedAt }: TransferLegResult): OperationLeg {
  return {
    login,
    kind: KIND_NAMES[kind] ?? "",
    amount,
    outcome: OUTCOMES[state],
    dealId: dealId === 0n ? undefined : dealId,
    reference,
    appliedAt,
    waitsFor: "",
  };
}

/**
 * The part of a mirror that follows from a deposit. Parts that cancel out are applied without a transfer; one that platform has refused goes
 * into the next mirror, so it is not executed yet rather than refused.
 */
export function mirrorLegOf(
  { masterLogin: login, amount, appliedAt, isHeld, isMasterArchived }: MirroredPart,
  transfer: TransferResult | undefined,
): OperationLeg {
  const [leg] = transfer?.legs.map(legOf) ?? [];
  const heldFor = isMasterArchived ? "master_not_shown" : "pool_deficit";
  const open =
    leg === undefined || leg.outcome === OperationOutcome.NOT_EXECUTED ? OperationOutcome.PENDING : leg.outcome;
  return {
    login,
    kind: "mirror" satisfies LegKindName,
    amount,
    outcome: appliedAt === undefined ? open : OperationOutcome.EXECUTED,
    dealId: leg?.dealId,
    reference: leg?.reference ?? "",
    appliedAt: leg?.appliedAt ?? appliedAt,
    waitsFor: isHeld ? heldFor : "",
  };
}
