import { isObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, minorOf, platformBalanceOf } from "../../journey/support/client.ts";
import type { AccountBooks } from "../checks/violations.ts";
import { inParallel } from "../system/accounts.ts";

type Balance = (login: string) => Promise<bigint | undefined>;

/** Books of accounts as the simulator shows them, with the balance that `reported` reads. */
export async function platformBooks(
  client: Pick<Client, "control">,
  logins: readonly string[],
  reported: Balance,
): Promise<AccountBooks[]> {
  return await inParallel(logins.length, async (index) => {
    const login = logins[index] ?? "";
    const [deals, platformMinor, reportedMinor] = await Promise.all([
      dealsOf(client as Client, login),
      platformBalanceOf(client as Client, login),
      reported(login),
    ]);
    return { login, deals, platformMinor, reportedMinor };
  });
}

/** The balance that the service reports. */
export async function reportedBalance({ get }: Client, login: string): Promise<bigint | undefined> {
  const { body, text } = await get(`/api/v1/info/balance/${login}`);
  if (!isObject(body) || body["ok"] !== true) throw new Error(`the balance of ${login} cannot be read: ${text}`);
  return minorOf(textOf(body, "balance"));
}
