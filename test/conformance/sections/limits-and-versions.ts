import * as a from "../expect.ts";
import { memberOf } from "../http.ts";
import type { Section } from "../run-kit.ts";
import { hold, NotTested } from "../outcome.ts";
import { accounts } from "../histories.ts";
import type { World } from "../world.ts";

/** Sections 8 and 9: limits, versioning. */
export const LIMITS_AND_VERSIONS: Section = [
  {
    id: "8 directories",
    text: "`limit` of the directories is 1 to 100.",
    expected: "200 for 1 and 100, refused for 0 and 101",
    check: (world) => expectRange(world, ["/master/directory?engine=PAMM&", "/investor/directory?engine=PAMM&"], 100),
  },
  {
    id: "8 credits",
    text: "`limit` of /perf-fee/transactions is 1 to 100, default 5.",
    expected: "200 for 1 and 100, refused for 0 and 101",
    async check(world) {
      const { login } = (await accounts(world)).master;
      return await expectRange(world, [`/perf-fee/transactions?master_login=${login}&`], 100);
    },
  },
  {
    id: "8 credits default",
    text: "The default of `limit` of /perf-fee/transactions is 5, that of /investor-payments 100.",
    expected: "these defaults in the OpenAPI document",
    async check({ as }) {
      const { status, body } = await as(undefined)("GET", "/openapi.json");
      if (status === 404) throw new NotTested("needs a deployment with PAMM_SERVE_PAGES");
      const paths = ["/api/v1/perf-fee/transactions", "/api/v1/perf-fee/master/{master_login}/investor-payments"];
      const observed = paths.map((path) => {
        const parameters = memberOf(memberOf(memberOf(memberOf(body, "paths"), path), "get"), "parameters");
        const limit = a.itemsOf(parameters).find((parameter) => memberOf(parameter, "name") === "limit");
        return a.textOf(memberOf(limit, "schema"), "default");
      });
      hold(observed.join() === "5,100", observed.join(", "));
      return observed.join(", ");
    },
  },
  {
    id: "8 payments",
    text: "`limit` of /investor-payments is 1 to 500, default 100.",
    expected: "200 for 1 and 500, refused for 0 and 501",
    async check(world) {
      const { login } = (await accounts(world)).master;
      return await expectRange(world, [`/perf-fee/master/${login}/investor-payments?`], 500);
    },
  },
  {
    id: "8 amount",
    text: "`amount` has the minimum 0.01.",
    expected: "refused below, 200 for 0.01",
    needs: ["money"],
    async check(world) {
      const { login } = await world.newInvestor("1");
      const send = (action: string, amount: string) =>
        world.post(`/investor/${action}?login=${login}&amount=${amount}`);
      const below = a.expectRefused(await send("deposit", "0.00"), await send("withdraw", "0.009"));
      return `${below}; ${a.expectOk(await send("deposit", "0.01"), await send("withdraw", "0.01"))}`;
    },
  },
  {
    id: "8 rate",
    text: "`rate` is 0 to 1 inclusive.",
    expected: "200 for 0 and 1, refused beyond",
    async check(world) {
      const { login } = await world.newInvestor();
      const update = (rate: number) => world.post("/investor/perf-fee/update", { investor_login: login, rate });
      const inside = a.expectOk(await update(0), await update(1));
      return `${inside}; ${a.expectRefused(await update(-0.000001), await update(1.000001), await update(30))}`;
    },
  },
  {
    id: "8 leverage",
    text: "The default of `leverage` is 100.",
    reason: "no route returns the leverage of an account",
  },
  {
    id: "8 currency",
    text: "The default of `currency` is USD.",
    expected: "USD in the answer",
    needs: ["money"],
    async check(world) {
      const { login } = await world.newInvestor();
      const { body } = await world.post(`/investor/deposit?login=${login}&amount=1`);
      hold(a.textOf(body, "currency") === "USD", a.textOf(body, "currency"));
      return "USD";
    },
  },
  {
    id: "8 min_deposit",
    text: "`min_deposit` of a Master is expressed in USD.",
    expected: "100.50 as sent",
    async check(world) {
      const { login } = (await accounts(world)).master;
      const { body } = await world.get(`/info/master/${login}`);
      hold(a.centsOf(body, "min_deposit") === 100_50, a.textOf(body, "min_deposit"));
      return a.textOf(body, "min_deposit");
    },
  },
  {
    id: "9 prefix",
    text: "All routes carry the path prefix `/api/v1`.",
    expected: "404 without it, and with another version",
    async check({ as }) {
      const paths = ["/master/directory", "/investor/directory", "/info/subscriptions", "/api/v2/master/directory"];
      return a.expectStatus(404, ...(await Promise.all(paths.map((path) => as(undefined)("GET", path)))));
    },
  },
];

async function expectRange({ get }: World, paths: readonly string[], max: number): Promise<string> {
  const inside = paths.flatMap((path) => [get(`${path}limit=1`), get(`${path}limit=${max}`)]);
  const beyond = paths.flatMap((path) => [get(`${path}limit=0`), get(`${path}limit=${max + 1}`)]);
  return `${a.expectOk(...(await Promise.all(inside)))}; ${a.expectRefused(...(await Promise.all(beyond)))}`;
}
