import { setTimeout as sleep } from "node:timers/promises";
import { batchQueue } from "#kernel/batches/batch-queue.ts";
import { type Deal, effectOf, isBalanceOperation, type Period } from "./deals.ts";
import { isMt5Error, orElse } from "./errors.ts";
import { CLOCK_WINDOW_MS } from "./server-clock.ts";

/** Reads of the history that confirm or contradict an answer. */
export type HistoryReads = {
  readonly getDeal: (ticket: bigint) => Promise<Deal | undefined>;
  readonly findDealsByTicket: (tickets: readonly bigint[]) => Promise<ReadonlyMap<bigint, Deal>>;
  readonly readDeals: (login: string, period: Period) => Promise<readonly Deal[]>;
};

/** The members of a deal that identify the command behind it. */
type ExpectedDeal = { readonly login: string; readonly amountMinor: bigint; readonly comment: string };

/** The deal under a ticket: the expected one, another one, or none that the platform shows now. */
type DealMatch = "the deal" | "another deal" | "nothing";

/** Reads of a deal that has to be shown: the platform may show it a moment after it has answered the ticket. */
const MAX_READS = 5;
const PAUSE_MS = 200;

/** Reads the deal under a ticket on the session of its command. */
export type TicketLook = (history: HistoryReads, ticket: bigint) => Promise<Deal | undefined>;

/** Tickets of one request: more than there are sessions. */
const MAX_TICKETS = 64;
const MAX_WAITING = 1_000;

/**
 * Tickets that are looked at while the last request runs share the next one, on the session of one of them. A ticket that it
 * does not show is looked at alone, because a server may cut or refuse a list.
 */
export function createTicketLook(): TicketLook {
  type Look = { readonly history: HistoryReads; readonly ticket: bigint };
  const queue = batchQueue<Look, { readonly deal: Deal | undefined }>({
    name: "look at tickets",
    maxItems: MAX_TICKETS,
    maxWaiting: MAX_WAITING,
    async run(looks) {
      const [first, second] = looks;
      const tickets = looks.map(({ ticket }) => ticket);
      const shown =
        first && second && (await orElse(undefined, isMt5Error, () => first.history.findDealsByTicket(tickets)));
      return await Promise.all(looks.map((look) => alone(look, shown?.get(look.ticket))));
    },
  });
  const alone = async ({ history, ticket }: Look, shown: Deal | undefined) => {
    try {
      return { deal: shown ?? (await history.getDeal(ticket)) };
    } catch (error) {
      return error instanceof Error ? error : new Error("a deal could not be read", { cause: error });
    }
  };
  return async (history, ticket) => (await queue.add({ history, ticket })).deal;
}

export async function findDealByTicket(
  look: (ticket: bigint) => Promise<Deal | undefined>,
  expected: ExpectedDeal,
  { ticket, mustBeShown }: { readonly ticket: bigint; readonly mustBeShown: boolean },
): Promise<DealMatch> {
  for (let reads = 1; ; reads += 1) {
    const found = await matchDeal(look, expected, ticket);
    if (found !== "nothing" || !mustBeShown || reads === MAX_READS) return found;
    await sleep(PAUSE_MS);
  }
}

async function matchDeal(
  look: (ticket: bigint) => Promise<Deal | undefined>,
  { login, amountMinor }: ExpectedDeal,
  ticket: bigint,
): Promise<DealMatch> {
  return await orElse<DealMatch>("nothing", isMt5Error, async () => {
    const deal = await look(ticket);
    if (deal === undefined) return "nothing";
    const isExpected = deal.login === login && isBalanceOperation(deal) && effectOf(deal) === amountMinor;
    return isExpected ? "the deal" : "another deal";
  });
}

/** True when the history was read and has no deal with the comment of the order; false also when it cannot be read. */
export async function hasNoDealWithComment(
  { readDeals }: HistoryReads,
  { login, comment }: ExpectedDeal,
): Promise<boolean> {
  return await orElse(false, isMt5Error, async () => {
    const now = Date.now();
    const period = { from: new Date(now - CLOCK_WINDOW_MS), to: new Date(now + CLOCK_WINDOW_MS) };
    const deals = await readDeals(login, period);
    return deals.every((deal) => deal.comment !== comment);
  });
}

/** A repeated answer comes soon after the first; older tickets are found in the tables. */
const REMEMBERED = 10_000;
/** The platform may execute, and so answer, a command this long after it was sent. */
const MAX_DELAY_MS = 10 * 60_000;

/** The answers to commands that this process has received, and those that did not arrive or were not accepted as evidence. */
export class ReceivedAnswers {
  readonly #tickets = new Set<bigint>();
  #missedAtMs: number | undefined;

  /** `isMissing`: an earlier process left a command without its answer. */
  constructor(isMissing: boolean) {
    if (isMissing) this.noteMissing();
  }

  /** False when the ticket was received before: a deal is the answer to one command only. */
  isFirst(ticket: bigint): boolean {
    if (this.#tickets.has(ticket)) return false;
    this.#tickets.add(ticket);
    const [oldest] = this.#tickets;
    if (this.#tickets.size > REMEMBERED && oldest !== undefined) this.#tickets.delete(oldest);
    return true;
  }

  noteMissing(): void {
    this.#missedAtMs = performance.now();
  }

  /** A missing answer may still arrive, and would be read as the answer to the next request. */
  mayArrive(): boolean {
    return this.#missedAtMs !== undefined && performance.now() - this.#missedAtMs < MAX_DELAY_MS;
  }
}
