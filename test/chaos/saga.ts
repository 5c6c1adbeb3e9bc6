import { expect } from "vitest";
import { textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf, platformBalanceOf } from "../journey/support/client.ts";
import { INVESTOR_GROUP, MASTER_GROUP, person } from "../journey/support/people.ts";
import { bookResult } from "../journey/support/trading.ts";
import { insist } from "./insist.ts";

/** The longest that anything takes that a process left half done: absence is proven, and it is tried again. */
const SETTLED_MS = 90_000;

/**
 * One Investor is the whole pool of a Master: it brings 1,000.00 and 200.00 more, earns 100.00, takes 150.00, for which
 * 30 % of the profit are due, and leaves. Every kind of movement is made, and whoever dies meanwhile, these are all the
 * deals that there are in the end.
 */
export async function liveThrough(client: Client): Promise<void> {
  const { master, payment, investor } = await accounts(client);
  await insist(client, depositOf(investor, "1000"));
  const perfFee = { rate: 0.3, enabled: true };
  await insist(client, "/api/v1/investor/assign", {
    master_login: master,
    investor_login: investor,
    perf_fee: perfFee,
  });
  await untilBalance(client, master, "1000");
  await bookResult(client, master, "100");
  await untilBalance(client, investor, "1100");
  await insist(client, depositOf(investor, "200"));
  await untilBalance(client, master, "1300");

  // A first payout that was proven absent leaves its fee taken, so that the next has none to name.
  await insist(client, `/api/v1/investor/withdraw?login=${investor}&amount=150&comment=out`);
  await insist(client, `/api/v1/subscriptions/unassign?master_login=${master}&investor_login=${investor}`);

  await eventually(async () => {
    const { items } = await client.get(`/api/v1/info/subscriptions?investor_login=${investor}`);
    expect(textOf(items[0] ?? {}, "status")).toBe("CANCELLED");
    expect(await amountsOf(client, investor)).toEqual(["-150", "-30", "100", "200", "1000"].map(minorOf));
    expect(await amountsOf(client, payment)).toEqual([30_00n]);
    expect(await platformBalanceOf(client, master)).toBe(0n);
  }, SETTLED_MS);
}

async function accounts(client: Client) {
  const orders = [
    { path: "/api/v1/master/create", body: { ...person("Maya"), min_deposit: "0", platform_group: MASTER_GROUP } },
    { path: "/api/v1/investor/create", body: { ...person("Ines"), platform_group: INVESTOR_GROUP } },
  ];
  const [master, investor] = await Promise.all(orders.map(({ path, body }) => insist(client, path, body)));
  const of = (name: string): string => textOf(master?.body ?? {}, name);
  return {
    master: of("mt5_login"),
    payment: of("payment_account_login"),
    investor: textOf(investor?.body ?? {}, "mt5_login"),
  };
}

function depositOf(login: string, amount: string): string {
  return `/api/v1/investor/deposit?login=${login}&amount=${amount}&comment=in-${amount}`;
}

async function untilBalance(client: Client, login: string, amount: string): Promise<void> {
  await eventually(async () => expect(await platformBalanceOf(client, login)).toBe(minorOf(amount)), SETTLED_MS);
}

async function amountsOf(client: Client, login: string): Promise<bigint[]> {
  const deals = await dealsOf(client, login);
  return deals.map(({ minor }) => minor).toSorted((left, right) => Number(left - right));
}
