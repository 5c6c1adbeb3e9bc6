import type { CallContext } from "#kernel/contract/contract.ts";
import { inBatches } from "#kernel/in-batches.ts";
import { MAX_TRANSFER_KEYS } from "#kernel/limits.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import { OperationAction, type Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { MirroredPart } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../http/route.ts";

/** What is found out later than this is missing, so that the request is answered within its own time limit. */
export const READ_MOVEMENTS_MS = 2_000;

/** What an operation moves, by the keys of the transfers. */
export type Movements = {
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
export type Transfers = ReadonlyMap<string, TransferResult>;

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

function unlessUnreachable(error: unknown): undefined {
  if (!isTransientFailure(error)) throw error;
  return undefined;
}

export function isDeposit({ action }: Operation): boolean {
  return action === OperationAction.DEPOSIT;
}

function ownKeysOf({ transferKeys }: Operation): readonly string[] {
  return ofOperation(transferKeys);
}

function ofOperation(keys: readonly string[]): readonly string[] {
  return keys.slice(0, MAX_TRANSFER_KEYS);
}
