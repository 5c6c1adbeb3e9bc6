import { expect, test } from "vitest";
import { type Client, eventually, untilKnown } from "../support/client.ts";
import { expectFeesToReconcile } from "../support/fees.ts";
import { assign, deposit, expectDone, unassign, withdraw } from "../support/client-requests.ts";
import * as shape from "../support/shape.ts";
import { bookResult, expectBalances, pooled } from "../support/trading.ts";

const { empty, exactly, integer, text, timestamp } = shape;

/** Worked examples of the accounting: fees, answers and balances of withdrawals and unassigns in profit. */
export function feesOnDemand(client: () => Client): void {
  test("a withdrawal in profit takes the whole pending fee first", async () => {
    const master = await pooled(client(), ["10000"]);
    const [investor = ""] = master.investors;
    await bookResult(client(), master.login, "2000");

    // Without a pause, because a result that is allocated and not yet posted counts.
    const reply = await withdraw(client(), investor, "5000");
    shape.expectReply(reply, {
      status: exactly("success"),
      action: exactly("withdraw"),
      login: exactly(investor),
      currency: exactly("USD"),
      message: text,
      requested_amount: exactly(5000),
      effective_withdraw: exactly(5000),
      check_open_positions: exactly(true),
      perf_fee_pending_at_request: exactly("600.00"),
      balance_before: exactly("12000.00"),
      available_after_perf_fee: exactly("11400.00"),
      mt5_deal_id: integer,
    });
    const after = { [investor]: "6400", [master.login]: "6400", [master.paymentLogin]: "600" };
    await expectBalances(client(), after);
    const { payments } = await expectFeesToReconcile(client(), master);
    const operation = reply.headers.get("x-operation-id");
    expect(payments.map(({ key, runId }) => [key, runId])).toEqual([
      [`PF:${investor}:${master.login}:${payments[0]?.runId}:WD${operation}`, payments[0]?.runId],
    ]);

    await bookResult(client(), master.login, "100");
    const next = await withdraw(client(), investor, "0.01");
    expect(next.body).toMatchObject({
      perf_fee_pending_at_request: "30.00",
      balance_before: "6500.00",
      available_after_perf_fee: "6470.00",
      effective_withdraw: "0.01",
    });
    await expectBalances(client(), { [investor]: "6469.99", [master.login]: "6469.99", [master.paymentLogin]: "630" });
  });

  test("a withdrawal of the whole balance is reduced by the fee, and the Investor stays", async () => {
    const master = await pooled(client(), ["10000"]);
    const [investor = ""] = master.investors;
    await bookResult(client(), master.login, "2000");
    await expectBalances(client(), { [investor]: "12000" });

    const { body } = await withdraw(client(), investor, "12000");
    expect(body).toMatchObject({ status: "success", requested_amount: "12000", effective_withdraw: "11400" });
    await expectBalances(client(), { [investor]: "0", [master.login]: "0", [master.paymentLogin]: "600" });
    const { items } = await client().get(`/api/v1/info/subscriptions?investor_login=${investor}`);
    expect(items).toMatchObject([{ status: "ACTIVE", in_pool: true, ended_at: null }]);

    // The balance is zero, so no fee is pending.
    const nothing = await withdraw(client(), investor, "1");
    const none = { status: "no_funds", effective_withdraw: "0", mt5_deal_id: null };
    expect(nothing.body).toMatchObject({ ...none, perf_fee_pending_at_request: "0.00", balance_before: "0.00" });
  });

  test("an unassign in profit takes the fee, and the rest leaves the Master", async () => {
    const master = await pooled(client(), ["5000"], 0.275);
    const [investor = ""] = master.investors;
    await bookResult(client(), master.login, "421.37");
    await expectBalances(client(), { [investor]: "5421.37" });

    const reply = await unassign(client(), master.login, investor);
    expect(reply.status, reply.text).toBe(200);
    const { subscription, ...rest } = JSON.parse(reply.text) as Record<string, unknown>;
    shape.expectShape(rest, {
      payout_enqueued: exactly(true),
      mt5_transfer_id: integer,
      amount: exactly(-5305.5),
    });
    shape.expectShape(subscription, {
      id: integer,
      master_login: exactly(master.login),
      investor_login: exactly(investor),
      status: exactly("PAUSED"),
      in_pool: exactly(false),
      started_at: timestamp,
      ended_at: empty,
    });
    await expectBalances(client(), { [investor]: "5305.50", [master.login]: "0", [master.paymentLogin]: "115.87" });
    const list = `/api/v1/info/subscriptions?investor_login=${investor}`;
    await eventually(async () => expect((await client().get(list)).items).toMatchObject([{ status: "CANCELLED" }]));
    const { payments } = await expectFeesToReconcile(client(), master);
    const { id } = subscription as { id: number };
    expect(payments).toMatchObject([{ minor: 115_87n, key: expect.stringMatching(`:UA${id}$`) as string }]);
  });

  test("an Investor who comes back to its Master is not charged twice for the same profit", async () => {
    const master = await pooled(client(), ["1000"]);
    const [investor = ""] = master.investors;
    await bookResult(client(), master.login, "100");
    await expectDone(unassign(untilKnown(client()), master.login, investor));
    await expectBalances(client(), { [investor]: "1070", [master.login]: "0" });
    await eventually(() => expectDone(assign(untilKnown(client()), master.login, investor, 0.3)));
    await expectBalances(client(), { [master.login]: "1070" });
    await bookResult(client(), master.login, "-50");
    await bookResult(client(), master.login, "60");

    const { body } = await withdraw(client(), investor, "0.01");
    expect(body).toMatchObject({ perf_fee_pending_at_request: "3.00", balance_before: "1080.00" });
    await expectDone(deposit(untilKnown(client()), investor, "10", "later"));
    await expectBalances(client(), { [investor]: "1086.99", [master.login]: "1086.99" });
    await expectFeesToReconcile(client(), master);
  });
}
