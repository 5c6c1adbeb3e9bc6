import type { Mt5Context } from "./context.ts";
import { isAboutRequest, Mt5Error, orElse } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import { CURRENCY, CURRENCY_DIGITS, getGroup } from "./groups.ts";
import { isJsonArray } from "./http/json.ts";
import type { Mt5Request } from "./http/http-request.ts";
import { RETCODE } from "./retcodes.ts";

/** What the manager may not do, or a group is not fit for, in words for an operator. */
export type MissingRights = {
  /** The service cannot work without these. */
  readonly needed: readonly string[];
  /** The service works, but something is refused that operators or clients may expect. */
  readonly limiting: readonly string[];
  /** Rights that cannot be found out before there is an account. */
  readonly unchecked: readonly string[];
};

/** Whether the server has it does not matter: the right is refused before the symbol is looked at. */
const SOME_SYMBOL = "EURUSD";

/**
 * Finds out what the manager may do, by reads only: no command is sent to see whether it is refused. A right counts as missing only when the platform refuses a request
 * about an account that it shows to this manager: code 8 also means that an account or a group is not shown. Throws an
 * Mt5Error when the platform does not answer.
 */
export async function probeRights(mt5: Mt5Context, groups: readonly string[]): Promise<MissingRights> {
  const needed: string[] = [];
  const limiting: string[] = [];
  for (const name of groups) {
    const group = await orElse(undefined, isAboutRequest, () => getGroup(mt5, name));
    if (group === undefined) {
      limiting.push(`group ${name}, which the manager does not see: no account can be created in it`);
    } else if (!group.isSupported) {
      const { currency, currencyDigits } = group;
      const wanted = `${CURRENCY} with ${CURRENCY_DIGITS} digits`;
      needed.push(`group ${name} in ${wanted} (it is in ${currency} with ${currencyDigits})`);
    }
  }
  const login = await findAccount(mt5, groups);
  if (login === undefined) {
    if (await isRefused(mt5, { method: "GET", path: "user/total" })) {
      needed.push("the manager's right 'Access to accounts' (user/total is refused)");
    }
    return { needed, limiting, unchecked: ["the right to deals, because there is no account"] };
  }
  const deals = { login, from: "0", to: "1" };
  if (await isRefused(mt5, { method: "GET", path: "deal/get_total", query: deals })) {
    needed.push("the manager's right to orders, deals and positions (deal/get_total is refused)");
  }
  if (await isRefused(mt5, { method: "GET", path: "tick/last", query: { symbol: SOME_SYMBOL, trans_id: "0" } })) {
    limiting.push(
      "the times of prices (tick/last is refused): while positions of a Master are open, money neither gets nor returns units of its pool",
    );
  }
  return { needed, limiting, unchecked: [] };
}

/** An account of the groups that the platform shows to the manager. */
async function findAccount({ read }: Mt5Context, groups: readonly string[]): Promise<string | undefined> {
  for (const group of groups) {
    const listed = await orElse(undefined, isAboutRequest, () =>
      read({ method: "GET", path: "user/logins", query: { group } }),
    );
    const [login] = isJsonArray(listed?.answer) ? listed.answer : [];
    if (typeof login !== "string") continue;
    const user = await orElse(undefined, isAboutRequest, () =>
      read({ method: "GET", path: "user/get", query: { login } }),
    );
    if (user?.code === RETCODE.done && fieldsOf(user.answer).optionalText("Login") === login) return login;
  }
  return undefined;
}

async function isRefused({ read }: Mt5Context, request: Mt5Request): Promise<boolean> {
  try {
    return (await read(request)).code === RETCODE.noPermission;
  } catch (error) {
    if (error instanceof Mt5Error && error.problem === "forbidden") return true;
    if (isAboutRequest(error)) return false;
    throw error;
  }
}
