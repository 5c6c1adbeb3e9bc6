import { changeBalance } from "../../../services/platform/mt5/balance.ts";
import type { Mt5Client } from "../../../services/platform/mt5/client.ts";
import type { Deal, Period } from "../../../services/platform/mt5/deals.ts";
import { badAnswer, Mt5Error } from "../../../services/platform/mt5/errors.ts";
import {
  createTicketLook,
  type HistoryReads,
  ReceivedAnswers,
} from "../../../services/platform/mt5/answer-correlation.ts";
import type { Position } from "../../../services/platform/mt5/positions.ts";
import { USER_RIGHT } from "../../../services/platform/mt5/users.ts";
import { zoneClock } from "../../../services/platform/mt5/server-clock.ts";
import { type CommandConnectionOptions, sendCommand } from "./command-connection.ts";
import type { SimulatedProcess } from "./process.ts";
import type { ServerDeal } from "./trade-server.ts";

const MAX_READ_MS = 15;
/** Share of the lists of many accounts that the server cuts without saying so. */
const CUT_LISTS = 0.1;
const SESSIONS = 4;
/** Share of the changes of a right whose answer is lost. */
const LOST_CHANGES = 0.1;
const SYMBOL = "EURUSD";

/**
 * The client of the platform's Web API in one process. Commands use the real `changeBalance` with its classification of
 * answers; a read returns everything or fails, as the real client does after it has read all pages.
 */
export function createMt5Client(options: CommandConnectionOptions, process: SimulatedProcess): Mt5Client {
  const { server, scheduler, random, faults } = options;
  const request = <T>(what: string, read: () => T, logins: readonly string[] = []): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    scheduler.after(random.next() * MAX_READ_MS, `${process.name} requests ${what}`, () => {
      const isLost = !server.isUp || faults.failsReads();
      const answer = isLost ? undefined : { value: read() };
      const odd = logins.find((login) => server.isUnreadable(login));
      process.deliver("read", what, () => {
        if (answer === undefined) reject(new Mt5Error("lost", `the platform did not answer ${what}`));
        else if (odd !== undefined) reject(badAnswer(`${what}: a field of ${odd} is not as documented`));
        else resolve(answer.value);
      });
    });
    return promise;
  };
  const findUser = (login: string) => {
    const balanceMinor = server.balanceOf(login);
    const rights = USER_RIGHT.enabled | (server.mayTrade(login) ? 0n : USER_RIGHT.tradeDisabled);
    const rest = {
      group: "real",
      name: "",
      email: "",
      comment: "",
      rights,
      leverage: 100,
      creditMinor: 0n,
      registration: 1n,
    };
    return balanceMinor === undefined ? undefined : { login, balanceMinor, ...rest };
  };
  /** Rows of an account are odd only where there are any. */
  const withDeals = (logins: readonly string[], period: Period) =>
    logins.filter((login) => server.isUnreadable(login) && history([login], period).length > 0);
  const history = (logins: readonly string[], { from, to }: Period) =>
    server.history(logins, from.getTime(), to.getTime()).map(shown);

  const historyReads: HistoryReads = {
    readDeals: (login, period) =>
      request("deals of a login", () => history([login], period), withDeals([login], period)),
    getDeal: (ticket) => request("deal", () => dealOf(server.deals, ticket, scheduler.nowMs)),
    findDealsByTicket: (tickets) =>
      request("deals by ticket", () => {
        const found = tickets.flatMap((ticket) => dealOf(server.deals, ticket, scheduler.nowMs) ?? []);
        return new Map(found.map((deal) => [deal.ticket, deal]));
      }),
  };
  const sessions = createSessions(options, process, historyReads);

  return {
    ...historyReads,
    getUser: (login) => request("user", () => findUser(login), [login]),
    getUsers: (logins) =>
      request(
        "users",
        () => new Map(logins.flatMap((login) => [findUser(login) ?? []].flat().map((user) => [login, user]))),
        logins,
      ),
    readUsers: (logins) =>
      request("users", () => {
        const unreadable = new Set(logins.filter((login) => server.isUnreadable(login)));
        const users = logins.filter((login) => !unreadable.has(login)).flatMap((login) => findUser(login) ?? []);
        return { users: new Map(users.map((user) => [user.login, user])), unreadable };
      }),
    // All accounts are shown.
    findUsersBeside: (_witness, logins) => Promise.resolve(new Set(logins)),
    getGroup: () => notSimulated("getGroup"),
    readPositions: (login) =>
      request("positions", () => server.positionsOf(login).map((own) => openPosition(login, own))),
    // A server may cut the list.
    findPositions: (logins) =>
      request("positions of logins", () => {
        const isCut = random.next() < CUT_LISTS;
        const shownOf = (login: string) => server.positionsOf(login).slice(isCut ? 1 : 0);
        return new Map(logins.map((login) => [login, shownOf(login).map((own) => openPosition(login, own))]));
      }),
    readTicks: (symbols) =>
      request("prices", () => {
        const tick = { at: new Date(server.tickAtMs), serverMs: server.tickAtMs };
        return new Map(symbols.map((symbol) => [symbol, tick]));
      }),
    // A price is a mark by its age alone.
    readSessions: () => Promise.resolve([]),
    findDeals: (logins, period) => request("deals", () => history(logins, period), withDeals(logins, period)),
    // All accounts are in one group.
    findGroupDeals: (_group, period, { isAskedFor }) =>
      request("deals of a group", () => {
        const deals = history(server.logins, period);
        const unreadable = new Set(withDeals(server.logins.filter(isAskedFor), period));
        const asked = deals.filter(({ login }) => isAskedFor(login) && !unreadable.has(login));
        return { kind: "read", deals: asked, rows: deals.length, unreadable };
      }),
    addUser: () => notSimulated("addUser"),
    disableUser: () => notSimulated("disableUser"),
    setTrading: async (login, mayTrade, beforeSending) => {
      if ((await request("rights", () => server.mayTrade(login), [login])) === mayTrade) return { kind: "done" };
      await beforeSending();
      await request("change of rights", () => server.setTrading(login, mayTrade));
      if (random.next() < LOST_CHANGES) throw new Mt5Error("lost", "the answer to a change of rights is lost");
      return { kind: "done" };
    },
    eraseUser: () => notSimulated("eraseUser"),
    checkPassword: () => notSimulated("checkPassword"),
    probeRights: () => notSimulated("probeRights"),
    listGroupLogins: () => request("logins of a group", () => server.logins),
    serverClock: () => Promise.resolve(zoneClock("UTC")),
    readServerMs: () => Promise.resolve(Math.floor(scheduler.nowMs / 1_000) * 1_000),
    platformNow: () => Promise.resolve(new Date(scheduler.nowMs)),
    ...sessions,
    status: () => ({ reachable: server.isUp, sessions: SESSIONS, waiting: 0, lastError: undefined }),
    [Symbol.dispose]: sessions.resetAll,
  };
}

/** Sessions for commands. A reset of a session ends its commands under way. */
function createSessions(options: CommandConnectionOptions, process: SimulatedProcess, history: HistoryReads) {
  const { server, scheduler, random } = options;
  const live = new Set<string>();
  const resets = new Set<() => void>();
  const answers = {
    received: new ReceivedAnswers(false),
    lookAtTicket: createTicketLook(),
    history: () => history,
  };
  let opened = 0;
  const ping = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    scheduler.after(random.next() * 3, `${process.name} pings`, () => process.deliver(undefined, "ping", resolve));
    return promise;
  };
  const acquireForCommand: Mt5Client["acquireForCommand"] = async () => {
    await ping();
    if (!server.isUp) throw new Mt5Error("unreachable", "the platform closed the connection");
    opened += 1;
    const sessionId = `${process.name}:${opened}`;
    live.add(sessionId);
    const lease = {
      sessionId,
      call: (request: Parameters<typeof sendCommand>[2], limits: { readonly mayWrite?: () => boolean } = {}) =>
        sendCommand(options, process, request, {
          mayWrite: () => live.has(sessionId) && (limits.mayWrite?.() ?? true),
          resets,
        }),
      signInAgain: () => Promise.resolve(true),
      reset: () => void live.delete(sessionId),
      isInSync: () => ping().then(() => server.isUp && live.has(sessionId)),
      [Symbol.dispose]: () => void live.delete(sessionId),
    };
    return {
      sessionId,
      changeBalance: (order) => changeBalance(lease, order, answers),
      [Symbol.dispose]: lease[Symbol.dispose],
    };
  };
  const resetAll = (): void => {
    live.clear();
    for (const reset of Array.from(resets)) reset();
  };
  return { acquireForCommand, isLive: (id: string) => live.has(id), resetAll };
}

function shown({ ticket, login, action, amountMinor, shownComment, madeAtMs, trade }: ServerDeal): Deal {
  return {
    ticket,
    login,
    action,
    entry: trade?.entry === "out" ? 1 : 0,
    positionId: trade?.position ?? 0n,
    symbol: trade === undefined ? "" : SYMBOL,
    volume: trade?.volume ?? 0n,
    volumeClosed: trade?.entry === "out" ? trade.volume : 0n,
    profitMinor: amountMinor,
    swapMinor: 0n,
    commissionMinor: 0n,
    feeMinor: 0n,
    comment: shownComment,
    serverTimeMs: madeAtMs,
    at: new Date(madeAtMs),
  };
}

function openPosition(
  login: string,
  { ticket, volume }: { readonly ticket: bigint; readonly volume: bigint },
): Position {
  return { ticket, login, symbol: SYMBOL, volume, profitMinor: 0n, swapMinor: 0n };
}

function dealOf(deals: readonly ServerDeal[], ticket: bigint, nowMs: number): Deal | undefined {
  const deal = deals.find((one) => one.ticket === ticket && one.shownFromMs <= nowMs);
  return deal && shown(deal);
}

function notSimulated(what: string): never {
  throw new Error(`${what} is not simulated`);
}
