import { expect, test } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, json, platformBalanceOf, type Reply, eventually } from "../support/client.ts";
import {
  expectDone,
  existingAccount,
  INVESTOR_GROUP,
  MASTER_GROUP,
  personalFields,
} from "../support/client-requests.ts";

const TIMEOUT = { timeout: 180_000 };

/** Sends commands with a key each, and keeps their answers. */
function recorder({ send }: Client) {
  const answered: { readonly path: string; readonly reply: Reply; readonly repeat: () => Promise<Reply> }[] = [];
  return {
    answered,
    async send(path: string, body?: object, method = "POST"): Promise<Reply> {
      const { headers = {}, ...rest } = body === undefined ? {} : json(body);
      const key = `again-${answered.length}`;
      const repeat = () =>
        send(`/api/v1/${path}`, { method, headers: { ...headers, "idempotency-key": key }, ...rest });
      const reply = await expectDone(repeat());
      answered.push({ path, reply, repeat });
      return reply;
    },
  };
}

const visible = ({ status, text, headers }: Reply) => [status, text, headers.get("x-operation-id")];

/** These commands move no money: a repeated one returns the current state of its Master. */
const ABOUT_A_MASTER = /^master\/(add|\d+)$/;

async function listedMaster(client: Client, id: string): Promise<JsonObject | undefined> {
  const { body } = await client.get("/api/v1/master/directory?engine=PAMM&limit=100");
  return itemsOf(body["items"]).find((item) => textOf(item, "id") === id);
}

/** On the whole system, a command that is repeated after other changes is executed once. */
export function commandsAgain(client: () => Client): void {
  test(
    "every command repeated under its key gets the same answer, or the current state of its Master",
    TIMEOUT,
    async () => {
      const commands = recorder(client());
      const [trading, payment, found] = await Promise.all([1, 2, 3].map(() => existingAccount(client())));
      const added = await commands.send("master/add", {
        mt5_login: trading,
        payment_account_login: payment,
        min_deposit: "5",
      });
      await commands.send("investor/add", { mt5_login: found, name: "Found" });
      const master = await commands.send("master/create", {
        ...personalFields("Maya"),
        min_deposit: "0",
        platform_group: MASTER_GROUP,
      });
      const investor = await commands.send("investor/create", {
        ...personalFields("Ines"),
        platform_group: INVESTOR_GROUP,
      });
      const [masterLogin, login] = [textOf(master.body, "mt5_login"), textOf(investor.body, "mt5_login")];
      await commands.send(`investor/deposit?login=${login}&amount=500&comment=again`);
      const perfFee = { rate: 0.2, enabled: true };
      await commands.send("investor/assign", { master_login: masterLogin, investor_login: login, perf_fee: perfFee });
      await eventually(async () => expect(await platformBalanceOf(client(), masterLogin)).toBe(500_00n));
      await commands.send(`master/${textOf(master.body, "id")}`, { strategy_name: "First" }, "PATCH");
      await commands.send("investor/perf-fee/update", { investor_login: login, rate: 0.25 });
      await commands.send(`investor/withdraw?login=${login}&amount=20.50`);
      await commands.send(`subscriptions/unassign?master_login=${masterLogin}&investor_login=${login}`);

      for (const { body } of [added, master]) {
        const change = { name: "Other", strategy_name: "Other", strategy: "Other", min_deposit: 7 };
        const path = `/api/v1/master/${textOf(body, "id")}`;
        await expectDone(client().send(path, { method: "PATCH", ...json(change) }));
      }
      await expectDone(client().post("/api/v1/investor/perf-fee/update", { investor_login: login, rate: 0.5 }));
      const left = await client().get(`/api/v1/info/subscriptions?investor_login=${login}&wait=30`);
      expect(left.items).toMatchObject([{ status: "CANCELLED" }]);
      const deals = await dealsOf(client(), login);
      expect(deals.map(({ minor }) => minor)).toEqual([500_00n, -20_50n]);

      for (const { path, reply, repeat } of commands.answered) {
        const again = await repeat();
        if (ABOUT_A_MASTER.test(path)) {
          expect(again.headers.get("x-operation-id"), path).toBe(reply.headers.get("x-operation-id"));
          expect(again.body, path).toMatchObject({ name: "Other", strategy_name: "Other", strategy: "Other" });
          expect(again.body, path).toEqual(await listedMaster(client(), textOf(reply.body, "id")));
        } else expect(visible(again), path).toEqual(visible(reply));
        expect(again.headers.get("idempotency-replayed"), path).toBe("true");
      }
      expect(await dealsOf(client(), login)).toEqual(deals);
    },
  );
}
