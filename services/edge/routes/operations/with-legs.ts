import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { MAX_TRANSFER_KEYS } from "#kernel/limits.ts";
import { OperationAction, type Operation, type OperationLeg } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../../route.ts";
import { isFinal } from "../../schemas/operation.ts";
import { legOf, mirrorLegOf } from "./leg.ts";
import { type Mirrors, readDueKeys, readMirrors, readTransfers, type Transfers } from "./read-legs.ts";

/** Legs that cannot be read in this time are omitted, so that the request is answered within its own time limit. */
const READ_LEGS_MS = 2_000;

type Read = {
  /** The transfers of the fees of each operation, by its fee key. */
  readonly dueKeys: ReadonlyMap<string, readonly string[]>;
  /** What each transfer moves on a Master. */
  readonly mirrors: Mirrors;
  readonly transfers: Transfers;
};

/** Operations with their recorded movements, which are read together for all. Those that cannot be read now are omitted. */
export async function withLegs(
  deps: Deps,
  operations: readonly Operation[],
  context: CallContext,
): Promise<Operation[]> {
  const limited = childContext(context, { withinMs: READ_LEGS_MS });
  const feeKeys = operations.map(({ feeKey }) => feeKey).filter((key) => key !== "");
  const [dueKeys, mirrors] = await Promise.all([
    readDueKeys(deps, feeKeys, limited),
    readMirrors(deps, operations.filter(isDeposit).flatMap(ownKeys), limited),
  ]);
  const mirrorKeys = [...mirrors.values()].flat().flatMap(({ mirrorKey }) => mirrorKey ?? []);
  const keys = [...[...dueKeys.values()].flatMap(ofOperation), ...operations.flatMap(ownKeys), ...mirrorKeys];
  const transfers = await readTransfers(deps, [...new Set(keys)], limited);
  return operations.map((operation) => show(operation, { dueKeys, mirrors, transfers }));
}

/** Fees first, in the order of collection; the mirrors of a deposit last. */
function show(operation: Operation, { dueKeys, mirrors, transfers }: Read): Operation {
  const legsUnder = (keys: readonly string[]): OperationLeg[] =>
    keys.flatMap((key) => transfers.get(key)?.legs.map(legOf) ?? []);
  const own = legsUnder(ownKeys(operation));
  const mirrored = isDeposit(operation) ? ownKeys(operation).flatMap((key) => mirrors.get(key) ?? []) : [];
  const legs = [
    ...legsUnder(ofOperation(dueKeys.get(operation.feeKey) ?? [])),
    ...own,
    ...mirrored.map((part) => mirrorLegOf(part, transfers.get(part.mirrorKey ?? ""))),
  ];
  return legs.length === 0 ? operation : upToDate({ ...operation, reference: own[0]?.reference ?? "", legs }, own[0]);
}

/** Platform records an outcome before the recovery job of funding does. */
function upToDate(operation: Operation, own: OperationLeg | undefined): Operation {
  const isOneMovement = isDeposit(operation) || operation.action === OperationAction.WITHDRAW;
  if (own === undefined || !isOneMovement || isFinal(operation) || !isFinal(own)) return operation;
  return { ...operation, outcome: own.outcome, dealId: own.dealId };
}

function isDeposit({ action }: Operation): boolean {
  return action === OperationAction.DEPOSIT;
}

function ownKeys({ transferKeys }: Operation): readonly string[] {
  return ofOperation(transferKeys);
}

function ofOperation(keys: readonly string[]): readonly string[] {
  return keys.slice(0, MAX_TRANSFER_KEYS);
}
