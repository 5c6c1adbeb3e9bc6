import { afterEach, expect, test } from "vitest";
import { isObject, textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, untilKnown } from "../journey/support/client.ts";
import {
  assign,
  deposit,
  expectDone,
  newInvestor,
  newMaster,
  unassign,
  withdraw,
} from "../journey/support/client-requests.ts";
import { expectProblem } from "../journey/support/problem.ts";
import * as shape from "../journey/support/shape.ts";

const { bool, empty, exactly, integer, text } = shape;

export function platformFaults(client: () => Client): void {
  const fault = (command: string, effect: string, times = 1) =>
    client().control("POST", "faults", { command, effect, times });

  afterEach(() => client().control("DELETE", "faults"));

  test("open positions of the Master block withdraw and unassign until they are closed", async () => {
    const { login: master } = await newMaster(client());
    const investor = await newInvestor(client(), "10000");
    await expectDone(assign(untilKnown(client()), master, investor));
    await eventually(async () => expect((await dealsOf(client(), master)).length).toBe(1));
    await client().control("POST", "prices", { symbol: "EURUSD", bid: "1.10000", ask: "1.10000" });
    const position = { login: master, symbol: "EURUSD", side: "buy", volume: "0.01" };
    const opened = await client().control("POST", "positions", position);

    const blocked = { status: 409, code: "master_open_positions", outcome: "not_executed" } as const;
    const members = { open_positions: exactly(1) };
    await eventually(async () => expectProblem(await withdraw(client(), investor, "10"), { ...blocked, members }));
    await eventually(async () => expectProblem(await unassign(client(), master, investor), { ...blocked, members }));

    await client().control("POST", `positions/${textOf(isObject(opened) ? opened : {}, "position")}/close`, {});
    await eventually(() => expectDone(withdraw(untilKnown(client()), investor, "10")));
    await eventually(() => expectDone(unassign(untilKnown(client()), master, investor)));
  });

  test("a refusal of the platform is reported with its code, and no money is moved", async () => {
    const login = await newInvestor(client());
    await fault("trade/balance", "retcode:3");
    const rejected = await deposit(client(), login, "10", "rejected");
    const members = { platform_code: integer, operation_id: text };
    expectProblem(rejected, { status: 502, code: "platform_rejected", outcome: "not_executed", members });
    await fault("trade/balance", "retcode:10019");
    const poor = await deposit(client(), login, "10", "poor");
    expectProblem(poor, { status: 409, code: "insufficient_funds", outcome: "not_executed" });
    expect(await dealsOf(client(), login)).toEqual([]);
  });

  test("a deposit whose answer the platform loses is found and answered as done, once", async () => {
    const login = await newInvestor(client());
    await fault("trade/balance", "drop_after");
    const reply = await expectDone(deposit(untilKnown(client()), login, "10", "lost-answer"));
    const deals = await dealsOf(client(), login);
    expect(deals.map(({ ticket, minor }) => [ticket, minor])).toEqual([[reply.body["deal_id"], 10_00n]]);
  });

  test("a balance that the platform does not return is answered 200 with the reason", async () => {
    const login = await newInvestor(client());
    await fault("*", "http:503", 1_000);
    const reply = await client().get(`/api/v1/info/balance/${login}`);
    shape.expectReply(reply, { mt5_login: exactly(login), balance: empty, ok: exactly(false), error: text });
    await client().control("DELETE", "faults");
    const again = { mt5_login: exactly(login), balance: exactly(0), ok: bool, error: empty };
    await eventually(async () => shape.expectReply(await client().get(`/api/v1/info/balance/${login}`), again));
  });
}
