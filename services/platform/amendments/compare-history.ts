import type { Deps } from "../deps.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import type { Deal } from "../mt5/deals.ts";
import { isCanceled } from "../protocol/history/explain-deal.ts";
import { listAppliedLegs } from "../store/legs.ts";
import { differencesOf } from "./deal-difference.ts";
import { type Amendment, reportAmendments } from "./report-amendments.ts";

/** What is recorded about deals before a read: logged deals by ticket, and tickets older than the adoption of their account. */
type Known = {
  readonly logged: ReadonlyMap<bigint, readonly LoggedDeal[]>;
  readonly adopted: ReadonlySet<bigint>;
};

/** Compares a read of the history with the logs and reports each amended deal. Returns the deals that equal their record. */
export async function compareHistory(
  deps: Deps,
  deals: readonly Deal[],
  { logged, adopted }: Known,
): Promise<readonly Deal[]> {
  const own = deals.filter(({ ticket }) => !adopted.has(ticket));
  const amended = own.flatMap((deal) => amendmentOf(deal, logged.get(deal.ticket) ?? []) ?? []);
  const found = [...amended, ...(await findOnOtherLogins(deps, deals))];
  await reportAmendments(deps, found);
  const differing = new Set(found.map(({ ticket }) => ticket));
  return deals.filter(({ ticket }) => (adopted.has(ticket) || logged.has(ticket)) && !differing.has(ticket));
}

/** The amendment that a shown deal reveals. A ticket identifies one deal for ever: another login or content is an amendment. */
function amendmentOf(shown: Deal, logged: readonly LoggedDeal[]): Amendment | undefined {
  const { login, ticket, at } = shown;
  const recorded = logged.find((own) => own.login === login) ?? logged[0];
  const found = { login, ticket, at, recorded, shown };
  if (isCanceled(shown)) return { ...found, amendment: "deal_cancelled", differences: [] };
  const differences = recorded === undefined ? [] : differencesOf(recorded, shown);
  return differences.length === 0 ? undefined : { ...found, amendment: "deal_changed", differences };
}

/** A leg has no deal when its ticket is on another login: the answer was wrong, or the history was changed. */
async function findOnOtherLogins({ pool, settings }: Deps, deals: readonly Deal[]): Promise<Amendment[]> {
  const shown = new Map(deals.map((deal) => [deal.ticket, deal]));
  const legs = await listAppliedLegs(pool, settings.server, [...shown.keys()]);
  return legs
    .filter(({ login, ticket }) => shown.get(ticket)?.login !== login)
    .map(({ login, ticket, appliedAt: at }) => {
      const amendment = "deal_gone";
      return { login, ticket, at, recorded: undefined, shown: shown.get(ticket), amendment, differences: ["login"] };
    });
}
