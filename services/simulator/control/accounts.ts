import { type Account, cutText, DEFAULT_LEVERAGE, DEFAULT_RIGHTS, MAX_RIGHTS } from "../domain/account.ts";
import { decideBalanceOperation } from "../domain/balance-operation.ts";
import { DEAL_ACTION, moneyDeal } from "../domain/deal.ts";
import { CommandRefused } from "../domain/retcode.ts";
import { formatMoney, MAX_AMOUNT, MONEY_DIGITS } from "../domain/units.ts";
import { accountState, dealsOf, historyOf, positionsOf } from "../store/books.ts";
import {
  record,
  recordDeals,
  removeAccount,
  serverTimeSeconds,
  takeFreeLogin,
  type TradeServer,
} from "../trade-server.ts";
import { MAX_NAME_LENGTH } from "../webapi/user-fields.ts";
import { type BodyReader, decimal, integer, readerOf, text } from "./body.ts";
import { ControlProblem } from "./problem.ts";
import { accountView, dealView } from "./view.ts";

/** A dealer other than the service's manager. */
const OTHER_DEALER = 1;

/** The control API does not include the manager's own account. */
export function getAccount({ books, settings }: TradeServer, login: number): Account {
  const account = login === settings.managerLogin ? undefined : books.accounts.get(login);
  if (account === undefined) throw new ControlProblem("unknown_account", `there is no account ${login}`);
  return account;
}

export function listAccounts({ books, settings }: TradeServer): object[] {
  const clients = [...books.accounts.values()].filter(({ login }) => login !== settings.managerLogin);
  return clients.map((account) => accountView(books, account));
}

export function showAccount(server: TradeServer, login: number): object {
  return accountView(server.books, getAccount(server, login));
}

export function listDeals(server: TradeServer, login: number): object[] {
  return dealsOf(server.books, getAccount(server, login).login).map(dealView);
}

/** The correction that a broker makes after a change of history: the balance becomes the sum of the deals. */
export function fixAccount(server: TradeServer, login: number): object {
  getAccount(server, login);
  record(server, { kind: "balance_fixed", login, ...historyOf(server.books, login) });
  return showAccount(server, login);
}

/** Sets all rights of an account, as another dealer does. */
export function changeRights(server: TradeServer, login: number, body: unknown): object {
  const account = getAccount(server, login);
  const read = readerOf(body);
  const rights = read.required("rights", `a whole number from 0 to ${MAX_RIGHTS}`, integer(0, MAX_RIGHTS));
  read.finish();
  record(server, { kind: "account", account: { ...account, rights } });
  return showAccount(server, login);
}

/** An account that was not created through the Web API. */
export function createAccount(server: TradeServer, body: unknown): object {
  const { settings, books } = server;
  const read = readerOf(body);
  const { first, last } = settings.loginRange;
  const asked = read.optional("login", `a whole number from ${first} to ${last}`, integer(first, last));
  const group = requiredGroup(server, read);
  const name = read.required("name", "text", text(MAX_NAME_LENGTH));
  const balance =
    read.optional(
      "balance",
      "an amount, not negative",
      amount((minor) => minor >= 0n),
    ) ?? 0n;
  read.finish();

  if (asked !== undefined && books.accounts.has(asked)) {
    throw new ControlProblem("login_exists", `there is an account ${asked} already`);
  }
  const login = asked ?? takeFreeLogin(server);
  if (login === undefined) throw new ControlProblem("logins_exhausted", "the server has no free login left");
  record(server, { kind: "account", account: foundAccount(server, { login, group, name }) });
  if (balance > 0n) {
    const { balance: action } = DEAL_ACTION;
    recordDeals(server, [moneyDeal({ login, dealer: OTHER_DEALER, action, amount: balance, comment: "Deposit" })]);
  }
  return showAccount(server, login);
}

function requiredGroup({ books }: TradeServer, read: BodyReader): string {
  const names = [...books.groups.keys()];
  return read.required("group", `one of ${names.join(", ")}`, (value) => names.find((known) => known === value));
}

/** Into the archive: no manager sees the account or its deals. What is archived twice stays archived. */
export function archiveAccount(server: TradeServer, login: number): object {
  requireFlat(server, getAccount(server, login));
  return changeAccount(server, login, { isArchived: true });
}

/** Out of the archive, with its deals. */
export function restoreAccount(server: TradeServer, login: number): object {
  return changeAccount(server, login, { isArchived: false });
}

/** Into another group, also one of another currency, which the Web API refuses. The money stays as it is. */
export function moveAccount(server: TradeServer, login: number, body: unknown): object {
  const read = readerOf(body);
  const group = requiredGroup(server, read);
  read.finish();
  return changeAccount(server, login, { group });
}

/** For good, with its deals. */
export function deleteAccount(server: TradeServer, login: number): object {
  requireFlat(server, getAccount(server, login));
  removeAccount(server, login);
  return {};
}

function changeAccount(server: TradeServer, login: number, change: Partial<Account>): object {
  record(server, { kind: "account", account: { ...getAccount(server, login), ...change } });
  return showAccount(server, login);
}

function requireFlat({ books }: TradeServer, { login }: Account): void {
  if (positionsOf(books, login).length > 0) throw new ControlProblem("has_trades", `account ${login} has open trades`);
}

/** Moves money as another dealer does, without the service. The balance stays at zero or above. */
export function moveBalance(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const login = read.required("login", "a login", integer(1, Number.MAX_SAFE_INTEGER));
  const moved = read.required(
    "amount",
    "an amount, not 0",
    amount((minor) => minor !== 0n),
  );
  const comment = read.optional("comment", "text", text(MAX_NAME_LENGTH)) ?? "";
  read.finish();

  const account = getAccount(server, login);
  const state = accountState(server.books, account);
  const operation = { login, dealer: OTHER_DEALER, type: DEAL_ACTION.balance, amount: moved, comment };
  try {
    const draft = decideBalanceOperation({ ...operation, checksMargin: false }, state);
    return { deal: recordDeals(server, [draft])[0]?.ticket };
  } catch (error) {
    if (!(error instanceof CommandRefused)) throw error;
    throw new ControlProblem("not_enough_money", `the balance is ${formatMoney(state.balance)}`);
  }
}

export function amount(isLegal: (minor: bigint) => boolean = () => true): ReturnType<typeof decimal> {
  return decimal(MONEY_DIGITS, (minor) => minor <= MAX_AMOUNT && minor >= -MAX_AMOUNT && isLegal(minor));
}

function foundAccount(
  server: TradeServer,
  { login, group, name }: { readonly login: number; readonly group: string; readonly name: string },
): Account {
  const now = serverTimeSeconds(server);
  return {
    login,
    group,
    rights: DEFAULT_RIGHTS,
    leverage: DEFAULT_LEVERAGE,
    registeredAt: now,
    passwordChangedAt: now,
    // The account has no password until the manager sets one.
    passwords: { main: "", investor: "" },
    texts: { Name: cutText(name, MAX_NAME_LENGTH) },
    numbers: {},
    balance: 0n,
    credit: 0n,
  };
}
