import type { Trouble } from "../plan/plan.ts";
import type { Scheduler } from "./scheduler.ts";

/** A deal as the platform really made it, and as it shows it. */
export type ServerDeal = {
  readonly ticket: bigint;
  readonly login: string;
  /** 2 for a balance operation, 0 and 1 for trades. */
  readonly action: number;
  readonly amountMinor: bigint;
  /** What was sent with it, whatever became of it. */
  readonly sentComment: string;
  readonly shownComment: string;
  readonly madeAtMs: number;
  readonly shownFromMs: number;
  /** A person's, a trader's, or that of a command. */
  readonly by: "command" | "dealer" | "trader";
  /** Of a trade: what it does with which position. */
  readonly trade?: { readonly entry: "in" | "out"; readonly position: bigint; readonly volume: bigint };
};

/** The body of a command, as it was read from the wire. */
export type BalanceCommand = {
  readonly login: string;
  readonly amountMinor: bigint;
  readonly comment: string;
  readonly checkMargin: boolean;
};

export type ServerAnswer = { readonly code: number; readonly ticket: bigint | undefined };

const DONE = 0;
const NO_MONEY = 10_019;
const NOT_FOUND = 13;
const BALANCE = 2;
const BUY = 0;
const SELL = 1;
/** A lot, in units of 1e-8. */
const VOLUME = 100_000_000n;
const TICKET_STEP = 7n;

/** The truth about everybody's money: a platform that knows no idempotency and executes whatever it gets. */
export class TradeServer {
  readonly deals: ServerDeal[] = [];
  readonly forgotten: ServerDeal[] = [];
  /** Told of each deal at the moment it is made. */
  onDeal: (deal: ServerDeal) => void = () => undefined;
  isUp = true;
  readonly #scheduler: Scheduler;
  readonly #opening: ReadonlyMap<string, bigint>;
  readonly #balances: Map<string, bigint>;
  readonly #positions = new Map<bigint, { readonly login: string; readonly volume: bigint }>();
  readonly #refusing = new Map<string, number>();
  readonly #resets = new Set<() => void>();
  #lastTicket = 1_000n;
  #lastForgottenMs = -Infinity;

  constructor(scheduler: Scheduler, opening: ReadonlyMap<string, bigint>) {
    this.#scheduler = scheduler;
    this.#opening = opening;
    this.#balances = new Map(opening);
  }

  get logins(): readonly string[] {
    return [...this.#opening.keys()];
  }

  /** From when on everything that was made is shown. */
  get allShownFromMs(): number {
    return Math.max(0, ...this.deals.map(({ shownFromMs }) => shownFromMs));
  }

  /** When it last lost something; before everything when it never did. */
  get lastForgottenMs(): number {
    return this.#lastForgottenMs;
  }

  balanceOf(login: string): bigint | undefined {
    return this.#balances.get(login);
  }

  openingOf(login: string): bigint {
    return this.#opening.get(login) ?? 0n;
  }

  /** Executes a command, once for each time that it comes. */
  execute(command: BalanceCommand, trouble: Trouble | undefined): ServerAnswer {
    const { login, amountMinor, comment, checkMargin } = command;
    const balance = this.#balances.get(login);
    if (balance === undefined) return { code: NOT_FOUND, ticket: undefined };
    const refusal = this.#refusing.get(login);
    if (refusal !== undefined) return { code: refusal, ticket: undefined };
    if (checkMargin && amountMinor < 0n && balance + amountMinor < 0n) return { code: NO_MONEY, ticket: undefined };
    const shown = { kept: comment, cut: comment.slice(0, 9), rewritten: "adjustment" }[trouble?.comment ?? "kept"];
    const deal = this.#add(
      { login, action: BALANCE, amountMinor, by: "command" },
      comment,
      shown,
      trouble?.hiddenMs ?? 0,
    );
    return { code: DONE, ticket: deal.ticket };
  }

  /** Takes nothing for a login, for a while. */
  refuse(login: string, code: number, forMs: number): void {
    this.#refusing.set(login, code);
    this.#scheduler.after(forMs, "a login is well", () => this.#refusing.delete(login));
  }

  /** A person moves money by hand. */
  addByHand(login: string, amountMinor: bigint): void {
    this.#add({ login, action: BALANCE, amountMinor, by: "dealer" }, "", "manual", 0);
  }

  /** A trader buys; the position lasts until it is sold again. */
  openPosition(login: string): bigint {
    const position = this.#lastTicket + TICKET_STEP;
    const trade = { entry: "in", position, volume: VOLUME } as const;
    this.#add({ login, action: BUY, amountMinor: 0n, by: "trader", trade }, "", "", 0);
    this.#positions.set(position, { login, volume: VOLUME });
    return position;
  }

  /** Nothing when there is no such position any more. */
  closePosition(login: string, position: bigint, profitMinor: bigint): void {
    if (!this.#positions.has(position)) return;
    const trade = { entry: "out", position, volume: VOLUME } as const;
    this.#positions.delete(position);
    this.#add({ login, action: SELL, amountMinor: profitMinor, by: "trader", trade }, "", "", 0);
  }

  positionsOf(login: string): readonly { readonly ticket: bigint; readonly volume: bigint }[] {
    const own = [...this.#positions].filter(([, position]) => position.login === login);
    return own.map(([ticket, { volume }]) => ({ ticket, volume }));
  }

  /** What anybody who asks now is shown, in the order of the history. */
  history(logins: readonly string[], fromMs: number, toMs: number): readonly ServerDeal[] {
    const { nowMs } = this.#scheduler;
    return this.deals.filter(
      ({ login, madeAtMs, shownFromMs }) =>
        logins.includes(login) && shownFromMs <= nowMs && madeAtMs >= fromMs && madeAtMs <= toMs,
    );
  }

  /** Loses what it made last and every connection, and is away for a while. */
  restart(forgetsMs: number, downMs: number): void {
    const sinceMs = this.#scheduler.nowMs - forgetsMs;
    while ((this.deals.at(-1)?.madeAtMs ?? 0) > sinceMs) {
      const deal = this.deals.pop()!;
      this.forgotten.push(deal);
      this.#lastForgottenMs = this.#scheduler.nowMs;
      this.#change(deal.login, -deal.amountMinor);
      this.#unmake(deal);
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

  /** A position is what the deals that are left have made of it. */
  #unmake({ login, trade }: ServerDeal): void {
    if (trade?.entry === "in") this.#positions.delete(trade.position);
    if (trade?.entry === "out") this.#positions.set(trade.position, { login, volume: trade.volume });
  }

  #change(login: string, byMinor: bigint): void {
    this.#balances.set(login, (this.#balances.get(login) ?? 0n) + byMinor);
  }
}
