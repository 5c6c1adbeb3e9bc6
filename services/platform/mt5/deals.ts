import type { Mt5ReadContext } from "./context.ts";
import { type Fields, fieldsOf, loginOf, requireLogin, ticketOf, volumeOf } from "./fields.ts";
import type { JsonValue } from "./http/json.ts";
import { readList } from "./lists.ts";
import { findDone } from "./reader.ts";
import type { ServerClock } from "./server-clock.ts";
import { badAnswer } from "./errors.ts";

/** Deal actions that this service distinguishes; all others are charges and corrections of the broker. */
export const DEAL_ACTION = {
  buy: 0,
  sell: 1,
  balance: 2,
  credit: 3,
  charge: 4,
  correction: 5,
  bonus: 6,
  buyCanceled: 13,
  sellCanceled: 14,
  compensationCredit: 20,
} as const;
const BALANCE_OPERATIONS = new Set<number>([DEAL_ACTION.balance, DEAL_ACTION.charge, DEAL_ACTION.correction]);
const DEAL_ENTRY = { in: 0, reversal: 2 } as const;

/** A trade or a balance operation: both are in one history. */
export type Deal = {
  readonly ticket: bigint;
  readonly login: string;
  readonly action: number;
  /** 0 in, 1 out, 2 reversal, 3 closed by an opposite position. */
  readonly entry: number;
  readonly positionId: bigint;
  readonly symbol: string;
  /** Lots in units of 1e-8. */
  readonly volume: bigint;
  readonly volumeClosed: bigint;
  /** All money in the account's currency; a balance operation carries its signed amount here. */
  readonly profitMinor: bigint;
  readonly swapMinor: bigint;
  readonly commissionMinor: bigint;
  readonly feeMinor: bigint;
  readonly comment: string;
  /** The server's wall clock as the platform shows it, for ordering and for the record. */
  readonly serverTimeMs: number;
  readonly at: Date;
};

type Effect = Pick<Deal, "profitMinor" | "swapMinor" | "commissionMinor" | "feeMinor">;

export type Period = { readonly from: Date; readonly to: Date };

/** The platform's bounds are whole seconds, inclusive or not depending on the server. */
const EDGE_MS = 1_000;

/** A balance operation (balance, charge, correction), not a trade, fee or interest. */
export function isBalanceOperation({ action }: Pick<Deal, "action">): boolean {
  return BALANCE_OPERATIONS.has(action);
}

/** Signed change of the balance by a deal that is balance and not credit, in minor units. */
export function effectOf({ profitMinor, swapMinor, commissionMinor, feeMinor }: Effect): bigint {
  return profitMinor + swapMinor + commissionMinor + feeMinor;
}

/**
 * Every deal of a login in a period, possibly some more at both ends, ordered by server time. Throws when the list
 * cannot be read whole. Deals are dated after they were read: the clock may have been changed meanwhile.
 */
export async function readDeals(mt5: Mt5ReadContext, login: string, period: Period): Promise<readonly Deal[]> {
  const query = { login, ...bounds(await mt5.clock(), period) };
  const toRows = async (rows: readonly JsonValue[]) => {
    const clock = await mt5.clock();
    return rows.map((row) => readDeal(row, clock, login));
  };
  const deals = await readList(mt5, { what: "deals", path: "deal", query, toRows });
  return inOrder(deals, await mt5.clock());
}

/** One deal by its ticket; undefined when the platform has none. */
export async function getDeal(mt5: Mt5ReadContext, ticket: bigint): Promise<Deal | undefined> {
  const query = { ticket: ticket.toString() };
  const found = findDone(await mt5.read({ method: "GET", path: "deal/get", query }));
  if (found === undefined) return undefined;
  const deal = readDeal(found.answer, await mt5.clock());
  if (deal.ticket !== ticket) throw badAnswer("the platform answers about another deal");
  return deal;
}

/** The parameters of a period, in seconds of the server's wall clock. Both passes of a repeated hour are in them. */
export function bounds(clock: ServerClock, { from, to }: Period): { from: string; to: string } {
  const { fromMs, toMs } = clock.serverPeriod(from.getTime(), to.getTime());
  return {
    from: String(Math.max(0, Math.floor((fromMs - EDGE_MS) / 1_000))),
    to: String(Math.ceil((toMs + EDGE_MS) / 1_000)),
  };
}

/** By server time, then ticket; in a repeated hour by ticket alone. */
export function inOrder<Shown extends Deal>(deals: readonly Shown[], { orderMs }: ServerClock): readonly Shown[] {
  const ordered = deals.map((deal) => ({ deal, ms: orderMs(deal.serverTimeMs) }));
  return ordered.toSorted((a, b) => a.ms - b.ms || (a.deal.ticket < b.deal.ticket ? -1 : 1)).map(({ deal }) => deal);
}

/** One record of the history. With `login`, a record of another login throws. */
export function readDeal(row: JsonValue | undefined, clock: ServerClock, login?: string): Deal {
  const fields = fieldsOf(row);
  if (login !== undefined) requireLogin(fields, login);
  const action = fields.code("Action");
  const isTrade = action === DEAL_ACTION.buy || action === DEAL_ACTION.sell;
  const entry = isTrade || fields.has("Entry") ? fields.code("Entry") : DEAL_ENTRY.in;
  const serverTimeMs = fields.has("TimeMsc") ? fields.timeMs("TimeMsc", 1) : fields.timeMs("Time", 1_000);
  return {
    ticket: ticketOf(fields, "Deal"),
    login: loginOf(fields),
    action,
    entry,
    positionId: isTrade ? ticketOf(fields, "PositionID") : 0n,
    symbol: fields.shownText("Symbol"),
    volume: isTrade ? volumeOf(fields, "Volume") : 0n,
    volumeClosed: isTrade ? closedVolumeOf(fields, entry) : 0n,
    ...moneyOf(fields),
    comment: fields.shownText("Comment"),
    serverTimeMs,
    at: new Date(clock.toUtcMs(serverTimeMs)),
  };
}

/** Older servers have no such field: a deal in closes nothing, and a deal out all of its volume. A reversal needs the field. */
function closedVolumeOf(fields: Fields, entry: number): bigint {
  const isShown = fields.has("VolumeClosed") || fields.has("VolumeClosedExt");
  if (isShown || entry === DEAL_ENTRY.reversal) return volumeOf(fields, "VolumeClosed");
  return entry === DEAL_ENTRY.in ? 0n : volumeOf(fields, "Volume");
}

function moneyOf(fields: Fields): Pick<Deal, "profitMinor" | "swapMinor" | "commissionMinor" | "feeMinor"> {
  return {
    profitMinor: fields.minor("Profit"),
    swapMinor: fields.minor("Storage", 0n),
    commissionMinor: fields.minor("Commission", 0n),
    // Older servers have no such field.
    feeMinor: fields.minor("Fee", 0n),
  };
}
