import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { Deps } from "../../deps.ts";
import { refuse } from "../../refusals.ts";
import { fileMovements } from "./file-movements.ts";

/** The entries of one commit: its locks are held for some tens of milliseconds. */
const ENTRIES_PER_READ = 500;

/**
 * Files the log of a login up to a log position, read from platform without waiting for the feed. Without `upTo`: all that
 * the log has now. The feed may file more entries at the same time. Returns up to where it was filed.
 */
export async function catchUp(
  deps: Deps,
  { login, upTo }: { readonly login: string; readonly upTo?: bigint },
  context: CallContext,
): Promise<bigint> {
  for (;;) {
    // The log was written again, and may have an entry that is filed already under the next number.
    if (deps.isPlatformRewound()) throw rewound(login);
    const afterNumber = (await deps.accountReads.filed(login))?.filedNumber ?? -1n;
    if (upTo !== undefined && afterNumber >= upTo) return afterNumber;
    const { entries, lastNumber } = await deps.platform.readLog(
      { login, afterNumber, limit: ENTRIES_PER_READ },
      context,
    );
    const wanted = entries.filter(({ number }) => upTo === undefined || number <= upTo);
    const [first] = wanted;
    const last = wanted.at(-1);
    if (first === undefined || last === undefined) return afterNumber;
    assert.equal(first.number, afterNumber + 1n, `the log of ${login} has a gap`);
    await inTransaction(deps.pool, (tx) => fileMovements(tx, deps, wanted));
    // With `upTo` it looks again: the feed may have filed more meanwhile.
    if (upTo === undefined && last.number >= lastNumber) return last.number;
  }
}

function rewound(login: string): Refusal {
  const message = `The log of ${login} was restored to an older time than what is filed from it.`;
  return refuse("platform_unavailable", message, { outcome: "not_executed" });
}

/** Like `catchUp`, for callers that do not depend on it: the feed delivers the entries later. */
export async function tryToCatchUp(deps: Deps, login: string, context: CallContext): Promise<void> {
  try {
    await catchUp(deps, { login }, context);
  } catch (error) {
    deps.log.info("log not read, its entries arrive by the feed", { login, error });
  }
}
