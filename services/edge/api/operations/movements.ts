import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inBatches } from "#kernel/batches/in-batches.ts";
import { MAX_TRANSFER_KEYS } from "#kernel/values/limits.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import {
  type Operation,
  OperationAction,
  type OperationLeg,
  OperationOutcome,
} from "#proto/pamm/funding/v1/funding.ts";
import { type TransferLegResult, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { MirroredPart } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../http/route.ts";
import { isFinal, type LegKindName, legKindOf } from "../schemas/operation.ts";

/** What is found out later than this is missing, so that the request is answered within its own time limit. */
export const READ_MOVEMENTS_MS = 2_000;

/** What an operation moves, by the keys of the transfers. */
type Movements = {
  readonly operation: Operation;
  readonly ownKeys: readonly string[];
  /** Of its fees, in the order of collection. */
  readonly dueKeys: readonly string[];
  /** Of a deposit: what it moves on the Master, and the mirror that carries it. */
  readonly parts: readonly MirroredPart[];
};

type Recorder = "fee" | "subscription" | "platform";
/** `unreachable`: the services that could not be asked. What they have recorded is missing. */
type Found<T> = { readonly found: T; readonly unreachable: readonly Recorder[] };

/** Of each operation, in their order. They are read together. */
export async function readMovements(
  { fees, subscriptions }: Deps,
  operations: readonly Operation[],
  context: CallContext,
): Promise<Found<Movements[]>> {
  const feeKeys = operations.map(({ feeKey }) => feeKey).filter((key) => key !== "");
  const [due, mirrored] = await Promise.all([
    ofBatches("fee", feeKeys, (keys) => fees.findDueItems({ keys }, context)),
    ofBatches("subscription", operations.filter(isDeposit).flatMap(ownKeysOf), (keys) =>
      subscriptions.findMirrors({ keys }, context),
    ),
  ]);
  const decided = due.found.flatMap((answer) => answer.decided);
  const dueKeys = new Map(decided.map(({ key, items }) => [key, items.map((item) => item.key)]));
  const parts = Map.groupBy(
    mirrored.found.flatMap(({ items }) => items),
    ({ key }) => key,
  );
  const found = operations.map((operation) => ({
    operation,
    ownKeys: ownKeysOf(operation),
    dueKeys: ofOperation(dueKeys.get(operation.feeKey) ?? []),
    parts: isDeposit(operation) ? ownKeysOf(operation).flatMap((key) => parts.get(key) ?? []) : [],
  }));
  return { found, unreachable: [...due.unreachable, ...mirrored.unreachable] };
}

/** Of all their transfers, each once. */
export function keysOf(movements: readonly Movements[]): string[] {
  const keys = movements.flatMap(({ ownKeys, dueKeys, parts }) => [
    ...ownKeys,
    ...dueKeys,
    ...parts.flatMap(({ mirrorKey }) => mirrorKey ?? []),
  ]);
  return [...new Set(keys)];
}

/** By their keys. */
type Transfers = ReadonlyMap<string, TransferResult>;

export async function readTransfers(
  { platform }: Deps,
  movements: readonly Movements[],
  context: CallContext,
): Promise<Found<Transfers>> {
  const { found, unreachable } = await ofBatches("platform", keysOf(movements), (keys) =>
    platform.readTransfers({ keys }, context),
  );
  return {
    found: new Map(found.flatMap(({ transfers }) => transfers).map((transfer) => [transfer.key, transfer])),
    unreachable,
  };
}

/** The answers for all keys, those left out that cannot be read now. A page needs one call, unless its operations have many transfers. */
async function ofBatches<T>(
  service: Recorder,
  keys: readonly string[],
  read: (some: string[]) => Promise<T>,
): Promise<Found<T[]>> {
  const answers = await Promise.all(inBatches(keys, MAX_PAGE_SIZE).map((some) => read(some).catch(unlessUnreachable)));
  const found = answers.filter((answer) => answer !== undefined);
  return { found, unreachable: found.length < answers.length ? [service] : [] };
}

/** For what is shown without the part that cannot be read now. */
export function unlessUnreachable(error: unknown): undefined {
  if (!isTransientFailure(error)) throw error;
  return undefined;
}

function isDeposit({ action }: Operation): boolean {
  return action === OperationAction.DEPOSIT;
}

function ownKeysOf({ transferKeys }: Operation): readonly string[] {
  return ofOperation(transferKeys);
}

function ofOperation(keys: readonly string[]): readonly string[] {
  return keys.slice(0, MAX_TRANSFER_KEYS);
}

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
