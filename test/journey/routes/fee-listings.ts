import { expect, test } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, untilKnown } from "../support/client.ts";
import { CREDIT, expectFeesToReconcile, PAYMENT } from "../support/fees.ts";
import { expectDone, withdraw } from "../support/client-requests.ts";
import * as shape from "../support/shape.ts";
import { bookResult, pooled } from "../support/trading.ts";

const { exactly, login } = shape;

export function feeListings(client: () => Client): void {
  test("credits and payments are listed in pages, each in its own order, and match each other", async () => {
    const master = await pooled(client(), ["10000"], 0.5);
    const [investor = ""] = master.investors;
    for (let fee = 1; fee <= 6; fee += 1) {
      await bookResult(client(), master.login, `${2 * fee}`);
      await expectDone(withdraw(untilKnown(client()), investor, "0.01"));
    }
    const credits = (query: string) =>
      client().get(`/api/v1/perf-fee/transactions?master_login=${master.login}${query}`);
    const payments = (query: string) =>
      client().get(`/api/v1/perf-fee/master/${master.login}/investor-payments${query}`);
    await eventually(async () => expect(itemsOf((await payments("")).body["items"])).toHaveLength(6));
    const paymentAccount = { payment_account_login: exactly(master.paymentLogin) };

    const first = await credits("");
    const credit = { ...CREDIT, kind: exactly("PF"), investor_mt5_login: exactly(investor) };
    expect(shape.expectPage(first, credit, paymentAccount)).toBe(5);
    expect(amountsOf(first.body)).toEqual(["1", "2", "3", "4", "5"]);
    expect(first.body).toMatchObject({ has_more: true, next_cursor: itemsOf(first.body["items"]).at(-1)?.["id"] });
    const rest = await credits(`&cursor=${textOf(first.body, "next_cursor")}`);
    expect(amountsOf(rest.body)).toEqual(["6"]);
    const last = itemsOf(rest.body["items"]).at(-1)?.["id"];
    expect(rest.body).toMatchObject({ has_more: false, next_cursor: last });
    const tail = await credits(`&cursor=${textOf(rest.body, "next_cursor")}`);
    expect(tail.body).toMatchObject({ items: [], has_more: false, next_cursor: last });

    const newest = await payments("?limit=4");
    const both = { ...paymentAccount, master_login: exactly(master.login) };
    expect(shape.expectPage(newest, { ...PAYMENT, investor_mt5_login: login }, both)).toBe(4);
    expect(amountsOf(newest.body)).toEqual(["6", "5", "4", "3"]);
    const older = await payments(`?limit=4&cursor=${textOf(newest.body, "next_cursor")}`);
    expect(amountsOf(older.body)).toEqual(["2", "1"]);
    expect(older.body).toMatchObject({ has_more: false, next_cursor: null });
    await expectFeesToReconcile(client(), master);
  });
}

function amountsOf(page: JsonObject): string[] {
  return itemsOf(page["items"]).map((item) => textOf(item, "amount"));
}
