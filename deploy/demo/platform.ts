import { parseDecimal } from "#kernel/values/money.ts";
import { type Api, serverAt } from "./api.ts";
import { isObject, itemsOf, type JsonObject, textOf } from "./exact-json.ts";
import { DemoFailure } from "./wait.ts";

export type Deal = {
  readonly ticket: string;
  readonly comment: string;
  /** The change of the balance, in cents. */
  readonly minor: bigint;
  /** False for a balance operation. */
  readonly isTrade: boolean;
  /** By the platform's clock, which has its own time zone. */
  readonly timeMs: number;
};

/** The trading platform as its operator sees it: the other side of every reconciliation. */
export type Platform = {
  readonly deals: (login: string) => Promise<readonly Deal[]>;
  readonly balance: (login: string) => Promise<bigint>;
  /** Numbers of the open positions. */
  readonly positions: (login: string) => Promise<readonly string[]>;
  /** The trader's commands. */
  readonly send: Api["send"];
};

/** Credit is not part of the balance. */
const CREDIT = "3";
const BUY_AND_SELL = ["0", "1"];

export function createPlatform(controlUrl: string): Platform {
  const { read, send } = serverAt(controlUrl);
  const account = async (login: string): Promise<JsonObject> => {
    const answer = await read(`/control/accounts/${login}`);
    return isObject(answer) ? answer : {};
  };
  return {
    async deals(login) {
      const deals = itemsOf(await read(`/control/accounts/${login}/deals`));
      return deals.filter((deal) => deal["action"] !== CREDIT).map(dealOf);
    },
    balance: async (login) => centsOf(await account(login), "balance"),
    positions: async (login) =>
      itemsOf((await account(login))["open_positions"]).map((open) => textOf(open, "position")),
    send,
  };
}

function dealOf(deal: JsonObject): Deal {
  return {
    ticket: textOf(deal, "deal"),
    comment: textOf(deal, "comment"),
    minor: centsOf(deal, "profit") + centsOf(deal, "swap") + centsOf(deal, "commission"),
    isTrade: BUY_AND_SELL.includes(textOf(deal, "action")),
    timeMs: Number(textOf(deal, "time_msc")),
  };
}

/** An amount in exact cents, given as a number or as text. */
export function centsOf(object: JsonObject, name: string): bigint {
  const text = textOf(object, name);
  const minor = parseDecimal(text);
  if (minor === undefined) throw new DemoFailure(`${name} is not an amount: ${text}`);
  return minor;
}
