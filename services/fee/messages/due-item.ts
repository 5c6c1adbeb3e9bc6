import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { DueItem } from "#proto/pamm/fee/v1/fee.ts";
import type { CollectionItem } from "../store/collections.ts";

export function dueItem({ payment, amount }: CollectionItem): DueItem {
  return { key: payment.key, amount: moneyToProto(usd(amount)), isWeekly: payment.isWeekly };
}
