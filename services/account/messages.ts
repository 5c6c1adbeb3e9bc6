import { moneyToProto } from "#kernel/contract/money.ts";
import type { Master as MasterMessage } from "#proto/pamm/account/v1/account.ts";
import type { Master } from "./domain/master.ts";

export function masterMessage(
  { paymentLogin, minDeposit, acceptingSince: _, ...master }: Master,
  investorsCount?: bigint,
): MasterMessage {
  return { ...master, paymentAccountLogin: paymentLogin, minDeposit: moneyToProto(minDeposit), investorsCount };
}
