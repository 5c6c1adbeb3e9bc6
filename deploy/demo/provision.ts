import { type Crm, execute } from "./command.ts";
import { isObject, itemsOf, type JsonObject, textOf } from "./exact-json.ts";
import type { System } from "./system.ts";

export type Master = { readonly id: string; readonly login: string; readonly paymentLogin: string };
export type Investor = { readonly id: string; readonly login: string; readonly name: string };

export type Person = { readonly firstName: string; readonly lastName: string };
/** The run id makes the names of a run new; empty on a system of its own. */
type NewAccount = { readonly runId: string; readonly person: Person };
type NewStrategy = NewAccount & { readonly strategyName?: string; readonly strategy?: string };

/** The assignment checks the initial capital against it. */
const MIN_DEPOSIT = "100.00";
/** A creation takes up to 30 s; one that is repeated too early would leave an unused account behind. */
const SETTLED_WITHIN_MS = 35_000;
/** The maximum of the directories. */
const MAX_PAGE_ROWS = 100;

export async function createMaster(crm: Crm, { masterGroup }: System, created: NewStrategy): Promise<Master> {
  const { runId, person, strategyName = "Demo", strategy = "Trend following on majors" } = created;
  const body = {
    ...personBody(runId, person),
    platform_group: masterGroup,
    min_deposit: MIN_DEPOSIT,
    strategy_name: strategyName,
    strategy,
  };
  const master = await execute(crm, {
    call: { method: "POST", path: "/api/v1/master/create", body },
    settledWithinMs: SETTLED_WITHIN_MS,
    read: masterOf,
    findEffect: () => findByName(crm, "/api/v1/master/directory", body.name, masterOf),
  });
  const { id, login, paymentLogin } = master;
  crm.print.result(200, `id ${id}, mt5_login ${login}, payment_account_login ${paymentLogin}: three identifiers`);
  return master;
}

export async function createInvestor(
  crm: Crm,
  { investorGroup }: System,
  { runId, person }: NewAccount,
): Promise<Investor> {
  const body = { ...personBody(runId, person), platform_group: investorGroup };
  const { id, login } = await execute(crm, {
    call: { method: "POST", path: "/api/v1/investor/create", body },
    settledWithinMs: SETTLED_WITHIN_MS,
    read: investorOf,
    findEffect: () => findByName(crm, "/api/v1/investor/directory", body.name, investorOf),
  });
  crm.print.result(200, `id ${id}, mt5_login ${login}, no balance, no Master`);
  return { id, login, name: person.firstName };
}

function personBody(runId: string, { firstName, lastName }: Person) {
  return {
    first_name: firstName,
    last_name: lastName,
    name: `${firstName} ${lastName} ${runId}`.trimEnd(),
    username: `${firstName}.${runId || lastName}@example.com`.toLowerCase(),
  };
}

function masterOf(answer: JsonObject): Master {
  return { ...investorOf(answer), paymentLogin: textOf(answer, "payment_account_login") };
}

function investorOf(answer: JsonObject): Omit<Investor, "name"> {
  return { id: textOf(answer, "id"), login: textOf(answer, "mt5_login") };
}

/** Searches a directory page by page. Names are new in every run, so a match proves that the command was executed. */
async function findByName<T>(
  { api }: Crm,
  directory: string,
  name: string,
  read: (item: JsonObject) => T,
): Promise<T | undefined> {
  for (let cursor = ""; ;) {
    const page = await api.read(`${directory}?engine=PAMM&limit=${MAX_PAGE_ROWS}${cursor}`);
    if (!isObject(page)) return undefined;
    const found = itemsOf(page["items"]).find((item) => item["name"] === name);
    if (found !== undefined || page["has_more"] !== true) return found && read(found);
    cursor = `&cursor=${encodeURIComponent(textOf(page, "next_cursor"))}`;
  }
}
