import type { Api } from "./api.ts";
import { isObject, itemsOf, type JsonObject, textOf } from "./exact-json.ts";
import { centsOf } from "./platform.ts";

export type Payment = {
  readonly investorLogin: string;
  readonly minor: bigint;
  /** End of the period of its run. */
  readonly at: number;
  readonly key: string;
  readonly creditId: string;
};

export type Credit = { readonly id: string; readonly minor: bigint };

/** The maxima of the two listings. */
const MAX_PAYMENT_ROWS = 500;
const MAX_CREDIT_ROWS = 100;

/** The payments of the Investors of a Master, oldest first. */
export async function readPayments(api: Api, masterLogin: string): Promise<Payment[]> {
  const path = `/api/v1/perf-fee/master/${masterLogin}/investor-payments?limit=${MAX_PAYMENT_ROWS}`;
  return (await readPages(api, path)).map(paymentOf).toReversed();
}

/** The credits on the Master's payment account. */
export async function readCredits(api: Api, masterLogin: string): Promise<Credit[]> {
  const path = `/api/v1/perf-fee/transactions?master_login=${masterLogin}&limit=${MAX_CREDIT_ROWS}`;
  return (await readPages(api, path)).map((item) => ({ id: textOf(item, "id"), minor: centsOf(item, "amount") }));
}

async function readPages(api: Api, path: string): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  for (let cursor = ""; ;) {
    const page = await api.read(path + cursor);
    if (!isObject(page)) return items;
    items.push(...itemsOf(page["items"]));
    if (page["has_more"] !== true) return items;
    cursor = `&cursor=${textOf(page, "next_cursor")}`;
  }
}

function paymentOf(item: JsonObject): Payment {
  return {
    investorLogin: textOf(item, "investor_mt5_login"),
    minor: centsOf(item, "amount"),
    at: Date.parse(`${textOf(item, "run_period_end")}Z`),
    key: textOf(item, "cashflow_unique_key"),
    creditId: textOf(item, "cashflow_id"),
  };
}
