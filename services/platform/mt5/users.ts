import type { Secret } from "#kernel/values/secret.ts";
import { classifyCommand, type CommandOutcome } from "./classify.ts";
import type { Mt5Context } from "./context.ts";
import { readBatch } from "./batches.ts";
import { badAnswer, isAboutRequest, orElse, orUndefined } from "./errors.ts";
import { batchesOf, type Fields, fieldsOf, loginOf, requireLogin } from "./fields.ts";
import type { Mt5Request } from "./http/http-request.ts";
import { findDone, type Reader, requireDone } from "./reader.ts";
import { RETCODE, USER_RETCODES } from "./retcodes.ts";

export type User = {
  readonly login: string;
  readonly group: string;
  readonly name: string;
  /** Empty when the platform shows none. */
  readonly email: string;
  readonly comment: string;
  readonly rights: bigint;
  /** Present also for accounts without trades. */
  readonly balanceMinor: bigint;
  readonly creditMinor: bigint;
  /** When the account was created, in seconds of the server's wall clock; 0 when the platform does not say. */
  readonly registration: bigint;
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
  readonly mayTrade: boolean;
  readonly mainPassword: Secret<string>;
  readonly investorPassword: Secret<string>;
};

export const USER_RIGHT = { enabled: 0x1n, tradeDisabled: 0x4n } as const;
/** Enabled, may change its password, trailing stops, experts, reports. */
const DEFAULT_RIGHTS = 0x163n;
const SECONDS = /^\d{1,12}$/;

export function mayTrade({ rights }: Pick<User, "rights">): boolean {
  return (rights & USER_RIGHT.tradeDisabled) === 0n;
}

/** Whether the account was created at another time than was noted: it may be another one, with the same login. */
export function isCreatedAgain({ registration }: Pick<User, "registration">, noted: bigint | null): boolean {
  return noted !== null && registration !== 0n && registration !== noted;
}

/** Safe to repeat, because this service chooses the login: code 3004 means that it exists, and getUser shows its owner. */
export async function addUser(mt5: Mt5Context, user: NewUser): Promise<CommandOutcome> {
  return await userCommand(mt5, {
    method: "POST",
    path: "user/add",
    body: {
      Login: user.login,
      Group: user.group,
      Name: `${user.firstName} ${user.lastName}`,
      FirstName: user.firstName,
      LastName: user.lastName,
      Email: user.email,
      Leverage: String(user.leverage),
      Rights: (user.mayTrade ? DEFAULT_RIGHTS : DEFAULT_RIGHTS | USER_RIGHT.tradeDisabled).toString(),
      Comment: user.comment,
      PassMain: user.mainPassword,
      PassInvestor: user.investorPassword,
    },
  });
}

/** Undefined when the manager sees no such account. Throws when the platform contradicts an empty account in another answer. */
export async function getUser({ read }: Pick<Mt5Context, "read">, login: string): Promise<User | undefined> {
  const user = await findUser(read, login);
  if (user === undefined || !isEmpty(user) || !(await hasMoneyElsewhere(read, login))) return user;
  // A deposit between the two answers is no contradiction.
  const again = await findUser(read, login);
  if (again === undefined || !isEmpty(again)) return again;
  throw badAnswer(`the platform shows account ${login} without money in one answer and with money in another`);
}

/** The record of an account. Undefined when there is no such account. */
export async function findRecord(read: Reader, login: string): Promise<Fields | undefined> {
  const found = findDone(await read({ method: "GET", path: "user/get", query: { login } }));
  if (found === undefined) return undefined;
  const fields = fieldsOf(found.answer);
  requireLogin(fields, login);
  return fields;
}

async function findUser(read: Reader, login: string): Promise<User | undefined> {
  const record = await findRecord(read, login);
  return record && readUser(record);
}

function isEmpty({ balanceMinor, creditMinor }: Pick<User, "balanceMinor" | "creditMinor">): boolean {
  return balanceMinor === 0n && creditMinor === 0n;
}

/** False also when the platform has no state of the account, or does not show it to this manager. */
async function hasMoneyElsewhere(read: Reader, login: string): Promise<boolean> {
  // Another answer says nothing about its money.
  return await orElse(false, isAboutRequest, async () => {
    const found = findDone(await read({ method: "GET", path: "user/account/get", query: { login } }));
    if (found === undefined) return false;
    const fields = fieldsOf(found.answer);
    requireLogin(fields, login);
    return !isEmpty({ balanceMinor: fields.minor("Balance"), creditMinor: fields.minor("Credit", 0n) });
  });
}

/** Those of the accounts that exist, by login. Throws when one of them cannot be read. */
export async function getUsers(mt5: BatchContext, logins: readonly string[]): Promise<ReadonlyMap<string, User>> {
  const { users, unreadable } = await readUsers(mt5, logins);
  const [first] = unreadable;
  if (first !== undefined) throw badAnswer(`the platform's record of account ${first} cannot be read`);
  return users;
}

export type ReadUsers = {
  /** Those of the accounts that exist, by login. */
  readonly users: ReadonlyMap<string, User>;
  /** Accounts whose record is not as documented. */
  readonly unreadable: ReadonlySet<string>;
};

/** Like getUsers, but an account that cannot be read does not hide the others. */
export async function readUsers(mt5: BatchContext, logins: readonly string[]): Promise<ReadUsers> {
  const users = new Map<string, User>();
  const unreadable = new Set<string>();
  for (const batch of batchesOf(logins)) {
    for (const { login, user } of await getBatch(mt5, batch)) {
      if (user === undefined) unreadable.add(login);
      else users.set(login, user);
    }
  }
  return { users, unreadable };
}

/**
 * Those of the accounts that one request shows together with another account, which the platform shows. Undefined when the answer lacks that one: then it
 * says nothing about the others.
 */
export async function findUsersBeside(
  mt5: BatchContext,
  witness: string,
  logins: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  if (logins.length === 0) return new Set();
  const answered = await readBatch(mt5, "user/get_batch", { login: [witness, ...logins].join(",") });
  if (answered.kind !== "rows") return undefined;
  const shown = new Set(answered.rows.map((row) => loginOf(fieldsOf(row))));
  return shown.has(witness) ? new Set(logins.filter((login) => shown.has(login))) : undefined;
}

type BatchContext = Pick<Mt5Context, "read" | "batches">;
/** An account that exists; without a user when its record cannot be read. */
type Found = { readonly login: string; readonly user: User | undefined };

/**
 * Some servers answer that nothing was found when one account of a batch does not exist: its halves are asked for then. An
 * account that a batch leaves out is asked for again, at last alone: only that answer means that it does not exist.
 */
async function getBatch(mt5: BatchContext, logins: readonly string[]): Promise<Found[]> {
  const answered = await readBatch(mt5, "user/get_batch", { login: logins.join(",") });
  if (answered.kind === "refused") {
    mt5.batches.noteRefused("user/get_batch", answered.reason);
    return await getAlone(mt5, logins);
  }
  const found = answered.kind === "rows" ? answered.rows.map((row) => foundIn(fieldsOf(row))) : [];
  if (found.some(({ login }) => !logins.includes(login))) {
    throw badAnswer("the platform answers about another login");
  }
  const shown = new Set(found.map(({ login }) => login));
  const missing = logins.filter((login) => !shown.has(login));
  if (missing.length === 1) return [...found, ...(await getAlone(mt5, missing))];
  if (missing.length === 0) return found;
  if (missing.length < logins.length) return [...found, ...(await getBatch(mt5, missing))];
  const half = Math.ceil(logins.length / 2);
  return [...(await getBatch(mt5, logins.slice(0, half))), ...(await getBatch(mt5, logins.slice(half)))];
}

async function getAlone({ read }: Pick<Mt5Context, "read">, logins: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const login of logins) {
    const record = await findRecord(read, login);
    if (record !== undefined) found.push(foundIn(record));
  }
  return found;
}

/** Throws for a record without a readable login, which may be of any account. */
function foundIn(record: Fields): Found {
  return { login: loginOf(record), user: orUndefined(() => readUser(record)) };
}

/** Whether this is the account's main password. */
export async function checkPassword(mt5: Mt5Context, login: string, password: Secret<string>): Promise<boolean> {
  const body = { Login: login, Type: "main", Password: password };
  const envelope = await mt5.read({ method: "POST", path: "user/check_password", body });
  if (envelope.code === RETCODE.invalidPassword) return false;
  requireDone(envelope);
  return true;
}

/** Sends a command that changes an account. */
export async function userCommand({ pool }: Mt5Context, request: Mt5Request): Promise<CommandOutcome> {
  using lease = await pool.acquire({ isForCommand: true });
  return classifyCommand(await lease.call(request), USER_RETCODES);
}

function readUser(fields: Fields): User {
  return {
    login: loginOf(fields),
    group: fields.text("Group"),
    name: fields.shownText("Name"),
    email: fields.shownText("Email"),
    comment: fields.shownText("Comment"),
    rights: fields.integer("Rights"),
    balanceMinor: fields.minor("Balance"),
    creditMinor: fields.minor("Credit", 0n),
    registration: registrationOf(fields),
  };
}

/** It only helps to find out whether an account is another one: a form that is not documented makes no record unreadable. */
function registrationOf(fields: Fields): bigint {
  const shown = fields.optionalText("Registration") ?? "";
  return SECONDS.test(shown) ? BigInt(shown) : 0n;
}
