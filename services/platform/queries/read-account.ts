import type { ReadAccountRequest, ReadAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { HoldQueues } from "../protocol/hold-queues.ts";
import { readAgreeing } from "../protocol/history/account-reading.ts";
import { listOpenPositions } from "../store/positions.ts";
import { orBusy, orUnavailable } from "../protocol/unavailable.ts";
import type { OldPrices } from "./old-prices.ts";

/** The account on the platform and the sum of its log, and whether the prices of its positions are marks. */
export async function readAccount(
  deps: Deps & { readonly holds: Pick<HoldQueues, "facts">; readonly oldPrices: OldPrices },
  { login, checkPrices = false }: ReadAccountRequest,
): Promise<ReadAccountResponse> {
  // Before the positions, which then show these prices or later ones.
  const symbols = checkPrices ? symbolsOf(await listOpenPositions(deps.pool, login)) : [];
  const old = symbols.length === 0 ? [] : await orUnavailable(deps.oldPrices(symbols));
  const reading = await orBusy(orUnavailable(readAgreeing(deps, login)));
  const isChecked = !checkPrices || symbolsOf(reading.positions).every((symbol) => symbols.includes(symbol));
  return { ...reading, complete: reading.complete && isChecked, oldPrices: [...old] };
}

function symbolsOf(positions: readonly { readonly symbol: string }[]): string[] {
  return [...new Set(positions.map(({ symbol }) => symbol))];
}
