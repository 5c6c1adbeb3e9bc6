import * as a from "../expect.ts";
import { memberOf } from "../http.ts";
import * as members from "../members.ts";
import type { Section } from "../run-kit.ts";
import { accounts, life, registered } from "../histories.ts";

/** Section 2: identifiers, and fields of Masters, Investors and subscriptions. */
export const RESOURCES: Section = [
  {
    id: "2 id and login",
    text: "`GET`/`PATCH /master/{master_id}` need the internal id, not the login.",
    expected: "200 for the id, 404 for the login",
    async check(world) {
      const { id, login } = (await accounts(world)).master;
      a.expectOk(await world.get(`/master/${id}`));
      const wrong = [await world.get(`/master/${login}`), await world.patch(`/master/${login}`, { name: "Other" })];
      return `200, ${a.expectStatus(404, ...wrong)}`;
    },
  },
  {
    id: "2 Master directory item",
    text: "A Master in the directory has the ten documented members.",
    expected: "these members, each of its type",
    async check({ get, ...world }) {
      await accounts({ get, ...world });
      return a.expectItems(memberOf((await get("/master/directory?engine=PAMM")).body, "items"), members.MASTER);
    },
  },
  {
    id: "2 single Master",
    text: "The single-Master read returns only `id`, `mt5_login`, `name`, `strategy_name`, `strategy`, `created_at`.",
    expected: "these members",
    async check(world) {
      const { id } = (await accounts(world)).master;
      return a.expectMembers((await world.get(`/master/${id}`)).body, members.SINGLE_MASTER);
    },
  },
  {
    id: "2 created Master",
    text: "The create response adds `password`, `investor_password` and `payment_account_login`.",
    expected: "these members",
    async check(world) {
      return a.expectMembers((await accounts(world)).master.answer.body, members.CREATED_MASTER);
    },
  },
  {
    id: "2 sensitive Master",
    text: "The sensitive lookup of a Master has eleven members with both platform passwords.",
    expected: "these members",
    async check(world) {
      const { login } = (await accounts(world)).master;
      return a.expectMembers((await world.get(`/info/master/${login}`)).body, members.SENSITIVE_MASTER);
    },
  },
  {
    id: "2 Investor directory item",
    text: "An Investor in the directory has `engine`, `id`, `mt5_login`, `name`, `created_at`.",
    expected: "these members",
    async check(world) {
      await accounts(world);
      const { body } = await world.get("/investor/directory?engine=PAMM");
      return a.expectItems(memberOf(body, "items"), members.INVESTOR);
    },
  },
  {
    id: "2 registered Investor",
    text: "The register response of an Investor has `engine`.",
    expected: "the members of a directory item",
    needs: ["simulator"],
    async check(world) {
      return a.expectMembers((await registered(world)).investor.body, members.INVESTOR);
    },
  },
  {
    id: "2 created Investor",
    text: "The create response has `id`, `mt5_login`, `name`, `created_at`, `password`, `investor_password`.",
    expected: "these members",
    async check(world) {
      return a.expectMembers((await accounts(world)).investor.answer.body, members.CREATED_INVESTOR);
    },
  },
  {
    id: "2 sensitive Investor",
    text: "The sensitive lookup of an Investor has six members with both platform passwords.",
    expected: "these members",
    async check(world) {
      const { login } = (await accounts(world)).investor;
      return a.expectMembers((await world.get(`/info/investor/${login}`)).body, members.SENSITIVE_INVESTOR);
    },
  },
  {
    id: "2 subscription of assign",
    text: "The assign response has the nine members of a subscription with both internal ids.",
    expected: "these members",
    needs: ["money"],
    check: async (world) => a.expectMembers((await life(world)).assigned.body, members.ASSIGNED),
  },
  {
    id: "2 subscription of lists",
    text: "Lists and the unassign response have `master_login` and `investor_login`.",
    expected: "seven members in both",
    needs: ["money"],
    async check(world) {
      const { active, unassigned } = await life(world);
      a.expectMembers(memberOf(unassigned.body, "subscription"), members.SUBSCRIPTION);
      return a.expectItems(active.body, members.SUBSCRIPTION);
    },
  },
  {
    id: "2 ended_at",
    text: "`ended_at` is null until cancelled.",
    expected: "null while ACTIVE, a timestamp when CANCELLED",
    needs: ["money"],
    async check(world) {
      const { active, cancelled } = await life(world);
      a.expectItems(active.body, { ...members.SUBSCRIPTION, ended_at: a.nothing });
      return a.expectItems(cancelled.body, { ...members.SUBSCRIPTION, ended_at: a.timestamp });
    },
  },
  {
    id: "2 in_pool",
    text: "`in_pool` is true while the Investor's capital is in the Master pool.",
    expected: "true while ACTIVE, false when CANCELLED",
    needs: ["money"],
    async check(world) {
      const { active, cancelled } = await life(world);
      a.expectItems(active.body, { ...members.SUBSCRIPTION, in_pool: a.exactly(true) });
      return a.expectItems(cancelled.body, { ...members.SUBSCRIPTION, in_pool: a.exactly(false) });
    },
  },
];
