import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { isObject, type Json, type JsonObject, parseExact, textOf } from "../../../deploy/demo/exact-json.ts";
import type { Input, StrictClient } from "../../openapi/strict/clients.ts";
import { type Client, eventually } from "./client.ts";
import { existingAccount, INVESTOR_GROUP, MASTER_GROUP, personalFields } from "./client-requests.ts";
import { bookResult, closePosition, openPosition } from "./trading.ts";

const HOUR_MS = 3_600_000;
const DAYS = { from: "2025-01-04", to: "2025-02-04" };
const LATER = "2099-01-02T03:04:05";

type Ask = (id: string, input?: Input) => Promise<JsonObject>;
type Refused = (code: string, id: string, input?: Input) => Promise<void>;
type Caller = { readonly ask: Ask; readonly accepted: Ask; readonly refused: Refused };

/** Each operation of a life, from the first account to the closed Master, with refusals on the way. */
export async function liveThrough(call: StrictClient, platform: Client): Promise<void> {
  const caller = callerOf(call);
  const webhook = await watch(caller);
  const { id, master, investor, found } = await begin(caller, platform);
  await fund(caller, master, investor, found);
  await trade(caller, platform, master, investor);
  await withdrawAndExplain(caller, master, investor);
  await look(caller, id, master, investor);
  await changeFees(caller, found);
  await end(caller, id, master, investor);
  await operate(caller, webhook);
}

function callerOf(call: StrictClient): Caller {
  const send = async (id: string, input?: Input) => {
    const { status, body } = await call(id, input, { "Idempotency-Key": randomUUID() });
    return { status, body: parseExact(JSON.stringify(body)) ?? null, text: `${id} ${JSON.stringify(body)}` };
  };
  const answered =
    (expected: number): Ask =>
    async (id, input) => {
      const { status, body, text } = await send(id, input);
      expect(status, text).toBe(expected);
      return isObject(body) ? body : {};
    };
  return {
    ask: answered(200),
    accepted: answered(202),
    async refused(code, id, input) {
      const { body, text } = await send(id, input);
      expect(isObject(body) ? body["code"] : undefined, text).toBe(code);
    },
  };
}

async function watch({ ask }: Caller): Promise<string> {
  await ask("getApiKey");
  // Nothing listens there; each delivery fails and is listed with its error.
  const webhook = textOf(
    await ask("createWebhook", { body: { url: "http://127.0.0.1:9/", types: "deposit.*" } }),
    "id",
  );
  await ask("listWebhooks");
  return webhook;
}

async function begin({ ask, refused }: Caller, platform: Client) {
  const maya = {
    ...personalFields("Maya"),
    platform_group: MASTER_GROUP,
    min_deposit: "100.00",
    strategy_name: "Trend",
  };
  const created = await ask("createMaster", { body: { ...maya, external_id: `strict-${randomUUID()}` } });
  const ines = { ...personalFields("Ines"), platform_group: INVESTOR_GROUP, metadata: { desk: "2" } };
  const investor = textOf(await ask("createInvestor", { body: ines }), "mt5_login");
  const [found, account, payment] = await Promise.all(["300", "0", "0"].map((sum) => existingAccount(platform, sum)));
  await ask("registerInvestor", { body: { mt5_login: found, name: "Olga" } });
  await refused("login_already_registered", "registerInvestor", { body: { mt5_login: found, name: "Olga" } });
  await ask("registerMaster", {
    body: { mt5_login: account, payment_account_login: payment, name: "Beta", min_deposit: "0" },
  });
  await refused("validation_failed", "createInvestor", { body: { ...ines, name: "" } });
  return { id: textOf(created, "id"), master: textOf(created, "mt5_login"), investor, found: found ?? "" };
}

async function fund({ ask, refused }: Caller, master: string, investor: string, found: string): Promise<void> {
  const assignment = { master_login: master, investor_login: investor, perf_fee: { rate: 0.2, enabled: true } };
  await refused("below_min_deposit", "assignInvestor", { body: assignment });
  await refused("amount_precision", "depositFunds", { query: { login: investor, amount: "1.005" } });
  const external = { external_id: "CRM-1", metadata: { desk: "2" } };
  await ask("depositFunds", { query: { login: investor, amount: "1000.00", comment: "CRM-1" }, body: external });
  await ask("previewAssignment", { body: assignment });
  await ask("assignInvestor", { body: assignment });
  await refused("already_subscribed", "assignInvestor", { body: assignment });
  await ask("assignInvestor", { body: { ...assignment, investor_login: found } });
  expect((await ask("getProof", { path: { master_login: master }, query: { wait: 20 } }))["converged"]).toBe(true);
}

async function trade(
  { ask, accepted, refused }: Caller,
  platform: Client,
  master: string,
  investor: string,
): Promise<void> {
  await bookResult(platform, master, "130.00");
  const position = await openPosition(platform, master, "0.01");
  await ask("previewWithdrawal", { query: { login: investor, amount: "50.00" } });
  await refused("master_open_positions", "withdrawFunds", { query: { login: investor, amount: "50.00" } });
  const leaving = { master_login: master, investor_login: investor };
  await refused("master_open_positions", "unassignInvestor", { query: leaving });
  const waiting = { on_blocked: "queue", expires_in: "PT1H" };
  await accepted("withdrawFunds", { query: { login: investor, amount: "50.00", ...waiting } });
  await accepted("unassignInvestor", { query: { ...leaving, ...waiting } });
  const { items } = await ask("listOperations", { query: { login: investor, queue_state: "waiting" } });
  expect(items).toHaveLength(2);
  for (const operation of items as readonly JsonObject[]) {
    await ask("cancelOperation", { path: { operation_id: textOf(operation, "id") } });
  }
  await refused("operation_not_found", "cancelOperation", { path: { operation_id: randomUUID() } });
  await eventually(() => ask("getEquity", { path: { investor_login: investor } }));
  await closePosition(platform, position);
  expect((await ask("getProof", { path: { master_login: master }, query: { wait: 20 } }))["converged"]).toBe(true);
}

async function withdrawAndExplain({ ask, refused }: Caller, master: string, investor: string): Promise<void> {
  const path = { investor_login: investor };
  await eventually(() => ask("getPendingFee", { path }));
  await ask("withdrawFunds", { query: { login: investor, amount: "50.00", comment: "CRM-2" } });
  await ask("listFeePayments", { path: { master_login: master } });
  await ask("listPaymentCredits", { query: { master_login: master } });
  // The withdrawal waits for the debit of its fee; the credit, with which the payment is executed, follows.
  const payment = await eventually(async () => {
    const { items } = await ask("listFeePaymentsOfInvestor", { path });
    expect(items).toHaveLength(1);
    const [executed] = items as readonly JsonObject[];
    return executed ?? {};
  });
  await ask("getFeePaymentExplanation", { path: { payment_id: textOf(payment, "id") } });
  const run = textOf(payment, "run_id");
  await ask("listFeeRuns", { query: { master_login: master } });
  await ask("getFeeRun", { path: { run_id: run } });
  await ask("listFeeRunPayments", { path: { run_id: run } });
  await refused("fee_run_not_found", "getFeeRun", { path: { run_id: 999_999_999 } });
  await refused("fee_payment_not_found", "getFeePaymentExplanation", { path: { payment_id: 999_999_999 } });
  await ask("listAllocations", { path });
  const at = (distanceMs: number): string => new Date(Date.now() + distanceMs).toISOString();
  await ask("getStatement", { path, query: { from: at(-HOUR_MS), to: at(HOUR_MS) } });
  await eventually(() => ask("getEquity", { path }));
}

async function look({ ask, refused }: Caller, id: string, master: string, investor: string): Promise<void> {
  const [ofMaster, ofInvestor] = [{ path: { master_login: master } }, { path: { investor_login: investor } }];
  await ask("getBalance", { path: { mt5_login: investor } });
  await ask("getBalances", { query: { logins: `${investor},${master},77` } });
  for (const list of ["listMasters", "listInvestors"]) await ask(list, { query: { engine: "PAMM", limit: 2 } });
  for (const list of ["listMasterProfiles", "listInvestorProfiles"]) await ask(list, { query: { limit: 2 } });
  for (const one of ["getMaster", "getMasterProfile"]) await ask(one, { path: { master_id: id } });
  await refused("master_not_found", "getMaster", { path: { master_id: 999_999_999 } });
  for (const one of ["listMasterInvestors", "getMasterWithPasswords"]) await ask(one, ofMaster);
  await ask("getPerformance", { ...ofMaster, query: DAYS });
  await ask("listResults", ofMaster);
  await ask("getInvestorWithPasswords", ofInvestor);
  const { master_login: followed } = await ask("getActiveMaster", ofInvestor);
  expect(followed).toBe(master);
  await ask("listSubscriptions", { query: { investor_login: investor } });
  const { items } = await ask("listOperations", { query: { login: investor, limit: 5 } });
  const [latest] = items as readonly JsonObject[];
  await ask("getOperation", { path: { operation_id: textOf(latest ?? {}, "id") } });
  await refused("operation_not_found", "getOperation", { path: { operation_id: randomUUID() } });
  await ask("listAttempts", { path: { operation_id: textOf(latest ?? {}, "id") } });
  await refused("operation_not_found", "listAttempts", { path: { operation_id: randomUUID() } });
  const deal = (items as readonly JsonObject[]).find(({ deal_id: ticket }) => ticket !== null);
  const made = await ask("listOperations", { query: { ticket: Number(deal?.["deal_id"]) } });
  expect(made.items).toMatchObject([{ id: textOf(deal ?? {}, "id") }]);
  for (const list of ["listReviews", "listBreaks"] as const) {
    await ask(list, { query: { operation_id: textOf(deal ?? {}, "id") } });
    await refused("operation_not_found", list, { query: { operation_id: randomUUID() } });
  }
  await ask("updateMaster", { path: { master_id: id }, body: { strategy: "Trend following." } });
}

async function changeFees({ ask, refused }: Caller, investor: string): Promise<void> {
  const path = { investor_login: investor };
  await ask("updateFeeConfiguration", { body: { investor_login: investor, rate: 0.25 } });
  await ask("updateFeeConfiguration", { body: { investor_login: investor, rate: 0.3, effective_since: LATER } });
  await ask("getFeeConfiguration", { path });
  const versions = (await ask("listFeeVersions", { path }))["items"] as readonly JsonObject[];
  const scheduled = versions.find(({ state }) => state === "scheduled") ?? {};
  const version = { path: { ...path, version_id: textOf(scheduled, "id") } };
  await ask("cancelFeeVersion", version);
  await refused("fee_version_not_scheduled", "cancelFeeVersion", version);
}

async function end({ ask, refused }: Caller, id: string, master: string, investor: string): Promise<void> {
  const both = { query: { master_login: master, investor_login: investor } };
  await ask("previewUnassignment", both);
  await ask("unassignInvestor", both);
  await ask("listSubscriptions", { query: { investor_login: investor, wait: 20 } });
  await ask("listSubscriptionPages", { query: { master_login: master, limit: 1 } });
  await refused("subscription_not_active", "unassignInvestor", both);
  await ask("closeMaster", { path: { master_id: id } });
  await eventually(async () =>
    expect((await ask("getMasterProfile", { path: { master_id: id } }))["state"]).toBe("archived"),
  );
  await refused("master_closed", "updateMaster", { path: { master_id: id }, body: { name: "Gone" } });
  const [profile] = (await ask("listInvestorProfiles", { query: { name: "Ines Okafor", limit: 100 } }))[
    "items"
  ] as readonly JsonObject[];
  const investorId = { investor_id: textOf(profile ?? {}, "id") };
  await ask("getInvestor", { path: investorId });
  await ask("updateInvestor", { path: investorId, body: { metadata: { desk: null } } });
  await refused("investor_not_closed", "eraseInvestor", { path: { investor_login: investor } });
}

async function operate({ ask, refused }: Caller, webhook: string): Promise<void> {
  await eventually(async () => {
    const page = await ask("listEvents", { query: { limit: 500 } });
    expect((page["items"] as readonly Json[]).length).toBeGreaterThan(0);
  });
  const path = { webhook_id: webhook };
  await ask("getWebhook", { path });
  await ask("updateWebhook", { path, body: { enabled: false } });
  await ask("rotateWebhookSecret", { path });
  await ask("replayWebhook", { path, query: { after: 0 } });
  await ask("listWebhookDeliveries", { path });
  await ask("deleteWebhook", { path });
  await refused("webhook_not_found", "getWebhook", { path });
  await ask("listBreaks");
  await ask("listApiKeys");
  await refused("break_not_found", "getBreak", { path: { break_id: "fee-999999999" } });
  await refused("review_not_found", "getReview", { path: { review_id: "fee-999999999" } });
  await ask("listReviews");
  // The key of the system may not decide; each operator has one of their own.
  await ask("getPermits");
  await ask("listArchivedAccounts");
  const decision = { id: "subscription-999999", action: "release", note: "strict" };
  await refused("insufficient_scope", "decideReview", { body: decision });
  await ask("listReviewGroups");
  const group = "subscription-0123456789abcdef01234567";
  const votes = { group, ids: "subscription-999999", action: "adopt", note: "strict" };
  await refused("insufficient_scope", "decideReviewGroup", { body: votes });
}
