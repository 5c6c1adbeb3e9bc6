import { expect, test } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, json } from "../support/client.ts";
import {
  assign,
  existingAccount,
  expectDone,
  MASTER_GROUP,
  newInvestor,
  newMaster,
  personalFields,
} from "../support/client-requests.ts";
import { closeMaster, patchMaster, statusOf } from "../support/master-life.ts";
import { expectProblem } from "../support/problem.ts";
import * as shape from "../support/shape.ts";

const { amount, anyText, empty, exactly, integer, login, nullable, password, text, timestamp } = shape;

const READ = { id: integer, mt5_login: login, name: text, strategy_name: anyText, strategy: anyText };
const DIRECTORY_ITEM = {
  ...READ,
  engine: exactly("PAMM"),
  investors_count: integer,
  payment_account_login: login,
  min_deposit: amount,
  created_at: timestamp,
};
const CREATED = {
  ...READ,
  created_at: timestamp,
  password,
  investor_password: password,
  payment_account_login: login,
};
const REVEALED = {
  ...READ,
  mt5_password: nullable(password),
  mt5_investor_password: nullable(password),
  payment_account_login: login,
  min_deposit: amount,
  created_at: timestamp,
  investors_count: integer,
};

export function masterRoutes(client: () => Client): void {
  const create = (more: object) =>
    client().post("/api/v1/master/create", { ...personalFields("Maya"), platform_group: MASTER_GROUP, ...more });

  test("create returns three identifiers and two passwords", async () => {
    const reply = await create({ min_deposit: "100.50", leverage: "50", strategy_name: "Trend", strategy: "Majors" });

    shape.expectReply(reply, { ...CREATED, strategy_name: exactly("Trend"), strategy: exactly("Majors") });
    expect(textOf(reply.body, "mt5_login")).not.toBe(textOf(reply.body, "payment_account_login"));
  });

  test("create reports all wrong fields at once", async () => {
    const reply = await create({ first_name: "", username: "invalid", min_deposit: "1.234", leverage: "5001" });

    const fields = ["first_name", "username", "min_deposit", "leverage"];
    expectProblem(reply, { status: 422, code: "validation_failed", fields, outcome: "not_executed" });
    const missing = await client().post("/api/v1/master/create", {});
    const required = ["first_name", "last_name", "name", "username", "platform_group", "min_deposit"];
    expectProblem(missing, { status: 422, code: "validation_failed", fields: required, outcome: "not_executed" });
    const external = await create({ min_deposit: "1", platform_group: "real\\vip" });
    const fieldsOfGroup = ["platform_group"];
    expectProblem(external, { status: 422, code: "group_not_allowed", fields: fieldsOfGroup, outcome: "not_executed" });
  });

  test("a Master is read by its id, and with its passwords by its login", async () => {
    const { id, login: created } = await newMaster(client(), "25.5");

    shape.expectReply(await client().get(`/api/v1/master/${id}`), { ...READ, created_at: timestamp });
    const revealed = await client().get(`/api/v1/info/master/${created}`);
    shape.expectReply(revealed, { ...REVEALED, mt5_password: password, mt5_investor_password: password });
    expect(revealed.body).toMatchObject({ mt5_login: created, min_deposit: "25.5", investors_count: "0" });
    shape.expectItems(await client().get(`/api/v1/info/master/${created}/investors`), {});
  });

  test("an unknown Master is answered 404, and a malformed id 422", async () => {
    expectProblem(await client().get("/api/v1/master/999999"), { status: 404, code: "master_not_found" });
    expectProblem(await client().get("/api/v1/info/master/999999"), { status: 404, code: "master_not_found" });
    const investors = await client().get("/api/v1/info/master/999999/investors");
    expectProblem(investors, { status: 404, code: "master_not_found" });
    const word = await client().get("/api/v1/master/first");
    expectProblem(word, { status: 422, code: "validation_failed", fields: ["master_id"] });
  });

  test("PATCH changes only the fields in its body", async () => {
    const { id } = await newMaster(client(), "10");
    const patch = (body: object) => client().send(`/api/v1/master/${id}`, { method: "PATCH", ...json(body) });

    const changed = await patch({ strategy: "Mean reversion", min_deposit: 20.25 });
    shape.expectReply(changed, { ...DIRECTORY_ITEM, strategy: exactly("Mean reversion"), min_deposit: exactly(20.25) });
    shape.expectReply(await patch({ name: "Renamed" }), {
      ...DIRECTORY_ITEM,
      name: exactly("Renamed"),
      strategy: exactly("Mean reversion"),
      min_deposit: exactly(20.25),
    });
    const refusal = { status: 422, code: "validation_failed", outcome: "not_executed" } as const;
    expectProblem(await patch({}), { ...refusal, fields: ["body"] });
    expectProblem(await patch({ name: 5, min_deposit: -1 }), { ...refusal, fields: ["name", "min_deposit"] });
    const unknown = await client().send("/api/v1/master/999999", { method: "PATCH", ...json({ name: "Unknown" }) });
    expectProblem(unknown, { status: 404, code: "master_not_found", outcome: "not_executed" });
  });

  test("add registers two existing accounts", async () => {
    const [trading, payment] = [await existingAccount(client()), await existingAccount(client())];
    const add = (more: object) =>
      client().post("/api/v1/master/add", {
        mt5_login: trading,
        payment_account_login: payment,
        min_deposit: "5",
        ...more,
      });
    const refusal = { outcome: "not_executed" } as const;

    const same = await add({ payment_account_login: trading });
    expectProblem(same, {
      ...refusal,
      status: 422,
      code: "payment_account_equals_master",
      fields: ["payment_account_login"],
    });
    const unknown = await add({ payment_account_login: "1" });
    expectProblem(unknown, {
      ...refusal,
      status: 422,
      code: "platform_account_not_found",
      fields: ["payment_account_login"],
    });
    shape.expectReply(await add({}), {
      ...DIRECTORY_ITEM,
      name: exactly(trading),
      strategy: exactly(""),
      strategy_name: exactly(""),
    });
    expectProblem(await add({}), { ...refusal, status: 409, code: "login_already_registered" });
    const other = await add({ mt5_login: await existingAccount(client()) });
    expectProblem(other, { ...refusal, status: 409, code: "payment_account_in_use" });
    const revealed = await client().get(`/api/v1/info/master/${trading}`);
    shape.expectReply(revealed, { ...REVEALED, mt5_password: empty, mt5_investor_password: empty });
  });

  test("the directory is read page by page, ascending by id", async () => {
    await newMaster(client());
    await newMaster(client());
    const first = await client().get("/api/v1/master/directory?engine=PAMM&limit=1");

    expect(shape.expectPage(first, DIRECTORY_ITEM)).toBe(1);
    expect(first.body["has_more"]).toBe(true);
    const cursor = encodeURIComponent(textOf(first.body, "next_cursor"));
    const rest = await client().get(`/api/v1/master/directory?engine=PAMM&limit=100&cursor=${cursor}`);
    expect(shape.expectPage(rest, DIRECTORY_ITEM)).toBeGreaterThan(0);
    expect(rest.body).toMatchObject({ has_more: false, next_cursor: null });
    const elsewhere = await client().get(`/api/v1/investor/directory?engine=PAMM&cursor=${cursor}`);
    expectProblem(elsewhere, { status: 422, code: "invalid_cursor", fields: ["cursor"] });
    const wrong = await client().get("/api/v1/master/directory?engine=MAM&limit=101");
    expectProblem(wrong, { status: 422, code: "validation_failed", fields: ["engine", "limit"] });
    const nothing = await client().get("/api/v1/master/directory?limit=0&limit=1");
    expectProblem(nothing, { status: 422, code: "validation_failed", fields: ["engine", "limit"] });
  });
}

export function masterLifeRoutes(client: () => Client): void {
  test("a Master stops to accept Investors, is paid its fees elsewhere, and is closed", async () => {
    const master = await newMaster(client());
    const [other, investor] = [await newMaster(client()), await newInvestor(client())];
    const refused = { status: 409, outcome: "not_executed" } as const;
    await expectDone(patchMaster(client(), master.id, { accepting_investors: false }));
    expect(await statusOf(client(), master.id)).toEqual({ state: "not_accepting", closing: {} });
    const assigned = await assign(client(), master.login, investor);
    expectProblem(assigned, { ...refused, code: "master_not_accepting", members: { state: exactly("not_accepting") } });

    const next = await existingAccount(client());
    const moved = await expectDone(patchMaster(client(), master.id, { payment_account_login: next }));
    shape.expectReply(moved, { ...DIRECTORY_ITEM, payment_account_login: exactly(next) });
    const taken = await patchMaster(client(), other.id, { payment_account_login: master.paymentLogin });
    expectProblem(taken, { ...refused, code: "payment_account_in_use" });
    const role = await patchMaster(client(), other.id, { payment_account_login: investor });
    expectProblem(role, { ...refused, code: "login_in_use" });

    shape.expectReply(await expectDone(closeMaster(client(), master.id)), DIRECTORY_ITEM);
    await eventually(async () => expect(await statusOf(client(), master.id)).toMatchObject({ state: "archived" }));
    const changed = await patchMaster(client(), master.id, { name: "Again" });
    expectProblem(changed, { ...refused, code: "master_closed", members: { state: exactly("archived") } });
  });
}
