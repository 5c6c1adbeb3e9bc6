import { expect } from "vitest";
import { itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf } from "./client.ts";
import type { NewMaster } from "./client-requests.ts";

/** The maxima of the two listings. */
const MAX_CREDIT_PAGE = 100;
const MAX_PAYMENT_PAGE = 500;

export type Payment = {
  readonly id: string;
  readonly runId: string;
  readonly investor: string;
  readonly minor: bigint;
  readonly key: string;
  readonly creditId: string;
  readonly ticket: string;
  readonly periodEnd: string;
};

export type Credit = {
  readonly id: string;
  readonly investor: string | null;
  readonly minor: bigint;
  readonly kind: string;
  readonly ticket: string;
};

/** All payments of a Master's Investors, oldest first, read page by page. */
export async function paymentsOf({ get }: Client, master: string): Promise<Payment[]> {
  const path = `/api/v1/perf-fee/master/${master}/investor-payments?limit=${MAX_PAYMENT_PAGE}`;
  const items = await readPages(get, path);
  return items
    .map((item) => ({
      id: textOf(item, "id"),
      runId: textOf(item, "run_id"),
      investor: textOf(item, "investor_mt5_login"),
      minor: minorOf(textOf(item, "amount")),
      key: textOf(item, "cashflow_unique_key"),
      creditId: textOf(item, "cashflow_id"),
      ticket: textOf(item, "mt5_op_id"),
      periodEnd: textOf(item, "run_period_end"),
    }))
    .toReversed();
}

/** All credits of a Master's payment account, oldest first. */
export async function creditsOf({ get }: Client, master: string): Promise<Credit[]> {
  const path = `/api/v1/perf-fee/transactions?master_login=${master}&limit=${MAX_CREDIT_PAGE}`;
  const items = await readPages(get, path);
  return items.map((item) => {
    const investor = item["investor_mt5_login"];
    return {
      id: textOf(item, "id"),
      investor: typeof investor === "string" ? investor : null,
      minor: minorOf(textOf(item, "amount")),
      kind: textOf(item, "kind"),
      ticket: textOf(item, "mt5_op_id"),
    };
  });
}

async function readPages(get: Client["get"], path: string) {
  const items = [];
  for (let cursor = ""; ;) {
    const page = await get(path + cursor);
    expect(page.status, page.text).toBe(200);
    items.push(...itemsOf(page.body["items"]));
    if (page.body["has_more"] !== true) return items;
    cursor = `&cursor=${textOf(page.body, "next_cursor")}`;
  }
}

type Paid = { readonly payments: readonly Payment[]; readonly total: bigint };

/**
 * Each payment is one credit and one deal on each of the two accounts; the payment account has no other deal. A departure waits for the
 * debit of its fee only: the credit, and the payment in the listings, follow.
 */
export async function expectFeesToReconcile(client: Client, pool: NewMaster): Promise<Paid> {
  return await eventually(() => expectPaidOnce(client, pool));
}

async function expectPaidOnce(client: Client, { login: master, paymentLogin }: NewMaster): Promise<Paid> {
  const payments = await paymentsOf(client, master);
  const credits = await creditsOf(client, master);
  const pairs = payments.map(({ creditId, investor, minor }) => [creditId, investor, minor]);
  expect(pairs.toSorted(byId)).toEqual(credits.map(({ id, investor, minor }) => [id, investor, minor]).toSorted(byId));
  expect(new Set(payments.map(({ key }) => key)).size, "keys are unique").toBe(payments.length);
  const onPaymentAccount = await dealsOf(client, paymentLogin);
  expect(onPaymentAccount.map(({ ticket, minor }) => [ticket, minor]).toSorted(byId)).toEqual(
    credits.map(({ ticket, minor }) => [ticket, minor]).toSorted(byId),
  );
  for (const investor of new Set(payments.map((payment) => payment.investor))) {
    const deals = await dealsOf(client, investor);
    for (const { ticket, minor } of payments.filter((payment) => payment.investor === investor)) {
      expect(deals.filter((deal) => deal.ticket === ticket).map((deal) => deal.minor)).toEqual([-minor]);
    }
  }
  return { payments, total: payments.reduce((sum, { minor }) => sum + minor, 0n) };
}

function byId([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return Number(one) - Number(other);
}
