import { expect, test } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, untilKnown } from "../support/client.ts";
import {
  existingAccount,
  expectDone,
  INVESTOR_GROUP,
  newInvestor,
  newMaster,
  personalFields,
  withdraw,
} from "../support/client-requests.ts";
import { expectProblem } from "../support/problem.ts";
import * as shape from "../support/shape.ts";

const { empty, exactly, integer, login, password, text, timestamp } = shape;

const READ = { id: integer, mt5_login: login, name: text, created_at: timestamp };
const ITEM = { ...READ, engine: exactly("PAMM") };
const REFUSED = { status: 422, code: "validation_failed", outcome: "not_executed" } as const;

export function investorRoutes(client: () => Client): void {
  const create = (more: object) =>
    client().post("/api/v1/investor/create", { ...personalFields("Ines"), platform_group: INVESTOR_GROUP, ...more });

  test("create returns an account without balance and without Master", async () => {
    const reply = await create({ leverage: 200 });

    shape.expectReply(reply, { ...READ, password, investor_password: password });
    const created = textOf(reply.body, "mt5_login");
    const balance = await client().get(`/api/v1/info/balance/${created}`);
    expect(balance.body).toEqual({ mt5_login: created, balance: "0", ok: true, error: null });
    const master = await client().get(`/api/v1/info/investor/${created}/master`);
    shape.expectReply(master, { master_login: empty, name: empty, started_at: empty });
  });

  test("create reports all wrong fields at once", async () => {
    const wrong = await create({ name: " ", username: "a b@c", platform_group: "", leverage: "high" });
    expectProblem(wrong, { ...REFUSED, fields: ["name", "username", "platform_group", "leverage"] });
    const required = ["first_name", "last_name", "name", "username", "platform_group"];
    expectProblem(await client().post("/api/v1/investor/create", {}), { ...REFUSED, fields: required });
    const group = await create({ platform_group: "pamm\\master" });
    expectProblem(group, { ...REFUSED, code: "group_not_allowed", fields: ["platform_group"] });
  });

  test("add registers an existing account once and in one role", async () => {
    const existing = await existingAccount(client(), "75.50");
    const add = (body: object) => client().post("/api/v1/investor/add", body);

    const added = await add({ mt5_login: existing, name: "Existing" });
    shape.expectReply(added, { ...ITEM, mt5_login: exactly(existing), name: exactly("Existing") });
    const conflict = { status: 409, outcome: "not_executed" } as const;
    expectProblem(await add({ mt5_login: existing, name: "Again" }), { ...conflict, code: "login_already_registered" });
    const { login: master } = await newMaster(client());
    expectProblem(await add({ mt5_login: master, name: "Master" }), { ...conflict, code: "login_in_use" });
    const unknown = await add({ mt5_login: "1", name: "Unknown" });
    expectProblem(unknown, { ...REFUSED, code: "platform_account_not_found", fields: ["mt5_login"] });
    expectProblem(await add({ mt5_login: "0", name: "" }), { ...REFUSED, fields: ["mt5_login", "name"] });
    const revealed = await client().get(`/api/v1/info/investor/${existing}`);
    shape.expectReply(revealed, { ...READ, mt5_password: empty, mt5_investor_password: empty });
    const balance = await client().get(`/api/v1/info/balance/${existing}`);
    expect(balance.body).toEqual({ mt5_login: existing, balance: "75.5", ok: true, error: null });
  });

  test("the passwords of a created Investor can be read", async () => {
    const created = await newInvestor(client());
    const revealed = await client().get(`/api/v1/info/investor/${created}`);
    shape.expectReply(revealed, { ...READ, mt5_password: password, mt5_investor_password: password });
  });

  test("an unknown Investor is answered 404, and a malformed login 422", async () => {
    const notFound = { status: 404, code: "investor_not_found" };
    expectProblem(await client().get("/api/v1/info/investor/999999"), notFound);
    expectProblem(await client().get("/api/v1/info/investor/999999/master"), notFound);
    const malformed = { status: 422, code: "validation_failed", fields: ["investor_login"] };
    expectProblem(await client().get("/api/v1/info/investor/12a"), malformed);
  });

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

  test("the directory is read page by page", async () => {
    await newInvestor(client());
    await newInvestor(client());
    const first = await client().get("/api/v1/investor/directory?engine=ALL&limit=1");

    expect(shape.expectPage(first, ITEM)).toBe(1);
    const cursor = encodeURIComponent(textOf(first.body, "next_cursor"));
    const second = await client().get(`/api/v1/investor/directory?engine=ALL&cursor=${cursor}`);
    expect(shape.expectPage(second, ITEM)).toBeGreaterThan(0);
    const other = await client().get(`/api/v1/investor/directory?engine=PAMM&cursor=${cursor}`);
    expectProblem(other, { status: 422, code: "invalid_cursor", fields: ["cursor"] });
    const missing = await client().get("/api/v1/investor/directory");
    expectProblem(missing, { status: 422, code: "validation_failed", fields: ["engine"] });
  });
}
