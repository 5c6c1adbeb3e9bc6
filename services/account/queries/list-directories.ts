import type { CallContext } from "#kernel/contract/contract.ts";
import { pageOf, pageSize } from "#kernel/page.ts";
import type {
  ListInvestorsRequest,
  ListInvestorsResponse,
  ListMastersRequest,
  ListMastersResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { countInvestors } from "../directory.ts";
import { masterMessage } from "../messages.ts";
import { listInvestors as readInvestors } from "../store/investors.ts";
import { listMasters as readMasters } from "../store/masters.ts";

export async function listMasters(
  deps: Deps,
  { afterId, limit }: ListMastersRequest,
  context: CallContext,
): Promise<ListMastersResponse> {
  const size = pageSize(limit);
  const { items: masters, hasMore } = pageOf(await readMasters(deps.pool, { afterId, limit: size + 1 }), size);
  const counts = await countInvestors(
    deps,
    masters.map(({ login }) => login),
    context,
  );
  return { items: masters.map((master) => masterMessage(master, counts.get(master.login) ?? 0n)), hasMore };
}

export async function listInvestors(
  deps: Deps,
  { afterId, limit }: ListInvestorsRequest,
): Promise<ListInvestorsResponse> {
  const size = pageSize(limit);
  return pageOf(await readInvestors(deps.pool, { afterId, limit: size + 1 }), size);
}
