import type { GatheredRead } from "#kernel/batches/gather-reads.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type { ReadAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { readBetweenLegs } from "./read-between-legs.ts";
import { type Facts, readSharedFacts } from "./read-facts.ts";

type Reader = Deps & { readonly holds: { readonly facts: GatheredRead<string, Facts> } };

/** The account on the platform and the sum of its log. A reading that does not agree is repeated while no leg of this service is sent. */
export async function readAgreeing(deps: Reader, login: string): Promise<ReadAccountResponse> {
  const reading = await readOnce(deps, login);
  if (reading.complete) return reading;
  const platformAt = await deps.mt5.platformNow();
  const read = (each: string) => readSharedFacts(deps, deps.holds.facts, each);
  return readingOf(await readBetweenLegs(deps, login, read), platformAt);
}

/** The same, while legs may be sent: one that is executed meanwhile shows as a difference. */
export async function readOnce(deps: Reader, login: string): Promise<ReadAccountResponse> {
  const platformAt = await deps.mt5.platformNow();
  return readingOf(await readSharedFacts(deps, deps.holds.facts, login), platformAt);
}

function readingOf({ balanceMinor, log, positions, isComplete }: Facts, platformAt: Date): ReadAccountResponse {
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
    complete: isComplete && !log.isOtherCurrency,
    oldPrices: [],
    platformAt,
    lastDealAt: log.lastDealAt ?? undefined,
  };
}
