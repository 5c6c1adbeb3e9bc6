import { expect } from "vitest";
import { type Client, dealsOf, eventually, platformBalanceOf, untilKnown } from "../journey/support/client.ts";
import { assign, deposit, expectDone, newInvestor, withdraw } from "../journey/support/client-requests.ts";
import { expectNothingOpen } from "../journey/support/proof.ts";
import { bookResult, dealsOfAll, expectBalances, pooled } from "../journey/support/trading.ts";

/** A pool that trades while the commits are made that a restore loses. */
export type TradingPool = {
  readonly login: string;
  /** A deposit, an assign, a result, a withdrawal with its fee, and another result: one deposit and one withdrawal. */
  readonly trade: () => Promise<void>;
  /** The caller repeats the lost assign. */
  readonly assignAgain: () => Promise<void>;
  /** After that: no result that was posted is divided again, and no fee is taken twice. */
  readonly expectKept: () => Promise<void>;
};

export async function newTradingPool(client: Client): Promise<TradingPool> {
  const sure = untilKnown(client);
  const { login: master, paymentLogin, investors } = await pooled(client, ["300.00", "300.00"], 0.3);
  const [ann, ben] = investors as [string, string];
  const cat = await newInvestor(client, "300.00");
  const accounts = [ann, ben, cat, paymentLogin];
  let before: unknown;
  return {
    login: master,
    async trade() {
      await expectDone(deposit(sure, ann, "300.00", "lost"));
      await expectBalances(client, { [master]: "900.00" });
      await expectDone(assign(sure, master, cat, 0.3));
      await expectBalances(client, { [master]: "1200.00" });
      await bookResult(client, master, "120.00");
      await expectBalances(client, { [ann]: "660.00", [ben]: "330.00", [cat]: "330.00" });
      // With its fee of 9.00.
      await expectDone(withdraw(sure, ben, "31.00"));
      await expectBalances(client, { [ben]: "290.00", [paymentLogin]: "9.00", [master]: "1280.00" });
      await bookResult(client, master, "128.00");
      await expectBalances(client, { [ann]: "726.00", [ben]: "319.00", [cat]: "363.00" });
      before = await dealsOfAll(client, accounts);
    },
    async assignAgain() {
      await eventually(() => expectDone(assign(sure, master, cat, 0.3)));
    },
    async expectKept() {
      await expectNothingOpen(client, master);
      expect(await dealsOfAll(client, accounts)).toEqual(before);
      expect(await platformBalanceOf(client, master)).toBe(1_408_00n);

      // 30 % of the 66.00 and 29.00 that no fee was taken of yet.
      await expectDone(withdraw(sure, ann, "10.00"));
      await expectDone(withdraw(sure, ben, "10.00"));
      await expectBalances(client, { [ann]: "678.20", [ben]: "300.30", [paymentLogin]: "55.50" });
      expect(await feesOf(client, ben)).toEqual([-9_00n, -8_70n]);
      await expectNothingOpen(client, master);
    },
  };
}

async function feesOf(client: Client, login: string): Promise<bigint[]> {
  return (await dealsOf(client, login)).filter(({ comment }) => comment.startsWith("PF")).map(({ minor }) => minor);
}
