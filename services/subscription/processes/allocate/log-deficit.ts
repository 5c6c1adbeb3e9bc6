import type { Log } from "#kernel/log.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";

/** Investors cannot join the pool until its equity is positive again. */
export function logDeficit(tx: Transaction, log: Log, { login, dealId }: { login: string; dealId: bigint }): void {
  afterCommit(tx, () => log.error("pool is in deficit; no Investor can join it", { login, ticket: dealId }));
}
