import type { Transaction } from "#kernel/postgres/transaction.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { BreakSource } from "#kernel/reconcile/stop-on-breaks.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import { jobContext } from "../processes/job-context.ts";
import { isKnown, stopForBreak } from "../processes/stop-for-break.ts";
import type { Deps } from "../deps.ts";
import { listMastersOfAccounts } from "../store/masters.ts";

const ASK_MS = 5_000;
/** Legs, bijection and balances: money is not where the books say. The others are late, not wrong. */
const STOPPING_ON_PLATFORM = new Set(["transfer_legs", "deal_matching", "platform_balance"]);

/**
 * A break of the own books, or on a payment account, stops the fees of its Master; the others go on. The own ones come first:
 * they stop also while platform is away.
 */
export function stoppingBreaks(deps: Deps): readonly BreakSource[] {
  const { pool, platform } = deps;
  return [
    {
      service: "fee",
      list: (request) => listBreaks(pool, request),
      mastersOf: async ({ masterLogin }) => (masterLogin === "" ? [] : [masterLogin]),
      stop: (tx, login, found) => stop(tx, deps, login, found),
    },
    {
      service: "platform",
      list: (request) => platform.listBreaks(request, jobContext(ASK_MS)),
      mastersOf: async (found) =>
        STOPPING_ON_PLATFORM.has(found.check) ? await listMastersOfAccounts(pool, accountsOf(found)) : [],
      async stop(tx, login, found) {
        // The log of platform told of the deal before its check came to it.
        const wasTold = found.check === "deal_matching" && (await isKnown(tx, login, found.dealIds));
        if (!wasTold) await stop(tx, deps, login, found);
      },
    },
  ];
}

/** A transfer is shown on the account of its first leg; a fee reaches the payment account by the second. */
function accountsOf({ login, evidence }: Break): string[] {
  const { legs = [] } = JSON.parse(evidence) as { legs?: readonly { readonly login?: string | null }[] };
  return [login, ...legs.flatMap((leg) => leg.login ?? [])];
}

async function stop(tx: Transaction, deps: Deps, login: string, found: Break): Promise<void> {
  await stopForBreak(tx, deps, login, {
    reason: `${found.check}: ${found.message}`,
    account: found.login,
    atRisk: found.atRisk?.minorUnits ?? 0n,
    dealIds: found.dealIds,
    operationIds: found.operationIds,
    compared: JSON.parse(found.evidence),
  });
}
