import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { leaveToOperators } from "../domain/quarantine.ts";
import { adoptExternalFunds, lockPooled } from "../processes/adopt-external-funds.ts";
import { saveAccounts } from "../store/books.ts";
import { listToAdopt } from "../store/external-funds.ts";

/** Logins that are read at once. */
const PAGE = 1_000;

/**
 * Adopts what the configuration lets be adopted without a review. It waits for a departure from the pool that is being decided, and for money on
 * its way into the pool that covers a charge, which take seconds each. Operators decide about a charge that the share does not cover.
 */
export async function adoptCharges(deps: Deps): Promise<void> {
  let after = "";
  for (;;) {
    const logins = await listToAdopt(deps.pool, after, PAGE);
    for (const login of logins) await adoptOn(deps, login);
    const last = logins.at(-1);
    if (last === undefined || logins.length < PAGE) return;
    after = last;
  }
}

async function adoptOn(deps: Deps, login: string): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    const found = await lockPooled(tx, login);
    if (found === undefined) return;
    const { holding } = found;
    const { toAdopt: amount } = found.account;
    if (amount === 0n) return;
    const account = { ...found.account, toAdopt: 0n };
    if (await adoptExternalFunds(tx, deps, { account, holding, amount, at: deps.now() })) return;
    const { inbound, waiting, pooled } = holding.buckets;
    if (inbound + waiting + pooled + amount < 0n) await saveAccounts(tx, [leaveToOperators(found.account)]);
  });
}
