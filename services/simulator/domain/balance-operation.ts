import { cutText } from "./account.ts";
import type { AccountState } from "./account-state.ts";
import { DEAL_ACTION, type DealAction, type DealDraft, isCredit, MAX_COMMENT_LENGTH, moneyDeal } from "./deal.ts";
import { refused } from "./retcode.ts";
import { MAX_AMOUNT } from "./units.ts";

export type BalanceOperation = {
  readonly login: number;
  readonly dealer: number;
  readonly type: number;
  readonly amount: bigint;
  readonly comment: string;
  readonly checksMargin: boolean;
};

const TYPES: readonly DealAction[] = [
  DEAL_ACTION.balance,
  DEAL_ACTION.credit,
  DEAL_ACTION.charge,
  DEAL_ACTION.correction,
  DEAL_ACTION.bonus,
];

/** The deal of a balance operation, or the refusal with its reason. */
export function decideBalanceOperation(operation: BalanceOperation, state: AccountState): DealDraft {
  const { login, dealer, amount, comment } = operation;
  const action = TYPES.find((type) => type === operation.type);
  if (action === undefined || amount === 0n) throw refused("invalidParameters");
  if (amount > MAX_AMOUNT || amount < -MAX_AMOUNT) throw refused("tooMuchMoney");
  if (amount < 0n && !canTake(-amount, action, operation.checksMargin, state)) throw refused("notEnoughMoney");
  return moneyDeal({ login, dealer, action, amount, comment: cutText(comment, MAX_COMMENT_LENGTH) });
}

/** A correction never looks at the margin; nothing ever takes more than there is. */
function canTake(amount: bigint, action: DealAction, checksMargin: boolean, state: AccountState): boolean {
  const available = isCredit(action) ? state.credit : state.balance;
  if (amount > available) return false;
  return action === DEAL_ACTION.correction || !checksMargin || amount <= state.marginFree;
}
