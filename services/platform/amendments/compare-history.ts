import type { Deps } from "../deps.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import type { Deal } from "../mt5/deals.ts";
import { isCanceled } from "../protocol/history/explain-deal.ts";
import { listOperationsOfDeals } from "../store/operations.ts";
import { differencesOf } from "./deal-difference.ts";
import { type Amendment, reportAmendments } from "./report-amendments.ts";

/** What is recorded about deals before a reading: by ticket, and tickets from before their account was adopted. */
type Known = {
  readonly logged: ReadonlyMap<bigint, readonly LoggedDeal[]>;
  readonly adopted: ReadonlySet<bigint>;
};

/** The entry of this room for a reader of the history: reports each deal that is no longer what was recorded. */
export async function compareHistory(deps: Deps, deals: readonly Deal[], { logged, adopted }: Known): Promise<void> {
  const own = deals.filter(({ ticket }) => !adopted.has(ticket));
  const amended = own.flatMap((deal) => judge(deal, logged.get(deal.ticket) ?? []) ?? []);
  await reportAmendments(deps, [...amended, ...(await findElsewhere(deps, deals))]);
}

/** A ticket stands for one deal for ever: another login under it, or other content, is somebody rewriting history. */
function judge(shown: Deal, logged: readonly LoggedDeal[]): Amendment | undefined {
  const { login, ticket, at } = shown;
  const told = logged.find((own) => own.login === login) ?? logged[0];
  const found = { login, ticket, at, told, shown };
  if (isCanceled(shown)) return { ...found, amendment: "deal_cancelled", differences: [] };
  const differences = told === undefined ? [] : differencesOf(told, shown);
  return differences.length === 0 ? undefined : { ...found, amendment: "deal_changed", differences };
}

/** An operation that was told a ticket which stands on another login has no deal: its answer was wrong, or history is. */
async function findElsewhere({ pool, settings }: Deps, deals: readonly Deal[]): Promise<Amendment[]> {
  const shown = new Map(deals.map((deal) => [deal.ticket, deal]));
  const operations = await listOperationsOfDeals(pool, settings.server, [...shown.keys()]);
  return operations
    .filter(({ login, ticket }) => shown.get(ticket)?.login !== login)
    .map(({ login, ticket, appliedAt: at }) => {
      const amendment = "deal_gone";
      return { login, ticket, at, told: undefined, shown: shown.get(ticket), amendment, differences: ["login"] };
    });
}
