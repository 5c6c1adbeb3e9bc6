import * as a from "../expect.ts";
import * as members from "../members.ts";
import type { Section } from "../run-kit.ts";
import { hold } from "../outcome.ts";
import { accounts, assign, life, newPool, registered } from "../histories.ts";
import { expectBalance } from "../world.ts";
import { expectPasswords, withoutEach } from "./creations.ts";
import { expectDirectory } from "./directory.ts";

const PERSON = { first_name: "Maya", last_name: "Okafor", name: "Alpha", username: "maya@example.com" };

/** Section 4.1: Masters. */
export const MASTERS: Section = [
  {
    id: "4.1 directory",
    text: "GET /master/directory: `engine` is required; `limit` 1 to 100; opaque `cursor`; `items`, `next_cursor`, `has_more`.",
    expected: "pages that follow each other; refused without engine and out of range",
    async check(world) {
      await Promise.all([world.newMaster(), world.newMaster()]);
      return await expectDirectory(world, "master");
    },
  },
  {
    id: "4.1 directory ALL",
    text: "`engine` may be ALL, too.",
    expected: "200; another value is refused",
    async check({ get }) {
      const other = a.expectRefused(await get("/master/directory?engine=NONE"));
      return `${a.expectOk(await get("/master/directory?engine=ALL&limit=1"))}, ${other}`;
    },
  },
  {
    id: "4.1 add",
    text: "POST /master/add registers two existing accounts; `name`, `strategy_name`, `strategy` are optional, `min_deposit` is a string.",
    expected: "200, and it is in the directory and found by its login",
    needs: ["simulator"],
    async check(world) {
      const { trading, payment, master } = await registered(world);
      a.expectOk(master);
      const { body } = await world.get(`/info/master/${trading}`);
      a.expectMembers(body, { ...members.SENSITIVE_MASTER, payment_account_login: a.exactly(payment) });
      hold(a.centsOf(body, "min_deposit") === 500, a.textOf(body, "min_deposit"));
      return "200";
    },
  },
  {
    id: "4.1 add required",
    text: "`mt5_login`, `payment_account_login` and `min_deposit` are required.",
    expected: "refused without each",
    async check({ post }) {
      const all = { mt5_login: "990001", payment_account_login: "990002", min_deposit: "5" };
      return a.expectRefused(...(await Promise.all(withoutEach(all).map((body) => post("/master/add", body)))));
    },
  },
  {
    id: "4.1 add registered",
    text: "Rejected: a trading login already registered.",
    expected: "refused",
    async check(world) {
      const { master } = await accounts(world);
      const { payment } = await world.newMaster();
      const request = { mt5_login: master.login, payment_account_login: payment, min_deposit: "5" };
      return a.expectRefused(await world.post("/master/add", request));
    },
  },
  {
    id: "4.1 add equal",
    text: "Rejected: a payment account equal to the Master login.",
    expected: "refused",
    async check({ post }) {
      const request = { mt5_login: "990001", payment_account_login: "990001", min_deposit: "5" };
      return a.expectRefused(await post("/master/add", request));
    },
  },
  {
    id: "4.1 add assigned",
    text: "Rejected: a payment account already assigned elsewhere.",
    expected: "refused",
    needs: ["simulator"],
    async check(world) {
      const { payment } = await registered(world);
      const request = { mt5_login: await world.existingAccount(), payment_account_login: payment, min_deposit: "5" };
      return a.expectRefused(await world.post("/master/add", request));
    },
  },
  {
    id: "4.1 add creates nothing else",
    text: "Registration creates no CRM users, wallets, products or frontend relationships.",
    reason: "these are systems of the CRM",
  },
  {
    id: "4.1 create",
    text: "POST /master/create provisions a trading account and its payment account together.",
    expected: "the documented members with two logins",
    async check(world) {
      return a.expectMembers((await accounts(world)).master.answer.body, members.CREATED_MASTER);
    },
  },
  {
    id: "4.1 create required",
    text: "`first_name`, `last_name`, `name`, `username`, `platform_group`, `min_deposit` are required; `username` is an email.",
    expected: "refused without each, and with a username that is none",
    async check({ post }) {
      const all = { ...PERSON, platform_group: "pamm\\master", min_deposit: "5" };
      const wrong = [...withoutEach(all), { ...all, username: "maya" }];
      return a.expectRefused(...(await Promise.all(wrong.map((body) => post("/master/create", body)))));
    },
  },
  {
    id: "4.1 create leverage",
    text: "`leverage` is an optional string, default 100.",
    reason: "no route returns the leverage of an account; that it may be omitted is part of `4.1 create`",
  },
  {
    id: "4.1 create payment group",
    text: "The payment account's group is set by the operator and is not a request field.",
    expected: "created without one",
    async check(world) {
      return `payment account ${(await accounts(world)).master.payment}`;
    },
  },
  {
    id: "4.1 get",
    text: "GET /master/{master_id}: the internal id; six members.",
    expected: "these members",
    async check(world) {
      const { id } = (await accounts(world)).master;
      return a.expectMembers((await world.get(`/master/${id}`)).body, {
        ...members.SINGLE_MASTER,
        id: a.exactly(BigInt(id)),
      });
    },
  },
  {
    id: "4.1 patch",
    text: "PATCH /master/{master_id}: omitted fields keep their value.",
    expected: "name and strategy change one after the other",
    async check(world) {
      const { id } = await world.newMaster();
      a.expectOk(await world.patch(`/master/${id}`, { name: "Beta" }));
      a.expectOk(
        await world.patch(`/master/${id}`, { strategy_name: "Trend", strategy: "Follows it.", min_deposit: 7.5 }),
      );
      const { body } = await world.get(`/master/${id}`);
      const observed = ["name", "strategy_name", "strategy"].map((name) => a.textOf(body, name)).join(", ");
      hold(observed === "Beta, Trend, Follows it.", observed);
      return observed;
    },
  },
  {
    id: "4.1 patch nothing",
    text: "At least one of `name`, `strategy_name`, `strategy`, `min_deposit`.",
    expected: "refused without any",
    check: async (world) => a.expectRefused(await world.patch(`/master/${(await accounts(world)).master.id}`, {})),
  },
  {
    id: "4.1 patch min_deposit",
    text: "Changing `min_deposit` affects only later assignment validation and moves no funds.",
    expected: "the assigned Investor may deposit 1.00, another one with 100.00 is refused",
    needs: ["money"],
    async check(world) {
      const { master, investor } = await newPool(world, "100");
      a.expectOk(await world.patch(`/master/${master.id}`, { min_deposit: 5000 }));
      const balance = await expectBalance(world, investor, 100_00);
      a.expectOk(await world.post(`/investor/deposit?login=${investor}&amount=1`));
      const refused = a.expectRefused(await assign(world, master.login, (await world.newInvestor("100")).login));
      return `${balance}, 200, ${refused}`;
    },
  },
  {
    id: "4.1 sensitive",
    text: "GET /info/master/{master_login} has both platform passwords.",
    expected: "the passwords of the creation",
    async check(world) {
      const { login, answer } = (await accounts(world)).master;
      return expectPasswords(world, `/info/master/${login}`, answer.body);
    },
  },
  {
    id: "4.1 investors",
    text: "GET /info/master/{master_login}/investors: an array of `{id, mt5_login, name}` of the active Investors.",
    expected: "these members",
    needs: ["money"],
    async check(world) {
      const { activeInvestors, investor } = await life(world);
      const item = { id: a.integer, mt5_login: a.exactly(investor), name: a.filled };
      return a.expectItems(activeInvestors.body, item);
    },
  },
];
