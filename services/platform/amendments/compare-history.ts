import type { Deps } from "../deps.ts";
import { formatReference, readReference } from "../domain/reference.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import type { Deal } from "../mt5/deals.ts";
import { isCanceled } from "../protocol/history/explain-deal.ts";
import { type AppliedLeg, listAppliedLegs } from "../store/legs.ts";
import { differencesOf } from "./deal-difference.ts";
import { type Amendment, reportAmendments } from "./report-amendments.ts";

/** What is recorded about deals before a read: logged deals by ticket, and tickets older than the adoption of their account. */
export type Recorded = {
  readonly logged: ReadonlyMap<bigint, readonly LoggedDeal[]>;
  readonly adopted: ReadonlySet<bigint>;
};

/** Compares a read of the history with the logs and the legs, and reports each amended deal. */
export async function compareHistory(deps: Deps, deals: readonly Deal[], { logged, adopted }: Recorded): Promise<void> {
  const { pool, settings } = deps;
  const tickets = deals.map(({ ticket }) => ticket);
  const legs = new Map((await listAppliedLegs(pool, settings.server, tickets)).map((leg) => [leg.ticket, leg]));
  const found = deals.flatMap((deal) => {
    const leg = legs.get(deal.ticket);
    const own = adopted.has(deal.ticket) ? undefined : amendmentOf(deal, logged.get(deal.ticket) ?? [], leg);
    return [own ?? [], leg === undefined || leg.login === deal.login ? [] : onOtherLogin(leg, deal)].flat();
  });
  await reportAmendments(deps, found);
}

/** The amendment that a shown deal reveals. A ticket identifies one deal for ever: another login or content is an amendment. */
function amendmentOf(shown: Deal, logged: readonly LoggedDeal[], leg: AppliedLeg | undefined): Amendment | undefined {
  const { login, ticket, at } = shown;
  const recorded = logged.find((own) => own.login === login) ?? logged[0];
  const found = { login, ticket, at, recorded, shown };
  if (isCanceled(shown)) return { ...found, amendment: "deal_cancelled", differences: [] };
  const differences = recorded === undefined ? [] : differencesOf(recorded, shown);
  if (leg?.login === login && hasReferenceOfOther(shown, leg)) differences.push("reference");
  return differences.length === 0 ? undefined : { ...found, amendment: "deal_changed", differences };
}

/** A comment that was cut or rewritten is no difference; the reference of another leg is one. */
function hasReferenceOfOther({ comment }: Deal, leg: AppliedLeg): boolean {
  const reference = readReference(comment);
  return reference !== undefined && formatReference(reference) !== formatReference(leg);
}

/** A leg has no deal when its ticket is on another login: the answer was wrong, or the history was changed. */
function onOtherLogin({ login, ticket, appliedAt: at }: AppliedLeg, shown: Deal): Amendment {
  return { login, ticket, at, recorded: undefined, shown, amendment: "deal_gone", differences: ["login"] };
}
