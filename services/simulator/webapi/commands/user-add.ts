import { type Account, DEFAULT_RIGHTS } from "../../domain/account.ts";
import { contains } from "../../domain/login-range.ts";
import { isStrongPassword } from "../../domain/password.ts";
import { refused } from "../../domain/retcode.ts";
import { record, serverTimeSeconds, takeFreeLogin, type TradeServer } from "../../trade-server.ts";
import type { Params } from "../params.ts";
import { storedDigest } from "../password-hash.ts";
import { userRecord } from "../records/user-record.ts";
import type { Answer } from "../reply.ts";
import { readUserInput, type UserInput } from "../user-input.ts";
import { findGroup } from "../visible.ts";

/** user/add: a login in the request is used unchanged; 0 or none takes the next free one of the server. */
export function addUser(server: TradeServer, params: Params): Answer {
  const input = completeInput(readUserInput(params));
  if (!isStrongPassword(input.passMain) || !isStrongPassword(input.passInvestor)) throw refused("invalidPassword");
  if (findGroup(server, input.group) === undefined) throw refused("noPermission");
  const login = input.login ? namedLogin(server, input.login) : chosenLogin(server);
  const account = newAccount(login, input, serverTimeSeconds(server));
  record(server, { kind: "account", account });
  return { siblings: { login: String(login) }, answer: userRecord(server, account) };
}

type CompleteInput = UserInput & {
  readonly group: string;
  readonly leverage: number;
  readonly passMain: string;
  readonly passInvestor: string;
};

function completeInput(input: UserInput): CompleteInput {
  const { group, leverage, passMain, passInvestor, problems, texts } = input;
  const isComplete = group && leverage !== undefined && passMain && passInvestor && texts["Name"];
  if (!isComplete || problems.length > 0) throw refused("invalidParameters");
  return { ...input, group, leverage, passMain, passInvestor };
}

function namedLogin({ settings, books }: TradeServer, login: number): number {
  if (!contains(settings.loginRange, login)) throw refused("loginProhibited");
  if (books.accounts.has(login)) throw refused("loginExists");
  return login;
}

function chosenLogin(server: TradeServer): number {
  const login = takeFreeLogin(server);
  if (login === undefined) throw refused("loginsExhausted");
  return login;
}

function newAccount(login: number, input: CompleteInput, now: number): Account {
  return {
    login,
    group: input.group,
    rights: input.rights ?? DEFAULT_RIGHTS,
    leverage: input.leverage,
    registeredAt: now,
    passwordChangedAt: now,
    passwords: { main: storedDigest(login, input.passMain), investor: storedDigest(login, input.passInvestor) },
    texts: input.texts,
    numbers: input.numbers,
    balance: 0n,
    credit: 0n,
  };
}
