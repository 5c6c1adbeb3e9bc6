import { setTimeout as sleep } from "node:timers/promises";
import { centsOf, expectOk, show, textOf, valueOf } from "./expect.ts";
import { type Answer, type Json, memberOf, type Send, sender } from "./http.ts";
import { Differs, type Need, NotTested } from "./outcome.ts";

export type Settings = {
  /** Address of the deployment, without `/api/v1`. */
  readonly url: string;
  readonly key: string;
  /** Address of the simulator's control API. */
  readonly simulator?: string | undefined;
  /** Moves money also where the key is not one for tests. */
  readonly allowMoney?: boolean;
  /** Length of a fee week, when the run may wait for the end of one. */
  readonly weekSeconds?: number | undefined;
  readonly masterGroup?: string | undefined;
  readonly investorGroup?: string | undefined;
  /** A test that alters answers. */
  readonly fetch?: typeof fetch;
};

export type NewMaster = {
  readonly id: string;
  readonly login: string;
  readonly payment: string;
  readonly answer: Answer;
};

/** The deployment under test, with accounts that the kit has made for itself. */
export type World = {
  readonly get: (path: string) => Promise<Answer>;
  readonly post: (path: string, body?: object) => Promise<Answer>;
  readonly patch: (path: string, body: object) => Promise<Answer>;
  /** As a caller with another key, or with none. */
  readonly as: (key: string | undefined) => Send;
  readonly control: (path: string, body: object) => Promise<Json | undefined>;
  readonly has: (need: Need) => boolean;
  readonly weekSeconds: number;
  readonly newMaster: (minDeposit?: string) => Promise<NewMaster>;
  /** With this balance, if any. */
  readonly newInvestor: (balance?: string) => Promise<{ readonly login: string; readonly answer: Answer }>;
  /** An account that the service did not create. */
  readonly existingAccount: () => Promise<string>;
  /** Made once, for all sentences that only look at it. */
  readonly once: <T>(name: string, make: () => Promise<T>) => Promise<T>;
};

const API = "/api/v1";
const POLL_MS = 200;
const WITHIN_MS = 40_000;

export async function openWorld(settings: Settings): Promise<World> {
  const { url, key, simulator, masterGroup = "pamm\\master", investorGroup = "pamm\\investor" } = settings;
  const fetch = settings.fetch ?? globalThis.fetch;
  const base = url.replace(/\/+$/, "");
  const send = sender(base + API, key, fetch);
  const made = new Map<string, Promise<unknown>>();
  const needs: Readonly<Record<Need, boolean>> = {
    money: settings.allowMoney === true || (await isTestKey(send)),
    simulator: simulator !== undefined,
    week: settings.weekSeconds !== undefined,
  };
  const person = (name: string, platformGroup: string) => ({
    first_name: name,
    last_name: "Conformance",
    name: `${name} Conformance`,
    username: `${name.toLowerCase()}@example.com`,
    platform_group: platformGroup,
  });
  const world: World = {
    get: (path) => send("GET", path),
    post: (path, body) => send("POST", path, body),
    patch: (path, body) => send("PATCH", path, body),
    as: (other) => sender(base, other, fetch),
    has: (need) => needs[need],
    weekSeconds: settings.weekSeconds ?? 0,
    async control(path, body) {
      const control = sender(`${simulator ?? ""}/control/`, undefined, globalThis.fetch);
      const answer = await control("POST", path, body);
      if (answer.status !== 200) throw new Error(`the simulator refused ${path}: ${answer.status}`);
      return answer.body;
    },
    async newMaster(minDeposit = "0") {
      const answer = await world.post("/master/create", { ...person("Maya", masterGroup), min_deposit: minDeposit });
      expectOk(answer);
      const [id, login, payment] = ["id", "mt5_login", "payment_account_login"].map((name) =>
        textOf(answer.body, name),
      );
      return { id: id ?? "", login: login ?? "", payment: payment ?? "", answer };
    },
    async newInvestor(balance) {
      const answer = await world.post("/investor/create", person("Ines", investorGroup));
      expectOk(answer);
      const login = textOf(answer.body, "mt5_login");
      if (balance !== undefined) expectOk(await world.post(`/investor/deposit?login=${login}&amount=${balance}`));
      return { login, answer };
    },
    async existingAccount() {
      const account = await world.control("accounts", { group: "demo\\forex", name: "Found", balance: "0" });
      return textOf(account, "login");
    },
    once<T>(name: string, make: () => Promise<T>): Promise<T> {
      const known = made.get(name) ?? make();
      made.set(name, known);
      return known as Promise<T>;
    },
  };
  return world;
}

/** Keys of a system that moves no real money say so. */
async function isTestKey(send: Send): Promise<boolean> {
  return memberOf((await send("GET", "/whoami")).body, "environment") === "test";
}

/** Repeats a check until it passes, for effects that become visible later; the last difference is the result. */
export async function eventually<T>(check: () => Promise<T>, withinMs = WITHIN_MS): Promise<T> {
  for (const until = Date.now() + withinMs; ; await sleep(POLL_MS)) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof Differs) || Date.now() > until) throw error;
    }
  }
}

export async function expectBalance({ get }: World, login: string, cents: number): Promise<string> {
  return await eventually(async () => {
    const { body } = await get(`/info/balance/${login}`);
    if (valueOf(body, "ok") !== true || centsOf(body, "balance") !== cents) {
      throw new Differs(`balance ${show(memberOf(body, "balance"))} and not ${cents / 100}`);
    }
    return `balance ${cents / 100}`;
  });
}

export function requireNeeds({ has }: World, needs: readonly Need[]): void {
  const reasons: Readonly<Record<Need, string>> = {
    money: "needs money to be moved: a test key, or --allow-money",
    simulator: "needs the control API of the simulator: SIMULATOR=<url>",
    week: "needs a short fee week: WEEK=<seconds>",
  };
  const missing = needs.filter((need) => !has(need));
  if (missing.length > 0) throw new NotTested(missing.map((need) => reasons[need]).join("; "));
}
