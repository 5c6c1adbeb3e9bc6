import { textOf } from "../demo/exact-json.ts";
import type { Call } from "../demo/http.ts";
import { type Access, untilDone } from "./clients.ts";

export function createCall(role: "master" | "investor", name: string): Call {
  const person = {
    first_name: name,
    last_name: "Okafor",
    name: `${name} Okafor`,
    username: `${name.toLowerCase()}@example.com`,
  };
  const ofMaster = role === "master" ? { min_deposit: "0" } : {};
  return {
    method: "POST",
    path: `/api/v1/${role}/create`,
    body: { ...person, ...ofMaster, platform_group: `pamm\\${role}` },
  };
}

export async function createAccount(access: () => Access, role: "master" | "investor", name: string): Promise<string> {
  return textOf(await untilDone(access, createCall(role, name)), "mt5_login");
}

export function depositCall(login: string, amount: string, comment: string): Call {
  return { method: "POST", path: `/api/v1/investor/deposit?login=${login}&amount=${amount}&comment=${comment}` };
}

export function assignCall(master: string, investor: string): Call {
  const body = { master_login: master, investor_login: investor, perf_fee: { rate: 0.2, enabled: true } };
  return { method: "POST", path: "/api/v1/investor/assign", body };
}

export function unassignCall(master: string, investor: string): Call {
  return {
    method: "POST",
    path: `/api/v1/subscriptions/unassign?master_login=${master}&investor_login=${investor}`,
  };
}

/** Of an account that exists on the trading platform, and in no books. */
export function registerCall(login: string, name: string): Call {
  return { method: "POST", path: "/api/v1/investor/add", body: { mt5_login: login, name } };
}
