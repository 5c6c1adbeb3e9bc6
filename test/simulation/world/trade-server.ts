import type { CommandFault } from "../plan/plan.ts";
import type { Scheduler } from "./scheduler.ts";

/** A deal as the platform executed it, and as it shows it. */
export type ServerDeal = {
  readonly ticket: bigint;
  readonly login: string;
  /** 2 for a balance operation, 0 and 1 for trades. */
  readonly action: number;
  readonly amountMinor: bigint;
  /** The comment that was sent; `shownComment` may differ. */
  readonly sentComment: string;
  readonly shownComment: string;
  readonly madeAtMs: number;
  readonly shownFromMs: number;
  /** The origin: a command of the service, a dealer by hand, or a trader. */
  readonly by: "command" | "dealer" | "trader";
  /** Defined for a trade. */
  readonly trade?: { readonly entry: "in" | "out"; readonly position: bigint; readonly volume: bigint };
};

/** The body of a command, as it was read from the wire. */
export type BalanceCommand = {
  readonly login: string;
  readonly amountMinor: bigint;
  readonly comment: string;
  readonly checkMargin: boolean;
};

type HeldPosition = { readonly login: string; readonly volume: bigint };

export type ServerAnswer = { readonly code: number; readonly ticket: bigint | undefined };

const DONE = 0;
const NO_MONEY = 10_019;
const NOT_FOUND = 13;
const BALANCE = 2;
const BUY = 0;
const SELL = 1;
/** A lot, in units of 1e-8. */
const VOLUME = 100_000_000n;
/** An Investor that the service has created. */
export const WITHOUT_TRADING: readonly string[] = ["2002"];
const TICKET_STEP = 7n;
/** The first price of a session, before its first trade. */
const AFTER_OPENING_MS = 1_000;

/** The balances and deals of the trading platform, which is not idempotent: it executes every command that it receives. */
export class TradeServer {
  readonly deals: ServerDeal[] = [];
  /** Deals that a restart deleted. */
  readonly lostDeals: ServerDeal[] = [];
  /** Called for each deal when it is made. */
  onDeal: (deal: ServerDeal) => void = () => undefined;
  /** Called when the right of an account to trade was changed. */
  onTrading: (login: string, mayTrade: boolean) => void = () => undefined;
  isUp = true;
  readonly #scheduler: Scheduler;
  readonly #opening: ReadonlyMap<string, bigint>;
  readonly #balances: Map<string, bigint>;
  readonly #withoutTrading = new Set(WITHOUT_TRADING);
  readonly #positions = new Map<bigint, HeldPosition>();
  readonly #marginOf = new Map<bigint, bigint>();
  /** What traders wait for while the market is closed. */
  readonly #whenOpen: (() => void)[] = [];
  #closedAtMs: number | undefined;
  readonly #refusing = new Map<string, number>();
  readonly #unreadable = new Set<string>();
  readonly #resets = new Set<() => void>();
  #lastTicket = 1_000n;
  #lastLossMs = -Infinity;

  constructor(scheduler: Scheduler, opening: ReadonlyMap<string, bigint>) {
    this.#scheduler = scheduler;
    this.#opening = opening;
    this.#balances = new Map(opening);
  }

  get logins(): readonly string[] {
    return [...this.#opening.keys()];
  }

  /** The instant from which all deals are shown. */
  get allShownFromMs(): number {
    return Math.max(0, ...this.deals.map(({ shownFromMs }) => shownFromMs));
  }

  /** The instant of the last restart that deleted a deal; -Infinity without any. */
  get lastLossMs(): number {
    return this.#lastLossMs;
  }

  balanceOf(login: string): bigint | undefined {
    return this.#balances.get(login);
  }

  openingOf(login: string): bigint {
    return this.#opening.get(login) ?? 0n;
  }

  /** Executes a command each time that it arrives. */
  execute(command: BalanceCommand, commandFault: CommandFault | undefined): ServerAnswer {
    const { login, amountMinor, comment, checkMargin } = command;
    const balance = this.#balances.get(login);
    if (balance === undefined) return { code: NOT_FOUND, ticket: undefined };
    const refusal = this.#refusing.get(login);
    if (refusal !== undefined) return { code: refusal, ticket: undefined };
    const isShort = amountMinor < 0n && balance + amountMinor < this.marginOf(login);
    if (checkMargin && isShort) return { code: NO_MONEY, ticket: undefined };
    const shown = { kept: comment, cut: comment.slice(0, 9), rewritten: "adjustment" }[commandFault?.comment ?? "kept"];
    const deal = this.#add(
      { login, action: BALANCE, amountMinor, by: "command" },
      comment,
      shown,
      commandFault?.hiddenMs ?? 0,
    );
    return { code: DONE, ticket: deal.ticket };
  }

  /** Refuses all commands for a login for a while. */
  refuse(login: string, code: number, forMs: number): void {
    this.#refusing.set(login, code);
    this.#scheduler.after(forMs, "a login is accepted again", () => this.#refusing.delete(login));
  }

  /** A dealer moves money by hand. */
  addByHand(login: string, amountMinor: bigint): void {
    this.#add({ login, action: BALANCE, amountMinor, by: "dealer" }, "", "manual", 0);
  }

  /** The time of the last price. */
  get tickAtMs(): number {
    return this.#closedAtMs ?? this.#scheduler.nowMs;
  }

  /** For how long a login has held a position that was opened by a deal, or before it, while no price came. */
  unpricedMs(login: string, dealId: bigint): number {
    if (this.#closedAtMs === undefined) return 0;
    const isHeld = [...this.#positions].some(([ticket, own]) => own.login === login && ticket <= dealId);
    return isHeld ? this.#scheduler.nowMs - this.#closedAtMs : 0;
  }

  /** What the positions of a login need of its balance. */
  marginOf(login: string): bigint {
    const own = [...this.#positions].filter(([, position]) => position.login === login);
    return own.reduce((sum, [ticket]) => sum + (this.#marginOf.get(ticket) ?? 0n), 0n);
  }

  mayTrade(login: string): boolean {
    return !this.#withoutTrading.has(login);
  }

  setTrading(login: string, mayTrade: boolean): void {
    if (mayTrade) this.#withoutTrading.delete(login);
    else this.#withoutTrading.add(login);
    this.onTrading(login, mayTrade);
  }

  /** A trader holds a position that needs the whole balance. */
  holdAllMargin(login: string, forMs: number): void {
    const position = this.openPosition(login);
    if (position === undefined) return;
    this.#marginOf.set(position, this.balanceOf(login) ?? 0n);
    this.#scheduler.after(forMs, "margin is free again", () => this.closePosition(login, position, 0n));
  }

  /** A trader holds a position while the market is closed. */
  closeMarket(login: string, forMs: number): void {
    const position = this.openPosition(login);
    if (position === undefined) return;
    this.#closedAtMs = this.#scheduler.nowMs;
    this.#scheduler.after(forMs, "the market opens", () => {
      this.#closedAtMs = undefined;
      for (const trade of this.#whenOpen.splice(0)) trade();
    });
    this.#scheduler.after(forMs + AFTER_OPENING_MS, "a trader closes", () => this.closePosition(login, position, 0n));
  }

  /** A trader buys; the position stays open until `closePosition`. Undefined while the market is closed. */
  openPosition(login: string): bigint | undefined {
    if (this.#closedAtMs !== undefined) return undefined;
    const position = this.#lastTicket + TICKET_STEP;
    const trade = { entry: "in", position, volume: VOLUME } as const;
    this.#add({ login, action: BUY, amountMinor: 0n, by: "trader", trade }, "", "", 0);
    this.#positions.set(position, { login, volume: VOLUME });
    return position;
  }

  /** Waits until the market is open. Does nothing when the position does not exist any more. */
  closePosition(login: string, position: bigint, profitMinor: bigint): void {
    if (this.#closedAtMs !== undefined) {
      this.#whenOpen.push(() => this.closePosition(login, position, profitMinor));
      return;
    }
    if (!this.#positions.has(position)) return;
    const trade = { entry: "out", position, volume: VOLUME } as const;
    this.#positions.delete(position);
    this.#add({ login, action: SELL, amountMinor: profitMinor, by: "trader", trade }, "", "", 0);
  }

  positionsOf(login: string): readonly { readonly ticket: bigint; readonly volume: bigint }[] {
    const own = [...this.#positions].filter(([, position]) => position.login === login);
    return own.map(([ticket, { volume }]) => ({ ticket, volume }));
  }

  /** Answers about this login are not as documented for a while, or for ever. */
  makeUnreadable(login: string, forMs: number): void {
    this.#unreadable.add(login);
    if (forMs === Infinity) return;
    this.#scheduler.after(forMs, "a login can be read again", () => this.#unreadable.delete(login));
  }

  isUnreadable(login: string): boolean {
    return this.#unreadable.has(login);
  }

  /** The deals that a read shows now, in the order of the history. */
  history(logins: readonly string[], fromMs: number, toMs: number): readonly ServerDeal[] {
    const { nowMs } = this.#scheduler;
    return this.deals.filter(
      ({ login, madeAtMs, shownFromMs }) =>
        logins.includes(login) && shownFromMs <= nowMs && madeAtMs >= fromMs && madeAtMs <= toMs,
    );
  }

  /** Loses its latest deals and all connections, and is down for a while. */
  restart(losesLastMs: number, downMs: number): void {
    const sinceMs = this.#scheduler.nowMs - losesLastMs;
    while ((this.deals.at(-1)?.madeAtMs ?? 0) > sinceMs) {
      const deal = this.deals.pop()!;
      this.lostDeals.push(deal);
      this.#lastLossMs = this.#scheduler.nowMs;
      this.#change(deal.login, -deal.amountMinor);
      this.#undo(deal);
    }
    this.isUp = false;
    for (const reset of this.#resets) reset();
    this.#scheduler.after(downMs, "platform is back", () => {
      this.isUp = true;
    });
  }

  /** Called when the server loses its connections, until disposed. */
  whenReset(reset: () => void): Disposable {
    this.#resets.add(reset);
    return { [Symbol.dispose]: () => void this.#resets.delete(reset) };
  }

  #add(
    what: Pick<ServerDeal, "login" | "action" | "amountMinor" | "by" | "trade">,
    sentComment: string,
    shownComment: string,
    hiddenMs: number,
  ): ServerDeal {
    this.#lastTicket += TICKET_STEP;
    const madeAtMs = Math.floor(this.#scheduler.nowMs);
    const shownFromMs = this.#scheduler.nowMs + hiddenMs;
    const deal: ServerDeal = { ...what, ticket: this.#lastTicket, sentComment, shownComment, madeAtMs, shownFromMs };
    this.deals.push(deal);
    this.#change(deal.login, deal.amountMinor);
    this.onDeal(deal);
    return deal;
  }

  /** Undoes the effect of a lost deal on its position. */
  #undo({ login, trade }: ServerDeal): void {
    if (trade?.entry === "in") this.#positions.delete(trade.position);
    if (trade?.entry === "out") this.#positions.set(trade.position, { login, volume: trade.volume });
  }

  #change(login: string, byMinor: bigint): void {
    this.#balances.set(login, (this.#balances.get(login) ?? 0n) + byMinor);
  }
}
