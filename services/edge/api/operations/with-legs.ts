import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import {
  OperationAction,
  OperationOutcome,
  type Operation,
  type OperationLeg,
} from "#proto/pamm/funding/v1/funding.ts";
import { type TransferLegResult, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { MirroredPart } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../http/route.ts";
import { isFinal, legKindOf, type LegKindName } from "../schemas/operation.ts";
import {
  isDeposit,
  type Movements,
  READ_MOVEMENTS_MS,
  readMovements,
  readTransfers,
  type Transfers,
} from "./read-movements.ts";

/** Operations with their recorded movements. Those that cannot be read now are omitted. */
export async function withLegs(
  deps: Deps,
  operations: readonly Operation[],
  context: CallContext,
): Promise<Operation[]> {
  const within = childContext(context, { withinMs: READ_MOVEMENTS_MS });
  const movements = await readMovements(deps, operations, within);
  const transfers = await readTransfers(deps, movements.found, within);
  return movements.found.map((moved) => show(moved, transfers.found));
}

/** Fees first, in the order of collection; the mirrors of a deposit last. */
function show({ operation, dueKeys, ownKeys, parts }: Movements, transfers: Transfers): Operation {
  const legsUnder = (keys: readonly string[]): OperationLeg[] =>
    keys.flatMap((key) => transfers.get(key)?.legs.map(legOf) ?? []);
  const own = legsUnder(ownKeys);
  const legs = [
    ...legsUnder(dueKeys),
    ...own,
    ...parts.map((part) => mirrorLegOf(part, transfers.get(part.mirrorKey ?? ""))),
  ];
  return legs.length === 0 ? operation : upToDate({ ...operation, reference: own[0]?.reference ?? "", legs }, own[0]);
}

/** Platform records an outcome before the recovery job of funding does. */
function upToDate(operation: Operation, own: OperationLeg | undefined): Operation {
  const isOneMovement = isDeposit(operation) || operation.action === OperationAction.WITHDRAW;
  if (own === undefined || !isOneMovement || isFinal(operation) || !isFinal(own)) return operation;
  return { ...operation, outcome: own.outcome, dealId: own.dealId };
}

const OUTCOMES: Readonly<Record<TransferState, OperationOutcome>> = {
  [TransferState.UNSPECIFIED]: OperationOutcome.UNKNOWN,
  [TransferState.PENDING]: OperationOutcome.PENDING,
  [TransferState.UNKNOWN]: OperationOutcome.UNKNOWN,
  [TransferState.APPLIED]: OperationOutcome.EXECUTED,
  [TransferState.REFUSED]: OperationOutcome.NOT_EXECUTED,
  [TransferState.REVIEW]: OperationOutcome.REVIEW,
};

function legOf({ login, kind, amount, state, dealId, reference, appliedAt }: TransferLegResult): OperationLeg {
  return {
    login,
    kind: legKindOf(kind),
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
function mirrorLegOf(
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
