/** The true accounts and deals, independent of the answers. */
export type Deal = {
  readonly ticket: bigint;
  readonly login: string;
  readonly action: number;
  readonly minor: bigint;
  /** As stored, which may differ from the request. */
  readonly comment: string;
  readonly atMs: number;
  /** Not in the history before this instant. */
  readonly visibleAtMs: number;
  /** Not as requested: another amount, another login, or executed a second time. */
  readonly isAltered: boolean;
};

export type Account = {
  readonly login: string;
  readonly group: string;
  readonly name: string;
  readonly comment: string;
  readonly password: string;
  readonly leverage: string;
  rights: bigint;
  balance: bigint;
};

export type BalanceOrder = {
  readonly login: string;
  readonly action: number;
  readonly minor: bigint;
  readonly comment: string;
};

export type Books = {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly deals: readonly Deal[];
  readonly addAccount: (account: Omit<Account, "balance" | "rights">) => Account;
  /** The documented return code of this request; 0 when it can be executed. Executes nothing. */
  readonly judge: (order: BalanceOrder) => number;
  readonly execute: (order: BalanceOrder, own?: { readonly delayedMs?: number; readonly isAltered?: boolean }) => Deal;
  readonly visibleDeals: (logins: readonly string[]) => Deal[];
};

const MAX_MINOR = 1_000_000_000_00n;
const COMMENT_LENGTH = 31;
const DEFAULT_RIGHTS = 355n;
const ACTIONS = [2, 3, 4, 5, 6];
const CREDIT = 3;

export function createBooks(groups: ReadonlySet<string>): Books & { readonly hasGroup: (name: string) => boolean } {
  const accounts = new Map<string, Account>();
  const deals: Deal[] = [];
  // Ascending, with gaps.
  let ticket = 5_000n;
  return {
    accounts,
    deals,
    hasGroup: (name) => groups.has(name),
    addAccount(account) {
      const added = { ...account, balance: 0n, rights: DEFAULT_RIGHTS };
      accounts.set(added.login, added);
      return added;
    },
    judge({ login, action, minor }) {
      const account = accounts.get(login);
      if (!ACTIONS.includes(action)) return 3;
      if (minor > MAX_MINOR || minor < -MAX_MINOR) return 4005;
      if (account === undefined) return 13;
      return minor < 0n && account.balance + minor < 0n ? 10019 : 0;
    },
    execute({ login, action, minor, comment }, { delayedMs = 0, isAltered = false } = {}) {
      const account = accounts.get(login);
      if (account === undefined) throw new Error(`there is no login ${login}`);
      ticket += 1n + BigInt(deals.length % 3);
      const atMs = Date.now();
      const visibleAtMs = atMs + delayedMs;
      const cut = comment.slice(0, COMMENT_LENGTH);
      const deal = { ticket, login, action, minor, comment: cut, atMs, visibleAtMs, isAltered };
      if (action !== CREDIT) account.balance += minor;
      deals.push(deal);
      return deal;
    },
    visibleDeals(logins) {
      const now = Date.now();
      return deals.filter(({ login, visibleAtMs }) => logins.includes(login) && visibleAtMs <= now);
    },
  };
}

/** Decimal text as documented: sign, digits, a point. */
export function minorOf(text: string): bigint | undefined {
  const [, sign, whole, fraction = ""] = /^(-?)(\d{1,15})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const minor = BigInt(whole + fraction.padEnd(2, "0"));
  return sign === "-" ? -minor : minor;
}

export function moneyOf(minor: bigint): string {
  const size = minor < 0n ? -minor : minor;
  return `${minor < 0n ? "-" : ""}${size / 100n}.${String(size % 100n).padStart(2, "0")}`;
}
