import { type Account, cutText, MAX_LEVERAGE, MAX_RIGHTS, MIN_LEVERAGE } from "../domain/account.ts";
import { CommandRefused, refused } from "../domain/retcode.ts";
import { type Params, scalarText, wholeNumber } from "./params.ts";
import { BODY_ALIASES, NUMBER_FIELDS, TEXT_FIELDS } from "./user-fields.ts";

/** The fields of a user record in the request. Names in a body must have exactly their documented spelling. */
export type UserInput = {
  readonly login: number | undefined;
  readonly group: string | undefined;
  readonly rights: number | undefined;
  readonly leverage: number | undefined;
  readonly passMain: string | undefined;
  readonly passInvestor: string | undefined;
  readonly texts: Account["texts"];
  readonly numbers: Account["numbers"];
  /** Fields with an invalid value: an error in user/add, silently ignored in user/update. */
  readonly problems: readonly string[];
};

/** The numbers of a user record are 32-bit fields. */
const MAX_NUMBER = 0xffff_ffff;

export function readUserInput(params: Params): UserInput {
  const problems: string[] = [];
  const text = (name: string, query?: string): string | undefined =>
    tried(problems, name, () => given(params, name, query));
  const number = (name: string, query: string | undefined, most: number): number | undefined =>
    tried(problems, name, () => checked(given(params, name, query), most));
  return {
    login: number("Login", "login", Number.MAX_SAFE_INTEGER),
    group: text("Group", "group"),
    rights: number("Rights", "rights", MAX_RIGHTS),
    leverage: tried(problems, "Leverage", () => leverageOf(given(params, "Leverage", "leverage"))),
    passMain: text("PassMain", "pass_main"),
    passInvestor: text("PassInvestor", "pass_investor"),
    texts: present(
      TEXT_FIELDS.map(({ name, query, limit }) => {
        const value = text(name, query);
        return [name, value === undefined ? undefined : cutText(value, limit)];
      }),
    ),
    numbers: present(NUMBER_FIELDS.map(({ name, query }) => [name, number(name, query, MAX_NUMBER)])),
    problems,
  };
}

function given({ body, query }: Params, name: string, queryName: string | undefined): string | undefined {
  const inBody = body[name] ?? body[BODY_ALIASES[name] ?? name];
  if (inBody !== undefined) return scalarText(inBody);
  return queryName === undefined ? undefined : query.get(queryName);
}

function checked(text: string | undefined, most: number): number | undefined {
  if (text === undefined || text === "") return undefined;
  const number = wholeNumber(text);
  if (number > most) throw refused("invalidParameters");
  return number;
}

function leverageOf(text: string | undefined): number | undefined {
  const leverage = checked(text, MAX_LEVERAGE);
  if (leverage !== undefined && leverage < MIN_LEVERAGE) throw refused("invalidParameters");
  return leverage;
}

function tried<T>(problems: string[], name: string, read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CommandRefused)) throw error;
    problems.push(name);
    return undefined;
  }
}

function present<T>(entries: readonly (readonly [string, T | undefined])[]): Readonly<Record<string, T>> {
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, T] => entry[1] !== undefined));
}
