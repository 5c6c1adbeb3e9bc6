import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { type AccountMoved, type AccountRole, MovementKind, type Trade } from "#proto/pamm/platform/v1/movement.ts";

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
  /** False while a deal is on its way. */
  isComplete: boolean;
  /** Who has the account lock. */
  lockOwner: string | undefined;
  readonly released: Set<string>;
};

export type Entry = {
  readonly kind: MovementKind;
  readonly amount: bigint;
  readonly key?: string;
  readonly transferId?: bigint;
  readonly trade?: Trade;
  readonly reason?: string;
  /** When the platform says it was; now when not said. */
  readonly at?: Date;
  /** Its ticket; the next one when not said. */
  readonly dealId?: bigint;
};

/** Accounts with their logs, and the one feed of all entries in the order in which they came. */
export type PlatformLedger = {
  readonly accounts: Map<string, PlatformAccount>;
  readonly feed: AccountMoved[];
  readonly now: () => Date;
};

const FIRST_TICKET = 900_000n;

/** Opens an account with the balance that it had before us. */
export function openAccount(ledger: PlatformLedger, login: string, role: AccountRole, opening = 0n): void {
  const fresh = {
    login,
    role,
    log: [],
    positions: [],
    isComplete: true,
    lockOwner: undefined,
    released: new Set<string>(),
  };
  ledger.accounts.set(login, fresh);
  enter(ledger, login, { kind: MovementKind.OPENING, amount: opening });
}

export function getAccount({ accounts }: PlatformLedger, login: string): PlatformAccount {
  const found = accounts.get(login);
  if (found === undefined) throw new Refusal({ code: "login_not_managed", status: "not_found", message: login });
  return found;
}

export function balanceOf(ledger: PlatformLedger, login: string): bigint {
  return getAccount(ledger, login).log.reduce((total, { amount }) => total + (amount?.minorUnits ?? 0n), 0n);
}

export function lastEntry(ledger: PlatformLedger, login: string): AccountMoved {
  const last = getAccount(ledger, login).log.at(-1);
  if (last === undefined) throw new Error(`${login} was not opened`);
  return last;
}

/** What became true of an account: the next entry of its log, and of the feed. */
export function enter(ledger: PlatformLedger, login: string, entry: Entry): AccountMoved {
  const { kind, amount, key = "", transferId = 0n, trade, reason = "", at: dealAt = ledger.now() } = entry;
  const { log, role } = getAccount(ledger, login);
  const { feed } = ledger;
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
  };
  log.push(moved);
  feed.push(moved);
  return moved;
}
