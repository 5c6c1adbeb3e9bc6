import { expect } from "vitest";
import { isObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf, platformBalanceOf, untilKnown } from "./client.ts";
import { assign, expectDone, newInvestor, newMaster, type NewMaster } from "./client-requests.ts";

/** A tenth of a lot earns 100.00 when the price rises by 0.01. */
const VOLUME = "0.1";

/** Opens and closes a position with exactly this result. */
export async function bookResult({ control }: Client, login: string, profit: string): Promise<void> {
  await control("POST", "results", { login, profit });
}

export async function setPrice({ control }: Client, price: string): Promise<void> {
  await control("POST", "prices", { symbol: "EURUSD", bid: price, ask: price });
}

export async function openPosition({ control }: Client, login: string, volume = VOLUME): Promise<string> {
  const opened = await control("POST", "positions", { login, symbol: "EURUSD", side: "buy", volume });
  return textOf(isObject(opened) ? opened : {}, "position");
}

export async function closePosition({ control }: Client, position: string, volume?: string): Promise<void> {
  await control("POST", `positions/${position}/close`, volume === undefined ? {} : { volume });
}

/** Waits until these accounts have these balances on the platform. */
export async function expectBalances(
  client: Client,
  expected: Readonly<Record<string, string>>,
  withinMs?: number,
): Promise<void> {
  const logins = Object.keys(expected);
  await eventually(async () => {
    const balances = await Promise.all(logins.map((login) => platformBalanceOf(client, login)));
    const found = Object.fromEntries(logins.map((login, index) => [login, balances[index]]));
    expect(found).toEqual(Object.fromEntries(logins.map((login) => [login, minorOf(expected[login] ?? "")])));
  }, withinMs);
}

/** The deals of several accounts, to be compared before and after a refusal. */
export async function dealsOfAll(client: Client, logins: readonly string[]): Promise<unknown> {
  return await Promise.all(logins.map((login) => dealsOf(client, login)));
}

export type Pool = NewMaster & { readonly investors: readonly string[] };

/** A Master with Investors whose capital is mirrored, that of each one by a transfer of its own. */
export async function pooled(client: Client, capitals: readonly string[], rate = 0.3): Promise<Pool> {
  const master = await newMaster(client);
  const investors: string[] = [];
  let total = 0n;
  for (const capital of capitals) {
    const investor = await newInvestor(client, capital);
    await expectDone(assign(untilKnown(client), master.login, investor, rate));
    investors.push(investor);
    total += minorOf(capital);
    await eventually(async () => expect(await platformBalanceOf(client, master.login)).toBe(total));
  }
  return { ...master, investors };
}
