import * as a from "../expect.ts";
import { memberOf } from "../http.ts";
import type { Section } from "../run-kit.ts";
import { hold, NotTested } from "../outcome.ts";

/** Sections 8 and 9: limits that no other section shows, versioning. */
export const LIMITS_AND_VERSIONS: Section = [
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
    id: "9 prefix",
    text: "All routes carry the path prefix `/api/v1`.",
    expected: "404 without it, and with another version",
    async check({ as }) {
      const paths = ["/master/directory", "/investor/directory", "/info/subscriptions", "/api/v2/master/directory"];
      return a.expectStatus(404, ...(await Promise.all(paths.map((path) => as(undefined)("GET", path)))));
    },
  },
];
