import type { Account } from "../../domain/account.ts";
import type { Group } from "../../domain/group.ts";
import { refused } from "../../domain/retcode.ts";
import { record, type TradeServer } from "../../trade-server.ts";
import { type Params, requiredNumber, requiredText } from "../params.ts";
import { isSameHex, passwordHash, storedDigest } from "../password-hash.ts";
import { userRecord } from "../records/user-record.ts";
import { type Answer, NO_CONTENT } from "../reply.ts";
import { readUserInput } from "../user-input.ts";
import { findGroup, getAccount, getWritableAccount } from "../visible.ts";

/** user/update: omitted fields stay, invalid ones are silently ignored. Balances cannot be set. */
export function updateUser(server: TradeServer, params: Params): Answer {
  const before = getWritableAccount(server, requiredNumber(params, "login"));
  const { group, rights, leverage, texts, numbers } = readUserInput(params);
  const target = group === undefined ? undefined : findGroup(server, group);
  if (target !== undefined && !isSameMoney(target, server.books.groups.get(before.group))) {
    throw refused("differentCurrency");
  }
  const account: Account = {
    ...before,
    group: target?.name ?? before.group,
    rights: rights ?? before.rights,
    leverage: leverage ?? before.leverage,
    texts: { ...before.texts, ...texts },
    numbers: { ...before.numbers, ...numbers },
  };
  record(server, { kind: "account", account });
  return { answer: userRecord(server, account) };
}

function isSameMoney(left: Group, right: Group | undefined): boolean {
  return right === undefined || (left.currency === right.currency && left.digits === right.digits);
}

const PASSWORD_TYPES = ["main", "investor", "api"] as const;
type PasswordType = (typeof PASSWORD_TYPES)[number];

export function checkPassword(server: TradeServer, params: Params): Answer {
  const { account, type, password } = passwordRequest(server, params);
  if (!isPassword(server, account, type, password)) throw refused("invalidPassword");
  return NO_CONTENT;
}

function passwordRequest(
  server: TradeServer,
  params: Params,
): { readonly account: Account; readonly type: PasswordType; readonly password: string } {
  const type = PASSWORD_TYPES.find((known) => known === requiredText(params, "type"));
  const password = requiredText(params, "password");
  if (type === undefined) throw refused("invalidParameters");
  return { account: getAccount(server, requiredNumber(params, "login")), type, password };
}

/** The manager has an API password only, and no digest of it is kept. */
function isPassword(
  { settings, managerPassword }: TradeServer,
  account: Account,
  type: PasswordType,
  password: string,
): boolean {
  if (account.login === settings.managerLogin) {
    const [left, right] = [passwordHash(password), passwordHash(managerPassword)];
    return type === "api" && isSameHex(left.toString("hex"), right.toString("hex"));
  }
  return isSameHex(account.passwords[type] ?? "", storedDigest(account.login, password));
}
