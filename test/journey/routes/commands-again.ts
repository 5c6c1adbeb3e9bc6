import { expect, test } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, json, platformBalanceOf, type Reply, eventually } from "../support/client.ts";
import { expectDone, foundAccount, INVESTOR_GROUP, MASTER_GROUP, person } from "../support/people.ts";

const TIMEOUT = { timeout: 90_000 };

/** Commands with a key each, and what they were answered. */
function diary({ ask }: Client) {
  const told: { readonly path: string; readonly reply: Reply; readonly send: () => Promise<Reply> }[] = [];
  return {
    told,
    async give(path: string, body?: object, method = "POST"): Promise<Reply> {
      const { headers = {}, ...rest } = body === undefined ? {} : json(body);
      const key = `again-${told.length}`;
      const send = () => ask(`/api/v1/${path}`, { method, headers: { ...headers, "idempotency-key": key }, ...rest });
      const reply = await expectDone(send());
      told.push({ path, reply, send });
      return reply;
    },
  };
}

const seen = ({ status, text, headers }: Reply) => [status, text, headers.get("x-operation-id")];

/** They move no money: sent again, they show what has become of their Master. */
const ABOUT_A_MASTER = /^master\/(add|\d+)$/;

async function listedMaster(client: Client, id: string): Promise<JsonObject | undefined> {
  const { body } = await client.get("/api/v1/master/directory?engine=PAMM&limit=100");
  return itemsOf(body["items"]).find((item) => textOf(item, "id") === id);
}

/** On the whole system: whatever has happened since, a command that is sent again is carried out once. */
export function commandsAgain(client: () => Client): void {
  test(
    "every command that is sent again under its key is answered to the letter as the first time, or with the current state",
    TIMEOUT,
    async () => {
      const our = diary(client());
      const [trading, payment, found] = await Promise.all([1, 2, 3].map(() => foundAccount(client())));
      const added = await our.give("master/add", {
        mt5_login: trading,
        payment_account_login: payment,
        min_deposit: "5",
      });
      await our.give("investor/add", { mt5_login: found, name: "Found" });
      const master = await our.give("master/create", {
        ...person("Maya"),
        min_deposit: "0",
        platform_group: MASTER_GROUP,
      });
      const investor = await our.give("investor/create", { ...person("Ines"), platform_group: INVESTOR_GROUP });
      const [masterLogin, login] = [textOf(master.body, "mt5_login"), textOf(investor.body, "mt5_login")];
      await our.give(`investor/deposit?login=${login}&amount=500&comment=again`);
      const perfFee = { rate: 0.2, enabled: true };
      await our.give("investor/assign", { master_login: masterLogin, investor_login: login, perf_fee: perfFee });
      await eventually(async () => expect(await platformBalanceOf(client(), masterLogin)).toBe(500_00n));
      await our.give(`master/${textOf(master.body, "id")}`, { strategy_name: "First" }, "PATCH");
      await our.give("investor/perf-fee/update", { investor_login: login, rate: 0.25 });
      await our.give(`investor/withdraw?login=${login}&amount=20.50`);
      await our.give(`subscriptions/unassign?master_login=${masterLogin}&investor_login=${login}`);

      for (const { body } of [added, master]) {
        const change = { name: "Other", strategy_name: "Other", strategy: "Other", min_deposit: 7 };
        const path = `/api/v1/master/${textOf(body, "id")}`;
        await expectDone(client().ask(path, { method: "PATCH", ...json(change) }));
      }
      await expectDone(client().post("/api/v1/investor/perf-fee/update", { investor_login: login, rate: 0.5 }));
      const left = await client().get(`/api/v1/info/subscriptions?investor_login=${login}&wait=30`);
      expect(left.items).toMatchObject([{ status: "CANCELLED" }]);
      const deals = await dealsOf(client(), login);
      expect(deals.map(({ minor }) => minor)).toEqual([500_00n, -20_50n]);

      for (const { path, reply, send } of our.told) {
        const again = await send();
        if (ABOUT_A_MASTER.test(path)) {
          expect(again.headers.get("x-operation-id"), path).toBe(reply.headers.get("x-operation-id"));
          expect(again.body, path).toMatchObject({ name: "Other", strategy_name: "Other", strategy: "Other" });
          expect(again.body, path).toEqual(await listedMaster(client(), textOf(reply.body, "id")));
        } else expect(seen(again), path).toEqual(seen(reply));
        expect(again.headers.get("idempotency-replayed"), path).toBe("true");
      }
      expect(await dealsOf(client(), login)).toEqual(deals);
    },
  );
}
