import { inBatches } from "#kernel/in-batches.ts";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { MAX_TRANSFER_KEYS } from "#kernel/limits.ts";
import { Refusal } from "#kernel/refusal.ts";
import {
  OperationAction,
  OperationOutcome,
  type Operation,
  type OperationLeg,
} from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferLegResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../route.ts";
import { isFinal, type LegKindName } from "../../schemas/operation.ts";

/** Operations that are read at the same time: each is several calls, and a service accepts a limited number at once. */
const AT_ONCE = 8;
/** Legs that cannot be read in this time are omitted, so that the request is answered within its own time limit. */
const READ_LEGS_MS = 2_000;

const OUTCOMES: Readonly<Record<TransferState, OperationOutcome>> = {
  [TransferState.UNSPECIFIED]: OperationOutcome.UNKNOWN,
  [TransferState.PENDING]: OperationOutcome.PENDING,
  [TransferState.UNKNOWN]: OperationOutcome.UNKNOWN,
  [TransferState.APPLIED]: OperationOutcome.EXECUTED,
  [TransferState.REFUSED]: OperationOutcome.NOT_EXECUTED,
  [TransferState.REVIEW]: OperationOutcome.REVIEW,
};

const KINDS: Partial<Readonly<Record<MovementKind, LegKindName>>> = {
  [MovementKind.DEPOSIT]: "deposit",
  [MovementKind.WITHDRAWAL]: "withdrawal",
  [MovementKind.FEE_DEBIT]: "fee_debit",
  [MovementKind.FEE_CREDIT]: "fee_credit",
  [MovementKind.MIRROR]: "mirror",
  [MovementKind.EXIT]: "exit",
  [MovementKind.REVERSAL]: "reversal",
};

/** Operations with their recorded movements. Legs that cannot be read now are omitted. */
export async function withLegs(
  deps: Deps,
  operations: readonly Operation[],
  context: CallContext,
): Promise<Operation[]> {
  const limited = childContext(context, { withinMs: READ_LEGS_MS });
  const shown: Operation[] = [];
  for (const some of inBatches(operations, AT_ONCE)) {
    shown.push(...(await Promise.all(some.map((operation) => show(deps, operation, limited)))));
  }
  return shown;
}

/** Fees first, in the order of collection. */
async function show(deps: Deps, operation: Operation, context: CallContext): Promise<Operation> {
  const { feeKey, transferKeys } = operation;
  if (feeKey === "" && transferKeys.length === 0) return operation;
  const [fees, own] = await Promise.all([
    feeKeys(deps, feeKey, context).then((keys) => legsUnder(deps, keys, context)),
    legsUnder(deps, transferKeys, context),
  ]);
  const legs = [...fees, ...own];
  return upToDate({ ...operation, reference: own[0]?.reference ?? "", legs }, own[0]);
}

/** Platform records an outcome before the recovery job of funding does. */
function upToDate(operation: Operation, own: OperationLeg | undefined): Operation {
  const isOneMovement = operation.action === OperationAction.DEPOSIT || operation.action === OperationAction.WITHDRAW;
  if (own === undefined || !isOneMovement || isFinal(operation) || !isFinal(own)) return operation;
  return { ...operation, outcome: own.outcome, dealId: own.dealId };
}

async function feeKeys({ fees }: Deps, key: string, context: CallContext): Promise<string[]> {
  if (key === "") return [];
  const answer = await orNothing(fees.listDueItems({ key }, context));
  return answer?.items.map((item) => item.key) ?? [];
}

async function legsUnder({ platform }: Deps, keys: readonly string[], context: CallContext): Promise<OperationLeg[]> {
  const requested = keys.slice(0, MAX_TRANSFER_KEYS).map((key) => orNothing(platform.getTransfer({ key }, context)));
  return (await Promise.all(requested)).flatMap((transfer) => transfer?.legs.map(legOf) ?? []);
}

/** Undefined when nothing is recorded under the key, or it cannot be read now. */
async function orNothing<T>(query: Promise<T>): Promise<T | undefined> {
  return await query.catch((error: unknown) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
}

function legOf({ login, kind, amount, state, dealId, reference, appliedAt }: TransferLegResult): OperationLeg {
  return {
    login,
    kind: KINDS[kind] ?? "",
    amount,
    outcome: OUTCOMES[state],
    dealId: dealId === 0n ? undefined : dealId,
    reference,
    appliedAt,
  };
}
