import { moneyToProto } from "#kernel/contract/money.ts";
import { tellAll } from "#kernel/feed/tell.ts";
import { usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { MasterStopped, PoolInDeficit, ResultUnallocated } from "#proto/pamm/subscription/v1/events.ts";
import { E8_PER_CENT } from "../domain/pool/unit-pool.ts";

/** For people: what is not as it should be with a pool. */
export const POOL_FEED = "subscription.pools";

type OfDeal = { readonly masterLogin: string; readonly dealId: bigint };

export async function tellUnallocated(
  tx: Transaction,
  facts: readonly (OfDeal & { readonly amount: bigint })[],
): Promise<void> {
  await tellAll(
    tx,
    facts.map(({ masterLogin, dealId, amount }) => ({
      feed: POOL_FEED,
      event: ResultUnallocated,
      message: { masterLogin, dealId, amount: moneyToProto(usd(amount)) },
    })),
  );
}

/** The equity is in units of 1e-8 and negative; told in cents, away from zero. */
export async function tellDeficit(
  tx: Transaction,
  facts: readonly (OfDeal & { readonly equity: bigint })[],
): Promise<void> {
  await tellAll(
    tx,
    facts.map(({ masterLogin, dealId, equity }) => ({
      feed: POOL_FEED,
      event: PoolInDeficit,
      message: { masterLogin, dealId, equity: moneyToProto(usd((equity - E8_PER_CENT + 1n) / E8_PER_CENT)) },
    })),
  );
}

export async function tellStopped(
  tx: Transaction,
  facts: readonly { readonly login: string; readonly reason: string }[],
): Promise<void> {
  await tellAll(
    tx,
    facts.map(({ login: masterLogin, reason }) => ({
      feed: POOL_FEED,
      event: MasterStopped,
      message: { masterLogin, reason },
    })),
  );
}
