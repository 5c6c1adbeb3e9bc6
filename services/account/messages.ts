import { moneyToProto } from "#kernel/contract/money.ts";
import type { Master as MasterMessage } from "#proto/pamm/account/v1/account.ts";
import type { Master } from "./domain/master.ts";

export function masterMessage(stored: Master, investorsCount?: bigint): MasterMessage {
  const { paymentLogin, minDeposit, acceptingSince: _since, ...master } = stored;
  return { ...master, paymentAccountLogin: paymentLogin, minDeposit: moneyToProto(minDeposit), investorsCount };
}
