import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { FindTransferOfDealRequest, FindTransferOfDealResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { kindToProto } from "../protocol/history/account-moved.ts";
import { findTransferByDeal } from "../store/transfer-legs.ts";

export async function findTransferOfDeal(
  { pool, settings }: Pick<Deps, "pool" | "settings">,
  { dealId }: FindTransferOfDealRequest,
): Promise<FindTransferOfDealResponse> {
  const found = await findTransferByDeal(pool, settings.server, dealId);
  return found === undefined
    ? { key: "", kind: MovementKind.UNSPECIFIED }
    : { key: found.key, kind: kindToProto(found.kind) };
}
