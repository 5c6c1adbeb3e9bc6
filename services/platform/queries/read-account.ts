import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { ReadAccountRequest, ReadAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { HoldQueues } from "../protocol/hold-queues.ts";
import { readSharedFacts } from "../protocol/history/read-facts.ts";
import { readBetweenLegs } from "../protocol/history/read-between-legs.ts";
import { findDealTimeAndCurrency } from "../store/log.ts";
import { listOpenPositions } from "../store/positions.ts";
import { orBusy, orUnavailable } from "../protocol/unavailable.ts";
import type { OldPrices } from "./old-prices.ts";

/** The account on the platform and the sum of its log, read between two legs of this service. */
export async function readAccount(
  deps: Deps & { readonly holds: Pick<HoldQueues, "facts">; readonly oldPrices: OldPrices },
  { login, checkPrices = false }: ReadAccountRequest,
): Promise<ReadAccountResponse> {
  const platformAt = await orUnavailable(deps.mt5.platformNow());
  // Before the positions, which then show these prices or later ones.
  const symbols = checkPrices ? symbolsOf(await listOpenPositions(deps.pool, login)) : [];
  const old = symbols.length === 0 ? [] : await orUnavailable(deps.oldPrices(symbols));
  const read = (each: string) => readSharedFacts(deps, deps.holds.facts, each);
  const { balanceMinor, log, positions, isComplete } = await orBusy(readBetweenLegs(deps, login, read));
  const { lastDealAt, isOtherCurrency } = await findDealTimeAndCurrency(deps.pool, login, log.number);
  return {
    balance: moneyToProto(usd(balanceMinor)),
    logBalance: moneyToProto(log.balance),
    logNumber: log.number,
    positions: positions.map(({ ticket, symbol, volume, profitMinor, swapMinor }) => ({
      positionId: ticket,
      symbol,
      volume,
      profit: moneyToProto(usd(profitMinor)),
      swap: moneyToProto(usd(swapMinor)),
    })),
    // Amounts that are not dollars and cents equal no log: nothing is decided with them.
    complete:
      isComplete &&
      !isOtherCurrency &&
      (!checkPrices || symbolsOf(positions).every((symbol) => symbols.includes(symbol))),
    oldPrices: [...old],
    platformAt,
    lastDealAt,
  };
}

function symbolsOf(positions: readonly { readonly symbol: string }[]): string[] {
  return [...new Set(positions.map(({ symbol }) => symbol))];
}
