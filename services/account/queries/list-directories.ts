import type { CallContext } from "#kernel/contract/contract.ts";
import type {
  ListInvestorsRequest,
  ListInvestorsResponse,
  ListMastersRequest,
  ListMastersResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { investorMessage, masterMessage } from "../messages.ts";
import { listInvestors as readInvestors } from "../store/investors.ts";
import { listMasters as readMasters } from "../store/masters.ts";
import { countInvestors } from "./count-investors.ts";

/** The contract allows 1 to 1,000. */
const MOST_ITEMS = 1_000;

export async function listMasters(
  deps: Deps,
  { afterId, limit }: ListMastersRequest,
  context: CallContext,
): Promise<ListMastersResponse> {
  const size = pageSize(limit);
  const rows = await readMasters(deps.pool, { afterId, limit: size + 1 });
  const masters = rows.slice(0, size);
  const counts = await countInvestors(
    deps,
    masters.map(({ login }) => login),
    context,
  );
  return {
    items: masters.map((master) => masterMessage(master, counts.get(master.login) ?? 0n)),
    hasMore: rows.length > size,
  };
}

export async function listInvestors(
  deps: Deps,
  { afterId, limit }: ListInvestorsRequest,
): Promise<ListInvestorsResponse> {
  const size = pageSize(limit);
  const rows = await readInvestors(deps.pool, { afterId, limit: size + 1 });
  return { items: rows.slice(0, size).map(investorMessage), hasMore: rows.length > size };
}

function pageSize(limit: number): number {
  return Math.min(Math.max(limit, 1), MOST_ITEMS);
}
