import { moneyToProto } from "#kernel/contract/money.ts";
import type { Investor as InvestorMessage, Master as MasterMessage } from "#proto/pamm/account/v1/account.ts";
import type { Investor } from "./domain/investor.ts";
import type { Master } from "./domain/master.ts";

export function masterMessage(master: Master, investorsCount?: bigint): MasterMessage {
  const { id, login, name, strategyName, strategy, paymentLogin, minDeposit, createdAt } = master;
  return {
    id,
    login,
    name,
    strategyName,
    strategy,
    paymentAccountLogin: paymentLogin,
    minDeposit: moneyToProto(minDeposit),
    createdAt,
    investorsCount,
  };
}

export function investorMessage({ id, login, name, createdAt }: Investor): InvestorMessage {
  return { id, login, name, createdAt };
}
