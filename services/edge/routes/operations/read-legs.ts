import { inBatches } from "#kernel/in-batches.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { MirroredPart } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../route.ts";

/** By their keys. */
export type Transfers = ReadonlyMap<string, TransferResult>;
/** By the key of the transfer on the Investor. */
export type Mirrors = ReadonlyMap<string, readonly MirroredPart[]>;

/** The keys of the fees that were decided under each key. */
export async function readDueKeys(
  { fees }: Deps,
  keys: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const answers = await ofBatches(keys, (some) => fees.findDueItems({ keys: some }, context));
  const decided = answers.flatMap((answer) => answer.decided);
  return new Map(decided.map(({ key, items }) => [key, items.map((item) => item.key)]));
}

export async function readMirrors(
  { subscriptions }: Deps,
  keys: readonly string[],
  context: CallContext,
): Promise<Mirrors> {
  const answers = await ofBatches(keys, (some) => subscriptions.findMirrors({ keys: some }, context));
  return Map.groupBy(
    answers.flatMap(({ items }) => items),
    ({ key }) => key,
  );
}

export async function readTransfers(
  { platform }: Deps,
  keys: readonly string[],
  context: CallContext,
): Promise<Transfers> {
  const answers = await ofBatches(keys, (some) => platform.readTransfers({ keys: some }, context));
  return new Map(answers.flatMap(({ transfers }) => transfers).map((transfer) => [transfer.key, transfer]));
}

/** The answers for all keys, those left out that cannot be read now. A page needs one call, unless its operations have many transfers. */
async function ofBatches<T>(keys: readonly string[], read: (some: string[]) => Promise<T>): Promise<T[]> {
  const answers = await Promise.all(
    inBatches(keys, MAX_PAGE_SIZE).map((some) =>
      read(some).catch((error: unknown) => {
        if (error instanceof Refusal) return undefined;
        throw error;
      }),
    ),
  );
  return answers.filter((answer) => answer !== undefined);
}
