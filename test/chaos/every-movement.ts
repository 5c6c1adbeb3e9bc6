import { expect } from "vitest";
import { textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf, platformBalanceOf } from "../journey/support/client.ts";
import { INVESTOR_GROUP, MASTER_GROUP, personalFields } from "../journey/support/client-requests.ts";
import { bookResult } from "../journey/support/trading.ts";
import { repeatUntilDone } from "./repeat-until-done.ts";

/** The longest recovery: the absence of a deal is proven, and the transfer is sent again. */
const SETTLED_MS = 90_000;

/**
 * The only Investor of a pool deposits 1,000.00 and 200.00, earns 100.00, withdraws 150.00, which takes a fee of 30 % of the
 * profit, and leaves. This makes every kind of movement. The accounts have exactly these deals at the end, whichever process
 * was killed.
 */
export async function makeEveryMovement(client: Client): Promise<void> {
  const { master, payment, investor } = await accounts(client);
  await repeatUntilDone(client, depositOf(investor, "1000"));
  const perfFee = { rate: 0.3, enabled: true };
  await repeatUntilDone(client, "/api/v1/investor/assign", {
    master_login: master,
    investor_login: investor,
    perf_fee: perfFee,
  });
  await untilBalance(client, master, "1000");
  await bookResult(client, master, "100");
  await untilBalance(client, investor, "1100");
  await repeatUntilDone(client, depositOf(investor, "200"));
  await untilBalance(client, master, "1300");

  // When the first payout is proven absent, its fee stays collected, and the repeated withdrawal reports no fee.
  await repeatUntilDone(client, `/api/v1/investor/withdraw?login=${investor}&amount=150&comment=out`);
  await repeatUntilDone(client, `/api/v1/subscriptions/unassign?master_login=${master}&investor_login=${investor}`);

  await eventually(async () => {
    const { items } = await client.get(`/api/v1/info/subscriptions?investor_login=${investor}`);
    expect(textOf(items[0] ?? {}, "status")).toBe("CANCELLED");
    expect(await amountsOf(client, investor)).toEqual(["-150", "-30", "100", "200", "1000"].map(minorOf));
    expect(await amountsOf(client, payment)).toEqual([30_00n]);
    expect(await platformBalanceOf(client, master)).toBe(0n);
  }, SETTLED_MS);
}

async function accounts(client: Client) {
  const requests = [
    {
      path: "/api/v1/master/create",
      body: { ...personalFields("Maya"), min_deposit: "0", platform_group: MASTER_GROUP },
    },
    { path: "/api/v1/investor/create", body: { ...personalFields("Ines"), platform_group: INVESTOR_GROUP } },
  ];
  const [master, investor] = await Promise.all(requests.map(({ path, body }) => repeatUntilDone(client, path, body)));
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
