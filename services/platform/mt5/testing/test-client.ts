import type { BalanceOrder } from "../balance.ts";
import { createLog } from "#kernel/process/log.ts";
import { Secret } from "#kernel/values/secret.ts";
import { createMt5Client, type Mt5Client, type Mt5Limits, type Mt5Settings } from "../client.ts";
import { MANAGER } from "./scripted-server.ts";

/** Short limits for tests; limits that are not listed are those of production. */
export const SHORT_LIMITS: Partial<Mt5Limits> = {
  commandTimeoutMs: 2_000,
  handshakeTimeoutMs: 3_000,
  dialTimeoutMs: 3_000,
  waitMs: 5_000,
  backoff: { firstMs: 20, lastMs: 100 },
};

export const silentLog = createLog({ service: "platform", level: "silent" });

export type Server = { readonly port: number; readonly ca: string };

export function aClient(server: Server, own: Partial<Mt5Settings> = {}): Mt5Client {
  return createMt5Client({
    url: new URL(`https://127.0.0.1:${server.port}`),
    trust: { ca: server.ca },
    credentials: { login: MANAGER.login, password: new Secret(MANAGER.password) },
    maxSessions: 4,
    timeZone: "Europe/Athens",
    idPrefix: "test",
    log: silentLog,
    ...own,
    limits: { ...SHORT_LIMITS, ...own.limits },
  });
}

/** Answers to a money command and to a read of account 1. */
export const APPLIED = '{"retcode":"0 Done","answer":{"Ticket":"136623"}}';
export const USER =
  '{"retcode":"0 Done","answer":{"Login":"1","Group":"g","Rights":"355","Leverage":"100","Balance":"1.00","Credit":"0.00"}}';

/** A deposit of 100.00. */
export function anOrder(own: Partial<BalanceOrder> = {}): BalanceOrder {
  return { login: "900101", amountMinor: 100_00n, comment: "TEST", checkMargin: true, mayWrite: () => true, ...own };
}

/** Sends a deposit of 100.00 once. */
export async function sendOnce(client: Mt5Client, own: Partial<BalanceOrder> = {}) {
  using session = await client.acquireForCommand();
  return await session.changeBalance(anOrder(own));
}
