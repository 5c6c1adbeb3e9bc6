import { setTimeout as sleep } from "node:timers/promises";
import { balanceEffect, type Deal, DEAL_ACTION, type Period } from "./deals.ts";
import { Mt5Error } from "./errors.ts";

/** What the history is asked. */
export type HistoryQuestions = {
  readonly getDeal: (ticket: bigint) => Promise<Deal | undefined>;
  readonly readDeals: (login: string, period: Period) => Promise<readonly Deal[]>;
};

/** What of a command a deal would show. */
type Ordered = { readonly login: string; readonly amountMinor: bigint; readonly comment: string };

/** Clocks and zones may hide a deal from a narrow window. */
const WINDOW_MS = 24 * 3_600_000;

/** What stands under a ticket: the deal that the order would have made, another one, or nothing that can be seen now. */
type UnderTicket = "the deal" | "another deal" | "nothing";

/** How often one looks for a deal that has to be seen: it may be shown a moment after its ticket was told. */
const LOOKS = 5;
const PAUSE_MS = 200;

export async function lookUnderTicket(
  history: HistoryQuestions,
  order: Ordered,
  { ticket, mustBeSeen }: { readonly ticket: bigint; readonly mustBeSeen: boolean },
): Promise<UnderTicket> {
  for (let looks = 1; ; looks += 1) {
    const found = await underTicket(history, order, ticket);
    if (found !== "nothing" || !mustBeSeen || looks === LOOKS) return found;
    await sleep(PAUSE_MS);
  }
}

async function underTicket(
  { getDeal }: HistoryQuestions,
  { login, amountMinor }: Ordered,
  ticket: bigint,
): Promise<UnderTicket> {
  return await orElse<UnderTicket>("nothing", async () => {
    const deal = await getDeal(ticket);
    if (deal === undefined) return "nothing";
    const isOurs = deal.login === login && deal.action === DEAL_ACTION.balance && balanceEffect(deal) === amountMinor;
    return isOurs ? "the deal" : "another deal";
  });
}

/** Whether the history shows nothing of the order. False also when that cannot be seen now. */
export async function showsNothingOf({ readDeals }: HistoryQuestions, { login, comment }: Ordered): Promise<boolean> {
  return await orElse(false, async () => {
    const now = Date.now();
    const period = { from: new Date(now - WINDOW_MS), to: new Date(now + WINDOW_MS) };
    const deals = await readDeals(login, period);
    return deals.every((deal) => deal.comment !== comment);
  });
}

async function orElse<Seen>(unseen: Seen, look: () => Promise<Seen>): Promise<Seen> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Mt5Error) return unseen;
    throw error;
  }
}

/** Tickets that the platform has told this process as answers to commands. */
export type ToldTickets = {
  /** False when it was told before: a deal is the answer to one command. */
  readonly isFirst: (ticket: bigint) => boolean;
};

/** An answer that comes again comes soon; older tickets are found in the books. */
const REMEMBERED = 10_000;

export function createToldTickets(): ToldTickets {
  const told = new Set<bigint>();
  return {
    isFirst(ticket) {
      if (told.has(ticket)) return false;
      told.add(ticket);
      const [oldest] = told;
      if (told.size > REMEMBERED && oldest !== undefined) told.delete(oldest);
      return true;
    },
  };
}

/** Answers to commands that did not come, or not so that they could be believed. */
export type MissedAnswers = {
  readonly tell: () => void;
  /** One of them may still come, to whoever asks next. */
  readonly mayCome: () => boolean;
};

/** A command may be executed, and so answered, this much later. */
const COMES_WITHIN_MS = 10 * 60_000;

/** `isMissing`: whether somebody before this process left a command without its answer. */
export function createMissedAnswers(isMissing: boolean): MissedAnswers {
  let missedAtMs = isMissing ? performance.now() : undefined;
  return {
    tell: () => void (missedAtMs = performance.now()),
    mayCome: () => missedAtMs !== undefined && performance.now() - missedAtMs < COMES_WITHIN_MS,
  };
}
