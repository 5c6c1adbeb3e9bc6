import { type Account, type BalanceOrder, type Books, type Deal, minorOf, moneyOf } from "./books.ts";

export type Parameters = Readonly<Record<string, string>>;
export type BooksWithGroups = Books & { readonly hasGroup: (name: string) => boolean };

/** Correct answers as documented: a body for every command that does not move money. */
export function answerTo(books: BooksWithGroups, path: string, parameters: Parameters): string {
  const command = COMMANDS[path];
  return command === undefined ? failure(12000, "Not implemented") : command(books, parameters);
}

export function done(answer?: unknown, beside: object = {}): string {
  return JSON.stringify({ retcode: "0 Done", ...beside, ...(answer === undefined ? {} : { answer }) });
}

export function failure(code: number, text = "Refused"): string {
  return JSON.stringify({ retcode: `${code} ${text}` });
}

/** Undefined when the request is malformed; the documented return code is 3. */
export function orderOf({ login = "", type = "", balance = "", comment = "" }: Parameters): BalanceOrder | undefined {
  const minor = minorOf(balance);
  if (minor === undefined || minor === 0n || !/^\d+$/.test(type)) return undefined;
  return { login, action: Number(type), minor, comment };
}

const COMMANDS: Readonly<Record<string, (books: BooksWithGroups, parameters: Parameters) => string>> = {
  "test/access": () => done(),
  "time/server": () => {
    const now = new Date();
    return done({ Time: `${Math.floor(now.getTime() / 1_000)} ${now.toISOString().slice(0, 19).replace("T", " ")}` });
  },
  "group/get": ({ hasGroup }, { group = "" }) =>
    hasGroup(group) ? done({ Group: group, Currency: "USD", CurrencyDigits: "2" }) : failure(13, "Not found"),
  "user/add": addUser,
  "user/get": ({ accounts }, { login = "" }) => found(accounts.get(login), userRecord),
  "user/get_batch": ({ accounts }, { login = "" }) =>
    done(login.split(",").flatMap((one) => [accounts.get(one)].filter((a) => a !== undefined).map(userRecord))),
  "user/check_password": ({ accounts }, { login = "", password }) => {
    const account = accounts.get(login);
    if (account === undefined) return failure(13, "Not found");
    return account.password === password ? done() : failure(3006, "Invalid account password");
  },
  "user/account/get": ({ accounts }, { login = "" }) => found(accounts.get(login), stateRecord),
  "user/check_balance": ({ accounts, deals }, { login = "" }) =>
    found(accounts.get(login), ({ balance }) => {
      const history = deals.filter((deal) => deal.login === login).reduce((sum, { minor }) => sum + minor, 0n);
      return {
        Balance: { User: moneyOf(balance), History: moneyOf(history) },
        Credit: { User: "0.00", History: "0.00" },
      };
    }),
  "position/get_total": () => done({ Total: "0" }),
  "position/get_page": () => done([]),
  "deal/get": ({ deals }, { ticket = "" }) =>
    found(
      deals.find((deal) => String(deal.ticket) === ticket),
      dealRecord,
    ),
  "deal/get_total": (books, parameters) => done({ Total: String(dealsOf(books, parameters).length) }),
  "deal/get_page": (books, parameters) => {
    const from = Number(parameters["offset"] ?? 0);
    const count = Math.min(Number(parameters["total"] ?? 0), 100);
    return done(
      dealsOf(books, parameters)
        .slice(from, from + count)
        .map(dealRecord),
    );
  },
  "deal/get_batch": (books, parameters) => done(dealsOf(books, parameters).map(dealRecord)),
};

function addUser({ accounts, addAccount, hasGroup }: BooksWithGroups, given: Parameters): string {
  const { login = "", group = "", name = "", comment = "", passmain, passinvestor, leverage = "" } = given;
  if (passmain === undefined || passinvestor === undefined || name === "") return failure(3, "Invalid parameters");
  if (passmain.length < 8) return failure(3006, "Invalid account password");
  if (!hasGroup(group)) return failure(8, "Not enough permissions");
  if (accounts.has(login)) return failure(3004, "Login exists");
  const account = addAccount({ login, group, name, comment: comment.slice(0, 63), password: passmain, leverage });
  return done(userRecord(account), { login });
}

function dealsOf(books: BooksWithGroups, { login = "", from = "0", to = "0" }: Parameters): Deal[] {
  return books
    .visibleDeals(login.split(","))
    .filter(({ atMs }) => atMs >= Number(from) * 1_000 && atMs <= Number(to) * 1_000 + 999);
}

function found<Thing>(thing: Thing | undefined, record: (thing: Thing) => object): string {
  return thing === undefined ? failure(13, "Not found") : done(record(thing));
}

export function dealRecord({ ticket, login, action, minor, comment, atMs }: Deal): object {
  return {
    Deal: String(ticket),
    ExternalID: "",
    Login: login,
    Dealer: "1005",
    Order: "0",
    Action: String(action),
    Entry: "0",
    Time: String(Math.floor(atMs / 1_000)),
    TimeMsc: String(atMs),
    Symbol: "",
    Price: "0.00000",
    Volume: "0",
    VolumeExt: "0",
    Profit: moneyOf(minor),
    Storage: "0.00",
    Commission: "0.00",
    PositionID: "0",
    Comment: comment,
  };
}

function userRecord({ login, group, name, comment, rights, leverage, balance }: Account): object {
  const [Name, Group, Comment] = [name, group, comment];
  return {
    Login: login,
    Group,
    Name,
    Comment,
    Rights: String(rights),
    Leverage: leverage,
    Balance: moneyOf(balance),
    Credit: "0.00",
  };
}

function stateRecord({ login, balance }: Account): object {
  const worth = moneyOf(balance);
  const flat = { Credit: "0.00", Margin: "0.00", Floating: "0.00" };
  return { Login: login, Balance: worth, Equity: worth, MarginFree: worth, ...flat };
}
