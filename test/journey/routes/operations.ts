import { expect, test } from "vitest";
import { itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, type Reply, untilKnown } from "../support/client.ts";
import {
  assign,
  deposit,
  existingAccount,
  expectDone,
  newInvestor,
  newMaster,
  unassign,
  withdraw,
} from "../support/client-requests.ts";
import { expectProblem } from "../support/problem.ts";
import { exactly } from "../support/shape.ts";

const MIRRORED_WITHIN_MS = 20_000;

/** The headers of commands and the ledger of operations, on the whole system. */
export function operationRoutes(client: () => Client): void {
  const operationOf = (reply: Reply): string => reply.headers.get("x-operation-id") ?? "";
  const ledger = (id: string) => client().get(`/api/v1/operations/${id}`);
  const idsOfTicket = async (ticket: string) => {
    const { body } = await client().get(`/api/v1/operations?ticket=${ticket}`);
    return itemsOf(body["items"] ?? null).map(({ id }) => id);
  };
  const post = (path: string, key: string) =>
    client().send(`/api/v1/${path}`, { method: "POST", headers: { "idempotency-key": key } });

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

  test("the tickets of a deal of another party and of no deal find no operation", async () => {
    const login = await existingAccount(client(), "5");
    const [deal] = await dealsOf(client(), login);

    expect(await idsOfTicket(deal?.ticket ?? "")).toEqual([]);
    expect(await idsOfTicket("999999999")).toEqual([]);
  });

  test("a request repeated under its key is executed once", async () => {
    const login = await newInvestor(client());
    const path = `investor/deposit?login=${login}&amount=10`;
    const first = await expectDone(post(path, `once-${login}`));
    const second = await expectDone(post(path, `once-${login}`));

    expect([second.text, operationOf(second)]).toEqual([first.text, operationOf(first)]);
    expect([first, second].map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, "true"]);
    expect(await dealsOf(client(), login)).toHaveLength(1);
    const other = await post(`investor/deposit?login=${login}&amount=11`, `once-${login}`);
    const members = { operation_id: exactly(operationOf(first)) };
    expectProblem(other, { status: 422, code: "idempotency_key_reused", outcome: "unknown", members });
  });

  test("a creation repeated under its key returns the same account with the same passwords", async () => {
    const body = JSON.stringify({
      first_name: "Ada",
      last_name: "Lovelace",
      name: "Ada",
      username: "ada@example.com",
      platform_group: "pamm\\investor",
    });
    const headers = { "content-type": "application/json", "idempotency-key": "create-ada" };
    const create = () => client().send("/api/v1/investor/create", { method: "POST", headers, body });
    const [first, second] = [await expectDone(create()), await expectDone(create())];

    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  });

  test("the same deposit sent twice without a key makes two deals, and the second answer names the first", async () => {
    const login = await newInvestor(client());
    const first = await deposit(client(), login, "10", "CRM-twice");
    const second = await deposit(client(), login, "10", "CRM-twice");

    expect(first.headers.get("x-possible-duplicate-of")).toBeNull();
    expect(second.headers.get("x-possible-duplicate-of")).toBe(first.body["deal_id"]);
    expect(await dealsOf(client(), login)).toHaveLength(2);
  });

  test("an unknown operation is not in the ledger", async () => {
    expectProblem(await ledger("0198c0de-0000-7000-8000-000000000001"), { status: 404, code: "operation_not_found" });
  });
}
