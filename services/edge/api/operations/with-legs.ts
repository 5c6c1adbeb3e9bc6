import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { OperationAction, type Operation, type OperationLeg } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../../http/route.ts";
import { isFinal } from "../schemas/operation.ts";
import { legOf, mirrorLegOf } from "./leg.ts";
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
