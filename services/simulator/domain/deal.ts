/** EnDealAction. */
export const DEAL_ACTION = {
  buy: 0,
  sell: 1,
  balance: 2,
  credit: 3,
  charge: 4,
  correction: 5,
  bonus: 6,
  commission: 7,
  commissionDaily: 8,
  commissionMonthly: 9,
  agentDaily: 10,
  agentMonthly: 11,
  interest: 12,
  buyCanceled: 13,
  sellCanceled: 14,
  dividend: 15,
  dividendFranked: 16,
  tax: 17,
  agent: 18,
  stopOutCompensation: 19,
  stopOutCompensationCredit: 20,
} as const;
export type DealAction = (typeof DEAL_ACTION)[keyof typeof DEAL_ACTION];

/** EnDealEntry. */
export const DEAL_ENTRY = { in: 0, out: 1, reversal: 2, outBy: 3 } as const;
export type DealEntry = (typeof DEAL_ENTRY)[keyof typeof DEAL_ENTRY];

/** EnDealReason. */
export const DEAL_REASON = { client: 0, dealer: 2 } as const;
export type DealReason = (typeof DEAL_REASON)[keyof typeof DEAL_REASON];

/** The platform cuts longer comments without an error. */
export const MAX_COMMENT_LENGTH = 31;

export type Deal = {
  readonly ticket: number;
  readonly externalId: string;
  readonly login: number;
  readonly dealer: number;
  readonly order: number;
  readonly action: DealAction;
  readonly entry: DealEntry;
  readonly reason: DealReason;
  /** Milliseconds of the server's wall clock. */
  readonly timeMsc: number;
  readonly symbol: string;
  /** In points of the symbol. */
  readonly price: bigint;
  readonly pricePosition: bigint;
  readonly volume: bigint;
  readonly volumeClosed: bigint;
  readonly profit: bigint;
  readonly storage: bigint;
  readonly commission: bigint;
  readonly positionId: number;
  readonly comment: string;
  /** Set when the deal was edited afterwards. */
  readonly modificationFlags: number;
};

/** A deal before the server assigns its ticket and time. */
export type DealDraft = Omit<Deal, "ticket" | "timeMsc">;

export type Effect = { readonly balance: bigint; readonly credit: bigint };

/** Credit is lent to the account. */
const CREDITS: ReadonlySet<DealAction> = new Set([
  DEAL_ACTION.credit,
  DEAL_ACTION.bonus,
  DEAL_ACTION.stopOutCompensationCredit,
]);

/** The effect of a deal on its account: credits change the credit, all other deals the balance. */
export function effectOf({ action, profit, storage, commission }: Deal | DealDraft): Effect {
  const net = profit + storage + commission;
  return isCredit(action) ? { balance: 0n, credit: net } : { balance: net, credit: 0n };
}

export function isCredit(action: DealAction): boolean {
  return CREDITS.has(action);
}

export function isTrade({ action }: Deal): boolean {
  return action === DEAL_ACTION.buy || action === DEAL_ACTION.sell;
}

export function moneyDeal(facts: {
  readonly login: number;
  readonly dealer: number;
  readonly action: DealAction;
  readonly amount: bigint;
  readonly comment: string;
}): DealDraft {
  const { login, dealer, action, amount, comment } = facts;
  return {
    ...NOTHING_TRADED,
    login,
    dealer,
    action,
    reason: DEAL_REASON.dealer,
    profit: amount,
    comment,
  };
}

const NOTHING_TRADED = {
  externalId: "",
  order: 0,
  entry: DEAL_ENTRY.in,
  symbol: "",
  price: 0n,
  pricePosition: 0n,
  volume: 0n,
  volumeClosed: 0n,
  storage: 0n,
  commission: 0n,
  positionId: 0,
  modificationFlags: 0,
} as const;
