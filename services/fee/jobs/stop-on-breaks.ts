import { callContext } from "#kernel/contract/context.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { BreakSource } from "#kernel/reconcile/stop-on-breaks.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import { isKnown, stopForBreak } from "../processes/stop-for-break.ts";
import type { Deps } from "../deps.ts";
import { listMastersOfAccounts } from "../store/masters.ts";

/** A page of breaks is read by an index. */
const CALL_MS = 5_000;
/** A break of one of these checks means that money differs from the books; breaks of the other checks are late work. */
const STOPPING_ON_PLATFORM = new Set(["transfer_legs", "deal_matching", "platform_balance", "transfer_ownership"]);

/** The check of `subscription` that fees are of the profit that was earned. */
const STOPPING_ON_SUBSCRIPTION = "investor_profits";

/**
 * A break of the books of fee, of the profit that fees follow from, or on a payment account, stops the fees of its Master and of no other. The
 * breaks of fee come first, so that they stop a Master also while another service is unreachable.
 */
export function stoppingBreaks(deps: Deps): readonly BreakSource[] {
  const { pool, platform, subscriptions } = deps;
  return [
    {
      service: "fee",
      list: (request) => listBreaks(pool, request),
      mastersOf: async (page) => page.map(({ masterLogin }) => (masterLogin === "" ? [] : [masterLogin])),
      stop: (tx, login, found) => stop(tx, deps, login, found),
    },
    {
      service: "platform",
      list: (request) => platform.listBreaks(request, callContext({ caller: "fee", withinMs: CALL_MS })),
      async mastersOf(page) {
        const accounts = page.map((found) => (STOPPING_ON_PLATFORM.has(found.check) ? accountsOf(found) : []));
        const masters = Map.groupBy(await listMastersOfAccounts(pool, accounts.flat()), ({ account }) => account);
        return accounts.map((own) => own.flatMap((account) => (masters.get(account) ?? []).map(({ login }) => login)));
      },
      async stop(tx, login, found) {
        // The log of the payment account had the deal before the check found it.
        const isReviewed = found.check === "deal_matching" && (await isKnown(tx, login, found.dealIds));
        if (!isReviewed) await stop(tx, deps, login, found);
      },
    },
    {
      service: "subscription",
      list: (request) => subscriptions.listBreaks(request, callContext({ caller: "fee", withinMs: CALL_MS })),
      mastersOf: async (page) =>
        page.map(({ check, masterLogin }) => (check === STOPPING_ON_SUBSCRIPTION ? [masterLogin] : [])),
      stop: (tx, login, found) => stop(tx, deps, login, found),
    },
  ];
}

/** A break names the account of the first leg; the payment account of a fee is that of the second. */
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
