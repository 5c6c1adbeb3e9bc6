import * as a from "../expect.ts";
import type { Section } from "../run-kit.ts";
import { hold } from "../outcome.ts";
import { accounts, life, newPool } from "../histories.ts";
import { expectBalance } from "../world.ts";

/** Sections 5 and 6: authentication, events. */
export const AUTHENTICATION_AND_EVENTS: Section = [
  {
    id: "5 key",
    text: "Every request carries `Authorization: Bearer <API_KEY>`.",
    expected: "401 without it and with another key, on every kind of route",
    async check({ as }) {
      const routes = [
        ["GET", "/master/directory?engine=PAMM"],
        ["GET", "/info/master/1"],
        ["GET", "/info/subscriptions"],
        ["POST", "/investor/deposit?login=1&amount=1"],
        ["POST", "/investor/perf-fee/update"],
        ["PATCH", "/master/1"],
      ] as const;
      const answers = routes.flatMap(([method, path]) =>
        [undefined, "no-key-of-this-service"].map((key) => as(key)(method, `/api/v1${path}`)),
      );
      a.expectStatus(401, ...(await Promise.all(answers)));
      return `${answers.length} times 401`;
    },
  },
  {
    id: "5 secrets",
    text: "Passwords are returned by create and sensitive-lookup routes only.",
    expected: "none in the directories and single reads",
    async check(world) {
      const { master } = await accounts(world);
      const paths = ["/master/directory?engine=PAMM", "/investor/directory?engine=PAMM", `/master/${master.id}`];
      const bodies = await Promise.all(paths.map(async (path) => (await world.get(path)).body));
      const text = JSON.stringify(bodies, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
      const passwords = ["password", "investor_password"].map((name) => a.textOf(master.answer.body, name));
      hold(!text.includes("password") && !passwords.some((password) => text.includes(password)), "a password");
      return "none";
    },
  },
  {
    id: "5 encrypt",
    text: "Passwords are encrypted if retained, and never logged.",
    reason: "not visible over HTTP; the tests of the services read logs and tables",
  },
  {
    id: "6 polling",
    text: "Delayed effects are observed by polling with a delay, a time-out and the last known state.",
    expected: "the subscription list, balances and the active Master show them",
    needs: ["money"],
    async check(world) {
      const { active, activeMaster, cancelled } = await life(world);
      return a.expectOk(active, activeMaster, cancelled);
    },
  },
  {
    id: "6 assign, deposit, withdraw",
    text: "Later effects: the initial balance, a deposit and a withdrawal are reflected in the Master.",
    expected: "10.00, 15.00, 13.00",
    needs: ["money"],
    async check(world) {
      const { master, investor } = await newPool(world, "10");
      a.expectOk(await world.post(`/investor/deposit?login=${investor}&amount=5`));
      await expectBalance(world, master.login, 15_00);
      const { body } = await world.post(`/investor/withdraw?login=${investor}&amount=2`);
      a.textOf(body, "mt5_deal_id");
      return await expectBalance(world, master.login, 13_00);
    },
  },
  {
    id: "6 unassign",
    text: "Unassign: the exit sync completes; state CANCELLED.",
    expected: "CANCELLED, and the Investor has the money",
    needs: ["money"],
    async check(world) {
      const { cancelled, investor } = await life(world);
      const [item] = a.itemsOf(cancelled.body);
      return `${a.textOf(item, "status")}, ${await expectBalance(world, investor, 1_200_25)}`;
    },
  },
];
