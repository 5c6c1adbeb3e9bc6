import { expect } from "vitest";
import { isObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, type Reply, untilKnown } from "./client.ts";

export const MASTER_GROUP = "pamm\\master";
export const INVESTOR_GROUP = "pamm\\investor";

export type NewMaster = { readonly id: string; readonly login: string; readonly paymentLogin: string };

export async function newMaster(client: Client, minDeposit = "0"): Promise<NewMaster> {
  const request = { ...personalFields("Maya"), min_deposit: minDeposit, platform_group: MASTER_GROUP };
  const { status, body, text } = await untilKnown(client).post("/api/v1/master/create", request);
  expect(status, text).toBe(200);
  const [id, login, paymentLogin] = ["id", "mt5_login", "payment_account_login"].map((name) => textOf(body, name));
  return { id: String(id), login: String(login), paymentLogin: String(paymentLogin) };
}

/** Deposits the balance, if any. */
export async function newInvestor(impatient: Client, balance?: string): Promise<string> {
  const client = untilKnown(impatient);
  const request = { ...personalFields("Ines"), platform_group: INVESTOR_GROUP };
  const { status, body, text } = await client.post("/api/v1/investor/create", request);
  expect(status, text).toBe(200);
  const login = textOf(body, "mt5_login");
  if (balance !== undefined) await expectDone(deposit(client, login, balance, "initial"));
  return login;
}

/** An account that the service did not create. */
export async function existingAccount({ control }: Client, balance = "0"): Promise<string> {
  const account = await control("POST", "accounts", { group: "demo\\forex", name: "Found", balance });
  return textOf(isObject(account) ? account : {}, "login");
}

/** The fields of a registration that identify its person. */
export function personalFields(name: string) {
  const username = `${name.toLowerCase()}@example.com`;
  return { first_name: name, last_name: "Okafor", name: `${name} Okafor`, username };
}

export function deposit({ post }: Client, login: string, amount: string, comment: string): Promise<Reply> {
  return post(`/api/v1/investor/deposit?login=${login}&amount=${amount}&comment=${comment}`);
}

export function withdraw({ post }: Client, login: string, amount: string): Promise<Reply> {
  return post(`/api/v1/investor/withdraw?login=${login}&amount=${amount}`);
}

export function assign({ post }: Client, masterLogin: string, investorLogin: string, rate = 0.2): Promise<Reply> {
  const fee = { rate, enabled: true };
  return post("/api/v1/investor/assign", { master_login: masterLogin, investor_login: investorLogin, perf_fee: fee });
}

export function unassign({ post }: Client, masterLogin: string, investorLogin: string): Promise<Reply> {
  return post(`/api/v1/subscriptions/unassign?master_login=${masterLogin}&investor_login=${investorLogin}`);
}

export async function expectDone(reply: Promise<Reply>): Promise<Reply> {
  const { status, text } = await reply;
  expect(status, text).toBe(200);
  return reply;
}
