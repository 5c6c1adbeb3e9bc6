import { expect, test } from "vitest";
import { itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, type Reply, untilKnown } from "../support/client.ts";
import { assign, deposit, expectDone, newInvestor, newMaster, unassign, withdraw } from "../support/client-requests.ts";

const MIRRORED_WITHIN_MS = 20_000;

/** The ledger of operations, on the whole system. */
export function operationRoutes(client: () => Client): void {
  const operationOf = (reply: Reply): string => reply.headers.get("x-operation-id") ?? "";
  const ledger = (id: string) => client().get(`/api/v1/operations/${id}`);
  const idsOfTicket = async (ticket: string) => {
    const { body } = await client().get(`/api/v1/operations?ticket=${ticket}`);
    return itemsOf(body["items"] ?? null).map(({ id }) => id);
  };

  test("a deposit is in the ledger with its deal, by its id and by its comment", async () => {
    const login = await newInvestor(client());
    const done = await deposit(client(), login, "100.5", "CRM-ledger-1");
    const { body } = await ledger(operationOf(done));

    expect(body).toMatchObject({
      id: operationOf(done),
      action: "deposit",
      login,
      amount: "100.5",
      outcome: "executed",
      deal_id: done.body["deal_id"],
    });
    const [deal] = await dealsOf(client(), login);
    expect(itemsOf(body["legs"] ?? null)).toMatchObject([
      { kind: "deposit", deal_id: deal?.ticket, outcome: "executed" },
    ]);
    expect(deal?.comment).toBe(`${textOf(body, "reference")} CRM-ledger-1`);
    const found = await client().get(`/api/v1/operations?login=${login}&comment=CRM-ledger-1`);
    expect(itemsOf(found.body["items"] ?? null)).toEqual([body]);
  });

  test("assigns, withdrawals and unassigns are in the same ledger, newest first; a long poll waits for the exit", async () => {
    const { login: master } = await newMaster(client());
    const login = await newInvestor(client(), "500");
    const assigned = await expectDone(assign(untilKnown(client()), master, login));
    const added = operationOf(await expectDone(deposit(client(), login, "30", "CRM-mirrored")));
    await expect
      .poll(async () => (await ledger(added)).body, { timeout: MIRRORED_WITHIN_MS })
      .toMatchObject({
        legs: [
          { kind: "deposit", login, amount: "30", outcome: "executed" },
          { kind: "mirror", login: master, amount: "30", outcome: "executed", deal_id: expect.anything() },
        ],
      });
    const paid = await expectDone(withdraw(untilKnown(client()), login, "20"));
    const left = await expectDone(unassign(untilKnown(client()), master, login));
    const waited = await client().get(`/api/v1/info/subscriptions?investor_login=${login}&wait=30`);
    expect(waited.items).toMatchObject([{ status: "CANCELLED" }]);

    const { body } = await client().get(`/api/v1/operations?login=${login}`);
    const items = itemsOf(body["items"] ?? null);
    expect(items.map(({ id }) => id).slice(0, 4)).toEqual([
      ...[left, paid].map(operationOf),
      added,
      operationOf(assigned),
    ]);
    expect(items.slice(0, 4)).toMatchObject([
      { action: "unassign", outcome: "executed", amount: null, legs: [{ kind: "exit", login: master }] },
      { action: "withdraw", outcome: "executed", deal_id: paid.body["mt5_deal_id"], legs: [{ kind: "withdrawal" }] },
      { action: "deposit", outcome: "executed", legs: [{ kind: "deposit" }, { kind: "mirror" }] },
      { action: "assign", outcome: "executed", legs: [] },
    ]);
    for (const { id, legs } of items.slice(0, 4)) {
      for (const leg of itemsOf(legs ?? null)) expect(await idsOfTicket(textOf(leg, "deal_id"))).toContain(id);
    }
  });
}
