import { expect, test } from "vitest";
import { type Client, untilKnown } from "../support/client.ts";
import { expectDone, newInvestor, withdraw } from "../support/client-requests.ts";
import { expectProblem } from "../support/problem.ts";
import * as shape from "../support/shape.ts";

const { empty, exactly, integer, login, text, timestamp } = shape;

const READ = { id: integer, mt5_login: login, name: text, created_at: timestamp };

export function erasure(client: () => Client): void {
  test("the personal data of a closed Investor is erased, here and on the trading platform", async () => {
    const funded = await newInvestor(client(), "25");
    const erase = (login: string) => client().post(`/api/v1/ops/investors/${login}/erase`, {});
    const open = { status: 409, code: "investor_not_closed", outcome: "not_executed" } as const;
    expectProblem(await erase(funded), { ...open, fields: ["investor_login"] });
    await expectDone(withdraw(untilKnown(client()), funded, "25"));

    const erased = await erase(funded);
    const neutral = { ...READ, mt5_login: exactly(funded), name: exactly("erased") };
    const evidence = { requested_by: text, requested_at: timestamp, erased_at: timestamp, on_platform: exactly(true) };
    shape.expectReply(erased, { ...neutral, ...evidence });
    expect((await erase(funded)).body).toEqual(erased.body);
    const revealed = await client().get(`/api/v1/info/investor/${funded}`);
    shape.expectReply(revealed, { ...neutral, mt5_password: empty, mt5_investor_password: empty });
    expect(await client().control("GET", `accounts/${funded}`)).toMatchObject({ name: "erased", balance: "0.00" });
    expectProblem(await erase("999999"), { status: 404, code: "investor_not_found", outcome: "not_executed" });
  });
}
