import { expect } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import type { Client, Reply } from "./client.ts";

export const MASTER_GROUP = "pamm\\master";
export const INVESTOR_GROUP = "pamm\\investor";

export async function newMaster({ post }: Client, minDeposit = "0"): Promise<{ login: string; paymentLogin: string }> {
  const { status, body, text } = await post("/api/v1/master/create", {
    ...person("Maya"),
    min_deposit: minDeposit,
    platform_group: MASTER_GROUP,
  });
  expect(status, text).toBe(200);
  return { login: textOf(body, "mt5_login"), paymentLogin: textOf(body, "payment_account_login") };
}

export async function newInvestor({ post }: Client): Promise<string> {
  const { status, body, text } = await post("/api/v1/investor/create", {
    ...person("Ines"),
    platform_group: INVESTOR_GROUP,
  });
  expect(status, text).toBe(200);
  return textOf(body, "mt5_login");
}

export function person(name: string) {
  return {
    first_name: name,
    last_name: "Okafor",
    name: `${name} Okafor`,
    username: `${name.toLowerCase()}@example.com`,
  };
}

export function deposit({ post }: Client, login: string, amount: string, comment: string): Promise<Reply> {
  return post(`/api/v1/investor/deposit?login=${login}&amount=${amount}&comment=${comment}`);
}

export function assign({ post }: Client, masterLogin: string, investorLogin: string): Promise<Reply> {
  const perfFee = { rate: 0.2, enabled: true };
  return post("/api/v1/investor/assign", {
    master_login: masterLogin,
    investor_login: investorLogin,
    perf_fee: perfFee,
  });
}

export function unassign({ post }: Client, masterLogin: string, investorLogin: string): Promise<Reply> {
  return post(`/api/v1/subscriptions/unassign?master_login=${masterLogin}&investor_login=${investorLogin}`);
}
