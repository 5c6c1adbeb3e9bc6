import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { DepartureFigures } from "#proto/pamm/subscription/v1/subscription.ts";
import type { DepartureNumbers } from "../domain/decide-departure.ts";

export function departureFigures({ before, pending, available, effective }: DepartureNumbers): DepartureFigures {
  return {
    balanceBefore: moneyToProto(usd(before)),
    pendingFee: moneyToProto(usd(pending)),
    availableAfterFee: moneyToProto(usd(available)),
    effective: moneyToProto(usd(effective)),
  };
}
