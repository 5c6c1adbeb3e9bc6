import { parseDecimal } from "#kernel/money.ts";
import { serverAt } from "./api.ts";
import { isObject, itemsOf, type JsonObject, textOf } from "./exact-json.ts";
import { DemoFailure } from "./wait.ts";

export type Deal = {
  readonly ticket: string;
  readonly comment: string;
  /** What it did to the balance, in cents. */
  readonly minor: bigint;
};

/** The trading platform as its operator sees it: the other side of every reconciliation. */
export type Platform = {
  readonly deals: (login: string) => Promise<readonly Deal[]>;
  readonly balance: (login: string) => Promise<bigint>;
};

/** Credit is no part of the balance. */
const CREDIT = "3";

export function createPlatform(controlUrl: string): Platform {
  const { read } = serverAt(controlUrl);
  return {
    async deals(login) {
      const deals = itemsOf(await read(`/control/accounts/${login}/deals`));
      return deals.filter((deal) => deal["action"] !== CREDIT).map(dealOf);
    },
    async balance(login) {
      const account = await read(`/control/accounts/${login}`);
      return centsOf(isObject(account) ? account : {}, "balance");
    },
  };
}

function dealOf(deal: JsonObject): Deal {
  const minor = centsOf(deal, "profit") + centsOf(deal, "swap") + centsOf(deal, "commission");
  return { ticket: textOf(deal, "deal"), comment: textOf(deal, "comment"), minor };
}

/** An amount in cents: exact, whether it came as a number or as text. */
export function centsOf(object: JsonObject, name: string): bigint {
  const text = textOf(object, name);
  const minor = parseDecimal(text);
  if (minor === undefined) throw new DemoFailure(`${name} is no amount: ${text}`);
  return minor;
}
