import type { Simulator } from "../start.ts";
import { type RawClient, type RawJson } from "./raw-client.ts";

export type ControlAnswer = {
  readonly status: number;
  // Tests look into answers of many shapes.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
};

export async function control(
  { controlUrl }: Pick<Simulator, "controlUrl">,
  method: string,
  path: string,
  body?: unknown,
): Promise<ControlAnswer> {
  const response = await fetch(`${controlUrl}/control/${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, body: await response.json() };
}

export const PASSWORDS = { PassMain: "Abcdef1!", PassInvestor: "Ghijkl2?" };

/** Adds an account through the Web API and resolves with its login. */
export async function addUser(client: RawClient, fields: Record<string, string> = {}): Promise<string> {
  const body = { ...PASSWORDS, Group: "pamm\\investor", Name: "Ann Other", Leverage: "100", ...fields };
  const { retcode, login } = await client.json("/api/user/add", { body });
  if (retcode !== "0 Done") throw new Error(retcode);
  return login;
}

export function pay(client: RawClient, login: string, amount: string, more = ""): Promise<RawJson> {
  return client.json(`/api/trade/balance?login=${login}&type=2&balance=${amount}&comment=test${more}`, {
    method: "POST",
  });
}

/** Adds an account with a balance. */
export async function addFunded(client: RawClient, amount: string, fields?: Record<string, string>): Promise<string> {
  const login = await addUser(client, fields);
  await pay(client, login, amount);
  return login;
}
