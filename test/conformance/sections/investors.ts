import * as a from "../expect.ts";
import { memberOf } from "../http.ts";
import * as members from "../members.ts";
import type { Section } from "../run-kit.ts";
import { hold } from "../outcome.ts";
import { accounts, assign, life, registered, subscriptions } from "../histories.ts";
import { expectBalance } from "../world.ts";
import { expectPasswords, withoutEach } from "./creations.ts";
import { expectDirectory } from "./directory.ts";

const PERSON = { first_name: "Ines", last_name: "Vestor", name: "Ines", username: "ines@example.com" };

/** Section 4.2: Investors. */
export const INVESTORS: Section = [
  {
    id: "4.2 directory",
    text: "GET /investor/directory: `engine` is required; `limit` 1 to 100; opaque `cursor`; `items`, `next_cursor`, `has_more`.",
    expected: "pages that follow each other; refused without engine and out of range",
    async check(world) {
      await Promise.all([world.newInvestor(), world.newInvestor()]);
      return await expectDirectory(world, "investor");
    },
  },
  {
    id: "4.2 add",
    text: "POST /investor/add: the response is an Investor item.",
    expected: "the members of a directory item with this login and name",
    needs: ["simulator"],
    async check(world) {
      const { investor, investorLogin } = await registered(world);
      const named = { mt5_login: a.exactly(investorLogin), name: a.exactly("Found") };
      return a.expectMembers(investor.body, { ...members.INVESTOR, ...named });
    },
  },
  {
    id: "4.2 add required",
    text: "`mt5_login` (positive numeric) and `name` are required.",
    expected: "refused without each, and with logins that are none",
    async check({ post }) {
      const logins = ["0", "-5", "12.5", "abc", ""].map((mt5_login) => ({ mt5_login, name: "Found" }));
      const wrong = [...withoutEach({ mt5_login: "990003", name: "Found" }), ...logins];
      return a.expectRefused(...(await Promise.all(wrong.map((body) => post("/investor/add", body)))));
    },
  },
  {
    id: "4.2 add moves nothing",
    text: "Registration credits no funds and creates no subscription.",
    expected: "balance 0 and no subscription",
    needs: ["simulator"],
    async check(world) {
      const { investorLogin } = await registered(world);
      hold(a.itemsOf((await subscriptions(world, investorLogin)).body).length === 0, "a subscription");
      return await expectBalance(world, investorLogin, 0);
    },
  },
  {
    id: "4.2 add duplicate",
    text: "A duplicate login returns 409.",
    expected: "409",
    async check(world) {
      const { login } = (await accounts(world)).investor;
      return a.expectStatus(409, await world.post("/investor/add", { mt5_login: login, name: "Again" }));
    },
  },
  {
    id: "4.2 create",
    text: "POST /investor/create: `id`, `mt5_login`, `name`, `created_at`, `password`, `investor_password`.",
    expected: "these members",
    check: async (world) => a.expectMembers((await accounts(world)).investor.answer.body, members.CREATED_INVESTOR),
  },
  {
    id: "4.2 create required",
    text: "`first_name`, `last_name`, `name`, `username` (email), `platform_group` are required.",
    expected: "refused without each, and with a username that is none",
    async check({ post }) {
      const all = { ...PERSON, platform_group: "pamm\\investor" };
      const wrong = [...withoutEach(all), { ...all, username: "ines" }];
      return a.expectRefused(...(await Promise.all(wrong.map((body) => post("/investor/create", body)))));
    },
  },
  {
    id: "4.2 new account",
    text: "The new account has no balance and no Master.",
    expected: "balance 0, no subscription",
    async check(world) {
      const { login } = (await accounts(world)).investor;
      hold(a.itemsOf((await subscriptions(world, login)).body).length === 0, "a subscription");
      return await expectBalance(world, login, 0);
    },
  },
  {
    id: "4.2 sensitive",
    text: "GET /info/investor/{investor_login} has both passwords.",
    expected: "the passwords of the creation",
    async check(world) {
      const { login, answer } = (await accounts(world)).investor;
      return await expectPasswords(world, `/info/investor/${login}`, answer.body);
    },
  },
  {
    id: "4.2 sensitive in browsers",
    text: "Call the sensitive lookup only from a backend; do not log the body.",
    reason: "a rule for clients",
  },
  {
    id: "4.2 active Master",
    text: "GET /info/investor/{investor_login}/master: `{master_login, name, started_at}`.",
    expected: "the Master of the subscription",
    needs: ["money"],
    async check(world) {
      const { activeMaster, master } = await life(world);
      const found = { master_login: a.exactly(master.login), name: a.filled, started_at: a.timestamp };
      return a.expectMembers(activeMaster.body, found);
    },
  },
  {
    id: "4.2 no active Master",
    text: "When there is no active Master all fields are null.",
    expected: "three nulls, also after a subscription",
    needs: ["money"],
    async check(world) {
      const nulls = { master_login: a.nothing, name: a.nothing, started_at: a.nothing };
      const { login } = (await accounts(world)).investor;
      a.expectMembers((await world.get(`/info/investor/${login}/master`)).body, nulls);
      return a.expectMembers((await life(world)).lastMaster.body, nulls);
    },
  },
  {
    id: "4.2 before assignment",
    text: "Before assignment the Investor should exist in the directory.",
    expected: "assign of an unknown Investor is refused",
    async check(world) {
      return a.expectRefused(await assign(world, (await accounts(world)).master.login, "990004"));
    },
  },
  {
    id: "4.2 previous subscription",
    text: "Where the current account restriction applies, the Investor has no previous subscription.",
    expected: "a second subscription is accepted, or refused where the restriction applies",
    needs: ["money"],
    async check(world) {
      const { investor } = await life(world);
      const answer = await assign(world, (await world.newMaster()).login, investor);
      return answer.status === 200 ? "200: no restriction here" : `restricted: ${a.expectStatus(409, answer)}`;
    },
  },
  {
    id: "4.2 in the directory",
    text: "A created Investor is in the directory.",
    expected: "its id is found",
    async check(world) {
      const { answer } = (await accounts(world)).investor;
      const id = a.textOf(answer.body, "id");
      for (let cursor = "", pages = 0; pages < 200; pages += 1) {
        const { body } = await world.get(`/investor/directory?engine=PAMM&limit=100${cursor}`);
        const ids = a.itemsOf(memberOf(body, "items")).map((item) => a.textOf(item, "id"));
        if (ids.includes(id)) return `on page ${pages + 1}`;
        hold(memberOf(body, "has_more") === true, `${pages + 1} pages without id ${id}`);
        cursor = `&cursor=${encodeURIComponent(a.textOf(body, "next_cursor"))}`;
      }
      return "more than 200 pages, not read to the end";
    },
  },
];
