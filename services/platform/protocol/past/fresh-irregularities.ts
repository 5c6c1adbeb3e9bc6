import type { Queryable } from "#kernel/postgres/query.ts";
import { listLoggedDeals } from "../../store/logged-deals.ts";
import { listIrregularities } from "../../store/amendments.ts";
import { dealDifference } from "./deal-difference.ts";
import type { FreshIrregular, Irregular } from "./irregular.ts";

/** Those of which nobody was told, about the deals as the logs say them now. */
export async function listFresh(db: Queryable, server: string, found: readonly Irregular[]): Promise<FreshIrregular[]> {
  if (found.length === 0) return [];
  const tickets = found.map(({ ticket }) => ticket);
  const logged = new Map((await listLoggedDeals(db, server, tickets)).map((deal) => [placeOf(deal), deal]));
  const told = new Set((await listIrregularities(db, server, tickets)).map(nameOf));
  return found.flatMap((irregular) => {
    const now = logged.get(placeOf(irregular));
    const fresh = { ...irregular, state: now?.state ?? 0 };
    // People have said that the deal is what it is seen to be.
    const isCorrected = fresh.state > 0 && dealDifference(irregular, now, irregular.shown).isNone;
    return isCorrected || told.has(nameOf(fresh)) ? [] : [fresh];
  });
}

type Placed = { readonly login: string; readonly ticket: bigint };

function placeOf({ login, ticket }: Placed): string {
  return `${login} ${ticket}`;
}

function nameOf(told: Placed & { readonly irregularity: string; readonly state: number }): string {
  return `${placeOf(told)} ${told.irregularity} ${told.state}`;
}
