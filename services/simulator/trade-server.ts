import type { Account } from "./domain/account.ts";
import type { Change } from "./domain/change.ts";
import type { Deal, DealDraft } from "./domain/deal.ts";
import type { Fault } from "./domain/fault.ts";
import { groupMask } from "./domain/group-mask.ts";
import { nextFreeLogin } from "./domain/login-range.ts";
import { wallClockMs, type ZoneOffset, zoneOffset } from "./domain/server-time.ts";
import { MANAGER_GROUP, type Settings } from "./settings.ts";
import { applyChange, type Books } from "./store/books.ts";
import type { Journal } from "./store/journal.ts";

/** Milliseconds since 1970, UTC. */
export type NowMs = () => number;

/** The balance of an account at the end of the server's last day and last month. */
export type PreviousBalances = { readonly dayStartMsc: number; readonly day: bigint; readonly month: bigint };

export type TradeServer = {
  readonly settings: Settings;
  readonly books: Books;
  readonly journal: Journal;
  readonly nowMs: NowMs;
  readonly offset: ZoneOffset;
  /** The setting until the control API changes it. */
  isVisibleGroup: (group: string) => boolean;
  /** Logins with a deal since the last restart: the others have no account state. */
  readonly active: Set<number>;
  /** Deals that the Web API hides, with the time until which it does. */
  readonly hidden: Map<number, number>;
  /** Ends the wait of a call that a fault delays. */
  readonly delayed: Set<() => void>;
  readonly calls: Map<string, number>;
  /** By login, computed once a day. */
  readonly previousBalances: Map<number, PreviousBalances>;
  /** The setting until the control API changes it; sessions that are open stay open. */
  managerPassword: string;
  /** Replaced as a whole at every change. */
  faults: readonly Fault[];
  nextFault: number;
};

export function createTradeServer(
  settings: Settings,
  stored: { readonly books: Books; readonly journal: Journal },
  nowMs: NowMs,
): TradeServer {
  const offset = zoneOffset(settings.timeZone);
  const { books } = stored;
  const server: TradeServer = {
    settings,
    ...stored,
    nowMs,
    offset,
    isVisibleGroup: groupMask(settings.managerGroups),
    active: new Set(),
    hidden: new Map(),
    delayed: new Set(),
    calls: new Map(),
    previousBalances: new Map(),
    managerPassword: settings.managerPassword,
    faults: [],
    nextFault: 1,
  };
  installManager(server);
  for (const group of settings.groups) {
    // What the control API has changed stays.
    if (!books.groups.has(group.name)) applyChange(books, { kind: "group", group });
  }
  return server;
}

/** The manager is configuration, not history: it is never written to the journal. */
function installManager({ books, settings }: TradeServer): void {
  const { managerLogin: login } = settings;
  const account: Account = {
    login,
    group: MANAGER_GROUP,
    rights: 0x163,
    leverage: 100,
    registeredAt: 0,
    passwordChangedAt: 0,
    passwords: { main: "", investor: "" },
    texts: { Name: "Manager" },
    numbers: {},
    balance: 0n,
    credit: 0n,
  };
  applyChange(books, { kind: "account", account });
}

/** Every change of the books goes through here. It is on disk when the journal has settled; answers wait for that. */
export function record(server: TradeServer, change: Change): void {
  server.journal.append(change);
  applyChange(server.books, change);
}

/** For good, with its deals. */
export function removeAccount(server: TradeServer, login: number): void {
  record(server, { kind: "account_removed", login });
  server.active.delete(login);
  server.previousBalances.delete(login);
}

/** Numbers deals that belong together, puts the time on them and records them. */
export function recordDeals(server: TradeServer, drafts: readonly DealDraft[]): readonly Deal[] {
  const { nextDeal } = server.books.counters;
  const timeMsc = serverTimeMs(server);
  const deals = drafts.map((draft, index): Deal => ({ ...draft, ticket: nextDeal + index, timeMsc }));
  record(server, { kind: "deals", deals });
  for (const { login } of deals) server.active.add(login);
  return deals;
}

/** The next login of the server's own choice; undefined when its range is used up. */
export function takeFreeLogin({ settings, books }: TradeServer): number | undefined {
  const ranges = { server: settings.loginRange, reserved: settings.reservedLogins };
  const login = nextFreeLogin(books.counters.nextLogin, ranges, (candidate) => books.accounts.has(candidate));
  if (login !== undefined) books.counters.nextLogin = login + 1;
  return login;
}

/** The wall clock of the server, in milliseconds. */
export function serverTimeMs({ nowMs, offset }: TradeServer): number {
  return wallClockMs(nowMs(), offset);
}

export function serverTimeSeconds(server: TradeServer): number {
  return Math.floor(serverTimeMs(server) / 1_000);
}

export function isHidden({ hidden, nowMs }: TradeServer, ticket: number): boolean {
  const until = hidden.get(ticket);
  if (until === undefined) return false;
  if (until > nowMs()) return true;
  hidden.delete(ticket);
  return false;
}
