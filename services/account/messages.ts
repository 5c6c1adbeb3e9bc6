import { labelsToProto } from "#kernel/contract/labels.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import type { InvestorProfile, Master as MasterMessage } from "#proto/pamm/account/v1/account.ts";
import type { Master } from "./domain/master.ts";
import type { Profile } from "./domain/profile.ts";

export function masterMessage(stored: Master, investorsCount?: bigint): MasterMessage {
  const { paymentLogin, minDeposit, acceptingSince: _since, ...master } = stored;
  return { ...master, paymentAccountLogin: paymentLogin, minDeposit: moneyToProto(minDeposit), investorsCount };
}

/** What its client says of an account. */
export function profileFields({ email, ...labels }: Profile): Pick<InvestorProfile, "email" | "labels"> {
  return { email, labels: labelsToProto(labels) };
}
