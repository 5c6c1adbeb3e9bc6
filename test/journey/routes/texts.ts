import { expect, test } from "vitest";
import { itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, json, type Reply, untilKnown } from "../support/client.ts";
import {
  assign,
  deposit,
  expectDone,
  INVESTOR_GROUP,
  MASTER_GROUP,
  newInvestor,
  newMaster,
} from "../support/client-requests.ts";

/** Texts, lists and times, through all services. */
export function textsAndTimes(client: () => Client): void {
  const create = (role: "investor" | "master", fields: object): Promise<Reply> =>
    untilKnown(client()).post(`/api/v1/${role}/create`, {
      first_name: "Ivy",
      last_name: "O'Brien-Łuk",
      platform_group: role === "master" ? MASTER_GROUP : INVESTOR_GROUP,
      ...fields,
    });
  const search = async (query: string) => {
    const { body, text, status } = await client().get(`/api/v1/investors?${query}`);
    expect(status, text).toBe(200);
    const names = itemsOf(body["items"] ?? null).map((item) => textOf(item, "name"));
    return { names, next: body["next_cursor"] };
  };

  test("an address with a plus, a decomposed name and a description with lines come back as they mean", async () => {
    const username = "ivy+mt5@example.com";
    const strategy = "one\r\n\r\ntwo\rthree";
    const name = "De\u0301po\u0302t";
    const master = await expectDone(create("master", { name, username, strategy, min_deposit: "0" }));
    await expectDone(create("investor", { name, username }));

    const { body } = await client().get(`/api/v1/master/${textOf(master.body, "id")}/profile`);
    expect(body).toMatchObject({ name: "Dépôt", email: username, strategy: "one\n\ntwo\nthree" });
    for (const spelling of [name, "Dépôt", "DÉPÔT"]) {
      expect(await search(`name=${encodeURIComponent(spelling)}`)).toEqual({ names: ["Dépôt"], next: null });
    }
    expect((await search(`email=${encodeURIComponent(username)}&cursor=&limit=`)).names).toEqual(["Dépôt"]);
    expect(await client().get(`/api/v1/investors?email=${username}`)).toMatchObject({ status: 422 });
  });

  test("a comment is one in both spellings, stored in full, and in ASCII letters at the deal", async () => {
    const login = await newInvestor(client());
    for (const comment of ["De\u0301po\u0302t-№7", "Dépôt-№7"]) {
      await expectDone(deposit(client(), login, "5", encodeURIComponent(comment)));
    }
    for (const comment of ["De\u0301po\u0302t-№7", "Dépôt-№7"]) {
      const { body } = await client().get(`/api/v1/operations?login=${login}&comment=${encodeURIComponent(comment)}`);
      const found = itemsOf(body["items"] ?? null);
      expect(found).toMatchObject([{ comment: "Dépôt-№7" }, { comment: "Dépôt-№7" }]);
    }
    const deals = await dealsOf(client(), login);
    expect(deals.map(({ comment }) => comment.slice(14))).toEqual([" Depot-No7", " Depot-No7"]);
  });

  test("an account that is renamed between two pages comes once, and so does every other one", async () => {
    const ids: string[] = [];
    for (const number of [1, 2, 3, 4, 5]) {
      const made = await expectDone(create("investor", { name: `Pag A${number}`, username: "pag@example.com" }));
      ids.push(String(textOf(made.body, "id")));
    }
    const first = await search("email=pag%40example.com&limit=1");
    const renamed = await client().send(`/api/v1/investor/${ids[0]}`, { method: "PATCH", ...json({ name: "Pag Z" }) });
    expect(renamed.status).toBe(200);

    const seen = [...first.names];
    for (let { next } = first; typeof next === "string";) {
      const page = await search(`email=pag%40example.com&limit=1&cursor=${next}`);
      seen.push(...page.names);
      next = page.next;
    }
    expect(seen).toEqual(["Pag A1", "Pag A2", "Pag A3", "Pag A4", "Pag A5"]);
  });

  test("the first and the last instant that are taken are no error of any service", async () => {
    const { login: master } = await newMaster(client());
    const investor = await newInvestor(client(), "100");
    await expectDone(assign(untilKnown(client()), master, investor));
    const [first, last] = ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"];
    const ends = [`from=${first}`, `to=${last}`, `from=${first}&to=${last}`, `from=${last}`];
    const years = ["from=1970-01-01T00:00:00Z&to=1970-12-31T00:00:00Z", `from=9999-01-01T00:00:00Z&to=${last}`];
    const paths = [
      ...[
        "subscriptions",
        "operations",
        `info/master/${master}/results`,
        `info/investor/${investor}/allocations`,
      ].flatMap((list) => ends.map((period) => `${list}?${period}`)),
      ...ends.map((period) => `investors?${period.replaceAll(/(from|to)=/g, "created_$1=")}`),
      `info/master/${master}/performance?from=1970-01-01&to=1970-12-31`,
      `info/master/${master}/performance?from=9999-01-01&to=9999-12-31`,
      ...years.map((period) => `info/investor/${investor}/statement?${period}`),
    ];
    for (const path of paths) {
      const { status, text } = await client().get(`/api/v1/${path}`);
      expect([path, status], text).toEqual([path, 200]);
    }
    for (const instant of [first, last]) {
      const update = { investor_login: investor, rate: 0.1, effective_since: instant };
      const { status, text } = await client().post("/api/v1/investor/perf-fee/update", update);
      expect([200, 422], text).toContain(status);
    }
  });
}
