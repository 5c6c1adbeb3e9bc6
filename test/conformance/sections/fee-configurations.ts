import * as a from "../expect.ts";
import * as members from "../members.ts";
import type { Section } from "../run-kit.ts";
import { hold } from "../outcome.ts";
import { accounts, fees } from "../histories.ts";
import type { World } from "../world.ts";

/** The clocks of two machines differ. */
const NOW_MS = 60_000;

/** Section 4.5: fee configurations. */
export const FEE_COMMANDS: Section = [
  {
    id: "4.5 get",
    text: "GET /investor/{investor_login}/performance-fee: the fee configuration.",
    expected: "seven members",
    async check(world) {
      const { login } = await configured(world);
      return a.expectMembers((await world.get(`/investor/${login}/performance-fee`)).body, members.FEE_CONFIGURATION);
    },
  },
  {
    id: "4.5 get unknown",
    text: "404 when the Investor does not exist or has no configuration.",
    expected: "404 twice",
    async check(world) {
      const { login } = (await accounts(world)).investor;
      const paths = [login, "990006"].map((each) => world.get(`/investor/${each}/performance-fee`));
      return a.expectStatus(404, ...(await Promise.all(paths)));
    },
  },
  {
    id: "4.5 update",
    text: "POST /investor/perf-fee/update: `rate` and `enabled` are optional; the response is the configuration.",
    expected: "each changes alone",
    async check(world) {
      const { update } = await configured(world);
      const one = await update({ rate: 0.25 });
      const two = await update({ enabled: false });
      a.expectMembers(one.body, {
        ...members.FEE_CONFIGURATION,
        rate: a.exactly("0.250000"),
        enabled: a.exactly(true),
      });
      return a.expectMembers(two.body, {
        ...members.FEE_CONFIGURATION,
        rate: a.exactly("0.250000"),
        enabled: a.exactly(false),
      });
    },
  },
  {
    id: "4.5 update required",
    text: "`investor_login` is required.",
    expected: "refused without it",
    check: async ({ post }) => a.expectRefused(await post("/investor/perf-fee/update", { rate: 0.3 })),
  },
  {
    id: "4.5 update now",
    text: "`effective_since`: the current time is used when a new configuration omits it.",
    expected: "the time of the request",
    async check(world) {
      const { first } = await configured(world);
      const since = a.textOf(first.body, "effective_since");
      hold(Math.abs(Date.parse(`${since}Z`) - Date.now()) < NOW_MS, since);
      return since;
    },
  },
  {
    id: "4.5 update since",
    text: "`effective_since` is an ISO 8601 datetime, the start of validity.",
    expected: "a later start is returned as sent, and is not in force yet",
    async check(world) {
      const { login, update } = await configured(world);
      const answer = await update({ rate: 0.4, effective_since: "2099-01-02T03:04:05Z" });
      const since = a.textOf(answer.body, "effective_since");
      hold(since.startsWith("2099-01-02T03:04:05"), since);
      const inForce = a.textOf((await world.get(`/investor/${login}/performance-fee`)).body, "rate");
      hold(inForce === "0.300000", inForce);
      return `${since}; ${inForce} in force`;
    },
  },
  {
    id: "4.5 upsert",
    text: "`upsert` is true by default.",
    expected: "a configuration is made without it, and not with false",
    async check(world) {
      const { login } = await world.newInvestor();
      const update = (more: object) =>
        world.post("/investor/perf-fee/update", { investor_login: login, rate: 0.3, ...more });
      const refused = a.expectRefused(await update({ upsert: false }));
      return `${refused}, ${a.expectOk(await update({}))}`;
    },
  },
  {
    id: "4.5 update and executed fees",
    text: "An update does not reset the HWM or change executed fees.",
    expected: "the payments are the same after it",
    needs: ["money", "simulator"],
    async check(world) {
      const { investor, master, payments } = await fees(world);
      a.expectOk(await world.post("/investor/perf-fee/update", { investor_login: investor, rate: 0.9 }));
      const after = await world.get(`/perf-fee/master/${master.login}/investor-payments`);
      hold(a.show(after.body) === a.show(payments.body), a.show(after.body));
      return "the same";
    },
  },
];

/** An Investor with a configuration of 0.3, and updates of it. */
async function configured(world: World) {
  const { login } = await world.newInvestor();
  const update = (more: object) => world.post("/investor/perf-fee/update", { investor_login: login, ...more });
  const first = await update({ rate: 0.3 });
  a.expectOk(first);
  return { login, update, first };
}
