import type { Secret } from "#kernel/secret.ts";
import { classifyCommand, type CommandOutcome } from "./classify.ts";
import type { Mt5Context } from "./context.ts";
import { platformText } from "./codec.ts";
import { badAnswer } from "./errors.ts";
import { batchesOf, fieldsOf, loginOf, requireLogin, rowsOf } from "./fields.ts";
import type { Mt5Request } from "./http/http-request.ts";
import type { JsonValue } from "./http/json.ts";
import { findDone, requireDone } from "./reader.ts";
import { RETCODE, USER_RETCODES } from "./retcodes.ts";

export type User = {
  readonly login: string;
  readonly group: string;
  readonly name: string;
  readonly comment: string;
  readonly rights: bigint;
  readonly leverage: number;
  /** Present also for accounts without trades. */
  readonly balanceMinor: bigint;
  readonly creditMinor: bigint;
};

export type NewUser = {
  /** Chosen by this service from a range agreed with the broker, so that a repetition cannot create a second account. */
  readonly login: string;
  readonly group: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly leverage: number;
  /** Identifies later whether this service created the account. */
  readonly comment: string;
  readonly mainPassword: Secret<string>;
  readonly investorPassword: Secret<string>;
};

export const USER_RIGHT = { enabled: 0x1n, tradeDisabled: 0x4n } as const;
/** Enabled, may change its password, trailing stops, experts, reports. */
const DEFAULT_RIGHTS = 0x163n;
/** Lengths of the fields of the platform. */
const MAX_NAME_LENGTH = 127;
const MAX_COMMENT_LENGTH = 63;

/** Safe to repeat, because this service chooses the login: code 3004 means that it exists, and getUser shows its owner. */
export async function addUser(mt5: Mt5Context, user: NewUser): Promise<CommandOutcome> {
  const name = (text: string) => platformText(text, MAX_NAME_LENGTH);
  return await command(mt5, {
    method: "POST",
    path: "user/add",
    body: {
      Login: user.login,
      Group: user.group,
      Name: name(`${user.firstName} ${user.lastName}`),
      FirstName: name(user.firstName),
      LastName: name(user.lastName),
      Email: name(user.email),
      Leverage: String(user.leverage),
      Rights: DEFAULT_RIGHTS.toString(),
      Comment: platformText(user.comment, MAX_COMMENT_LENGTH),
      PassMain: user.mainPassword,
      PassInvestor: user.investorPassword,
    },
  });
}

/** Undefined when the manager sees no such account. */
export async function getUser(mt5: Mt5Context, login: string): Promise<User | undefined> {
  const found = findDone(await mt5.read({ method: "GET", path: "user/get", query: { login } }));
  if (found === undefined) return undefined;
  requireLogin(fieldsOf(found.answer), login);
  return readUser(found.answer);
}

/** Those of the accounts that exist, by login. */
export async function getUsers(mt5: Mt5Context, logins: readonly string[]): Promise<ReadonlyMap<string, User>> {
  const users: User[] = [];
  for (const batch of batchesOf(logins)) users.push(...(await getBatch(mt5, batch)));
  return new Map(users.map((user) => [user.login, user]));
}

/** Some servers say that nothing was found when one account of a batch does not exist: its halves are asked for then. */
async function getBatch(mt5: Mt5Context, logins: readonly string[]): Promise<User[]> {
  const request: Mt5Request = { method: "GET", path: "user/get_batch", query: { login: logins.join(",") } };
  const found = findDone(await mt5.read(request));
  if (found === undefined) {
    if (logins.length === 1) return [];
    const half = Math.ceil(logins.length / 2);
    return [...(await getBatch(mt5, logins.slice(0, half))), ...(await getBatch(mt5, logins.slice(half)))];
  }
  const users = rowsOf(found.answer).map(readUser);
  if (users.some(({ login }) => !logins.includes(login))) {
    throw badAnswer("the platform answers about another login");
  }
  return users;
}

/**
 * Removes the rights to connect and to trade, and keeps the other rights. Done only when the platform shows the new
 * rights, because it ignores invalid values without an error. Undefined when there is no such account.
 */
export async function disableUser(mt5: Mt5Context, login: string): Promise<CommandOutcome | undefined> {
  const user = await getUser(mt5, login);
  if (user === undefined) return undefined;
  const rights = (user.rights & ~USER_RIGHT.enabled) | USER_RIGHT.tradeDisabled;
  const query = { login, rights: rights.toString() };
  const outcome = await command(mt5, { method: "POST", path: "user/update", query });
  if (outcome.kind !== "done") return outcome;
  const changed = await getUser(mt5, login);
  return changed?.rights === rights ? outcome : { kind: "unknown", reason: "contradictory" };
}

/** Whether this is the account's main password. */
export async function checkPassword(mt5: Mt5Context, login: string, password: Secret<string>): Promise<boolean> {
  const body = { Login: login, Type: "main", Password: password };
  const envelope = await mt5.read({ method: "POST", path: "user/check_password", body });
  if (envelope.code === RETCODE.invalidPassword) return false;
  requireDone(envelope);
  return true;
}

async function command({ pool }: Mt5Context, request: Mt5Request): Promise<CommandOutcome> {
  using lease = await pool.acquire({ isForCommand: true });
  return classifyCommand(await lease.call(request), USER_RETCODES);
}

function readUser(record: JsonValue | undefined): User {
  const fields = fieldsOf(record);
  return {
    login: loginOf(fields),
    group: fields.text("Group"),
    name: fields.optionalText("Name") ?? "",
    comment: fields.optionalText("Comment") ?? "",
    rights: fields.integer("Rights"),
    leverage: fields.number("Leverage"),
    balanceMinor: fields.minor("Balance"),
    creditMinor: fields.minor("Credit", 0n),
  };
}
