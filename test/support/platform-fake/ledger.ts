import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { type AccountMoved, AccountRole, MovementKind, type Trade } from "#proto/pamm/platform/v1/movement.ts";

/** Volume in units of 1e-8 lots, money in cents. */
export type FakePosition = {
  readonly positionId: bigint;
  readonly symbol: string;
  volume: bigint;
  profit: bigint;
  swap: bigint;
};

export type PlatformAccount = {
  readonly login: string;
  readonly role: AccountRole;
  readonly log: AccountMoved[];
  /** Open positions of the trader, as the platform shows them. */
  readonly positions: FakePosition[];
  /** False while the platform has not read the newest deals. */
  isComplete: boolean;
  /** Undefined while the account is not locked. */
  readonly lockOwner: string | undefined;
};

export type Entry = {
  readonly kind: MovementKind;
  readonly amount: bigint;
  readonly key?: string;
  readonly transferId?: bigint;
  readonly trade?: Trade;
  readonly reason?: string;
  /** Time of the deal; default: now. */
  readonly at?: Date;
  /** Ticket of the deal; default: the next one. */
  readonly dealId?: bigint;
  readonly comment?: string;
  /** MetaTrader's type of an external deal; default: balance. */
  readonly action?: number;
  readonly lockOwner?: string;
};

export type FakeDeal = {
  readonly key: string;
  readonly login: string;
  readonly minor: bigint;
  readonly comment: string;
  readonly lockOwner: string;
};

/** Accounts with their logs and locks, the feed of all log entries and the deals, both in the order of their creation. */
export type PlatformLedger = {
  readonly accounts: Map<string, PlatformAccount>;
  /** Lock owner by login. */
  readonly accountLocks: Map<string, string>;
  /** Lock owners that can never acquire a lock again. */
  readonly released: string[];
  /** Logins that the trading platform does not show any more. */
  readonly archived: Set<string>;
  /** Accounts in another currency. */
  readonly foreign: Set<string>;
  readonly feed: AccountMoved[];
  readonly deals: FakeDeal[];
  readonly now: () => Date;
};

const BALANCE = 2;
const FIRST_TICKET = 900_000n;

/** Opens an account with the balance, in cents, that it had before the service managed it. */
export function openAccount(ledger: PlatformLedger, login: string, role: AccountRole, opening = 0n): void {
  ledger.accounts.set(login, {
    login,
    role,
    log: [],
    positions: [],
    isComplete: true,
    get lockOwner() {
      return ledger.accountLocks.get(login);
    },
  });
  enter(ledger, login, { kind: MovementKind.OPENING, amount: opening });
}

export function getAccount({ accounts }: PlatformLedger, login: string): PlatformAccount {
  const found = accounts.get(login);
  if (found === undefined) throw new Refusal({ code: "login_not_managed", status: "not_found", message: login });
  return found;
}

/** In cents. */
export function balanceOf(ledger: PlatformLedger, login: string): bigint {
  return getAccount(ledger, login).log.reduce((total, { amount }) => total + (amount?.minorUnits ?? 0n), 0n);
}

/** Each login with its balance in cents, ascending by login. */
export function balancesOf(ledger: PlatformLedger): (readonly [login: string, minor: bigint])[] {
  return [...ledger.accounts.keys()].toSorted().map((login) => [login, balanceOf(ledger, login)] as const);
}

/** Sets the balance, in cents, by an external deal; opens the account of an unknown Investor. */
export function setBalance(ledger: PlatformLedger, login: string, minor: bigint): void {
  if (!ledger.accounts.has(login)) return openAccount(ledger, login, AccountRole.INVESTOR, minor);
  enter(ledger, login, { kind: MovementKind.EXTERNAL, amount: minor - balanceOf(ledger, login) });
}

export function lastEntry(ledger: PlatformLedger, login: string): AccountMoved {
  const last = getAccount(ledger, login).log.at(-1);
  if (last === undefined) throw new Error(`${login} was not opened`);
  return last;
}

/** Appends an entry to the log of an account and to the feed. */
export function enter(ledger: PlatformLedger, login: string, entry: Entry): AccountMoved {
  const { kind, amount, key = "", transferId = 0n, trade, reason = "", at: dealAt = ledger.now() } = entry;
  const { log, role } = getAccount(ledger, login);
  const { feed, deals } = ledger;
  const entryId = BigInt(feed.length + 1);
  const moved: AccountMoved = {
    login,
    role,
    number: BigInt(log.length),
    entryId,
    kind,
    key,
    transferId,
    amount: moneyToProto(usd(amount)),
    dealId: kind === MovementKind.OPENING ? 0n : (entry.dealId ?? FIRST_TICKET + entryId),
    dealAt,
    trade,
    reason,
    dealAction: entry.action ?? trade?.action ?? (kind === MovementKind.EXTERNAL ? BALANCE : 0),
    dealComment: entry.comment ?? "",
  };
  log.push(moved);
  feed.push(moved);
  if (kind !== MovementKind.OPENING && amount !== 0n) {
    const { comment = "", lockOwner = "" } = entry;
    deals.push({ key, login, minor: amount, comment, lockOwner });
  }
  return moved;
}
