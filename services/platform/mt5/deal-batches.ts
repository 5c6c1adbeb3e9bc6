import { bounds, type Deal, inOrder, type Period, readDeal, readDeals } from "./deals.ts";
import type { Mt5ReadContext } from "./context.ts";
import { type BatchAnswer, readBatch } from "./batches.ts";
import { badAnswer, orUndefined } from "./errors.ts";
import { batchesOf, fieldsOf, loginOf } from "./fields.ts";
import { getUsers } from "./users.ts";

/** One request that returns deals of many accounts: deal/get_batch with one of its three selectors. */
const PATH = "deal/get_batch";

/**
 * Deals of several logins at once. It finds deals but never proves that there is none: the platform documents no limit of
 * rows and does not mark a list that it cut.
 */
export async function findDeals(
  mt5: Mt5ReadContext,
  logins: readonly string[],
  period: Period,
): Promise<readonly Deal[]> {
  const deals: Deal[] = [];
  for (const batch of batchesOf(logins)) deals.push(...(await readLogins(mt5, batch, period)));
  return inOrder(deals, await mt5.clock());
}

/** When the server answers that its limit is reached, the batch is halved; a single login is read page by page. */
async function readLogins(mt5: Mt5ReadContext, logins: readonly string[], period: Period): Promise<readonly Deal[]> {
  const answered = await readBatch(mt5, PATH, { login: logins.join(","), ...bounds(await mt5.clock(), period) });
  switch (answered.kind) {
    case "rows": {
      const clock = await mt5.clock();
      const deals = answered.rows.map((row) => readDeal(row, clock));
      if (deals.some(({ login }) => !logins.includes(login))) {
        throw badAnswer("the platform answers about another login");
      }
      if (deals.length > 0) mt5.batches.noteRows(PATH);
      return deals;
    }
    case "too_many": {
      if (logins.length === 1) return await readAlone(mt5, logins, period);
      const half = Math.ceil(logins.length / 2);
      const first = await readLogins(mt5, logins.slice(0, half), period);
      return [...first, ...(await readLogins(mt5, logins.slice(half), period))];
    }
    case "not_found":
      return await readNotFound(mt5, { logins, period, reason: answered.reason });
    case "refused":
      mt5.batches.noteRefused(PATH, answered.reason);
      return await readAlone(mt5, logins, period);
  }
}

/**
 * "Not found" for a batch means that it has no deals, that one of its accounts does not exist, or that the server does not
 * select so. It means the first only for accounts that the platform shows, on a server that has selected so before.
 */
async function readNotFound(
  mt5: Mt5ReadContext,
  { logins, period, reason }: { readonly logins: readonly string[]; readonly period: Period; readonly reason: string },
): Promise<readonly Deal[]> {
  const users = await getUsers(mt5, logins);
  const shown = logins.filter((login) => users.has(login));
  if (!mt5.batches.hasShownRows(PATH)) {
    mt5.batches.noteRefused(PATH, reason);
    return await readAlone(mt5, shown, period);
  }
  return shown.length === logins.length || shown.length === 0 ? [] : await readLogins(mt5, shown, period);
}

/** Page by page, one account after the other. */
async function readAlone(mt5: Mt5ReadContext, logins: readonly string[], period: Period): Promise<readonly Deal[]> {
  const deals: Deal[] = [];
  for (const login of logins) deals.push(...(await readDeals(mt5, login, period)));
  return deals;
}

/** What the platform answers about the deals of a group. */
export type GroupDeals =
  | {
      readonly kind: "read";
      /** Deals of the accounts that were asked for, by server time and then ticket. */
      readonly deals: readonly Deal[];
      /** Rows of the answer, those of other accounts included. */
      readonly rows: number;
      /** Accounts with a row that is not as documented: none of their deals is returned. */
      readonly unreadable: ReadonlySet<string>;
    }
  /** More rows than the server returns at once: the period has to be shorter. */
  | { readonly kind: "too_many" }
  /** The server, or the rights of the manager, do not allow to select by group. */
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Deals of all accounts of a group in a period, with one request. Rows of other accounts are not read beyond their login: a
 * row of another client of the broker must not stop the reading of these accounts. `group` is an exact name, not a mask.
 */
export async function findGroupDeals(
  mt5: Mt5ReadContext,
  group: string,
  period: Period,
  { isAskedFor }: { readonly isAskedFor: (login: string) => boolean },
): Promise<GroupDeals> {
  const answered = await selectedBy(mt5, { group, ...bounds(await mt5.clock(), period) });
  if (answered.kind !== "rows") return answered;
  const clock = await mt5.clock();
  const deals: Deal[] = [];
  const unreadable = new Set<string>();
  for (const row of answered.rows) {
    // A row without a readable login may be of any account: it fails the whole read.
    const login = loginOf(fieldsOf(row));
    if (!isAskedFor(login)) continue;
    const deal = orUndefined(() => readDeal(row, clock));
    if (deal === undefined) unreadable.add(login);
    else deals.push(deal);
  }
  const ofReadable = deals.filter(({ login }) => !unreadable.has(login));
  return { kind: "read", deals: inOrder(ofReadable, clock), rows: answered.rows.length, unreadable };
}

/**
 * Those of the deals that the platform shows, by ticket. A deal that is not returned may exist: a server that does not
 * select by ticket, or a row that is not as documented, leaves it out.
 */
export async function findDealsByTicket(
  mt5: Mt5ReadContext,
  tickets: readonly bigint[],
): Promise<ReadonlyMap<bigint, Deal>> {
  const shown = new Map<bigint, Deal>();
  for (const asked of batchesOf(tickets)) {
    const answered = await selectedBy(mt5, { ticket: asked.join(",") });
    const clock = await mt5.clock();
    for (const row of answered.kind === "rows" ? answered.rows : []) {
      const deal = orUndefined(() => readDeal(row, clock));
      if (deal !== undefined && asked.includes(deal.ticket)) shown.set(deal.ticket, deal);
    }
  }
  return shown;
}

type Selected = Extract<BatchAnswer, { readonly kind: "rows" }> | Exclude<GroupDeals, { readonly kind: "read" }>;

async function selectedBy(mt5: Mt5ReadContext, query: Readonly<Record<string, string>>): Promise<Selected> {
  const answered = await readBatch(mt5, PATH, query);
  return answered.kind === "not_found" ? { kind: "refused", reason: answered.reason } : answered;
}
