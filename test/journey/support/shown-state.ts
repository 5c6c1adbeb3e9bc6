import { expect } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, minorOf } from "./client.ts";

/** The states of one subject in their order: a route shows the state of an event, or a later one. */
const ORDER = [
  ["pending", "unknown", "review", "executed", "not_executed"],
  ["ACTIVE", "PAUSED", "CANCELLED", "EXECUTED"],
  ["open", "proposed", "decided", "gone"],
].flat();
/** An item that left its list may have been decided before, so this state is compared by the absence alone. */
const LEFT = ["closed", "obsolete"];

type Shown = (client: Client, event: JsonObject) => Promise<string | undefined>;

/** What the route of each kind shows of the subject of an event; undefined when the route cannot name the subject. */
const SHOWN: Readonly<Record<string, Shown>> = {
  deposit: shownOperation,
  withdrawal: shownOperation,
  async subscription({ get }, event) {
    const { items } = await get(`/api/v1/info/subscriptions?investor_login=${textOf(event, "login")}`);
    return textOf(itemWith(items, "id", textOf(event, "subject_id")) ?? {}, "status");
  },
  /** Of a deposit. What else is mirrored is no leg of an operation, and a route names no part by itself. */
  async mirror({ get }, event) {
    const { body } = await get(`/api/v1/operations?login=${textOf(event, "login")}&action=deposit&limit=100`);
    const ofAmount = itemsOf(body["items"]).filter((item) => sameAmount(item, event));
    const [operation, ...others] = ofAmount.filter((item) => item["master_login"] === event["master_login"]);
    if (operation === undefined || others.length > 0) return undefined;
    const leg = itemWith(itemsOf(operation["legs"]), "kind", "mirror");
    return leg === undefined ? "none" : textOf(leg, "outcome");
  },
  /** A transfer is a leg of its operation from when the service of the platform has recorded it. */
  async exit({ get }, event) {
    if (event["operation_id"] === null) return undefined;
    const { status, body } = await get(`/api/v1/operations/${textOf(event, "operation_id")}`);
    expect(status).toBe(200);
    const leg = itemsOf(body["legs"]).find((each) => each["kind"] === "exit" && sameAmount(each, event));
    return leg === undefined ? "pending" : textOf(leg, "outcome");
  },
  async fee({ get }, event) {
    const { body } = await get(`/api/v1/perf-fee/investor/${textOf(event, "login")}/payments?limit=100`);
    const payment = itemWith(itemsOf(body["items"]), "id", textOf(event, "subject_id"));
    return payment === undefined ? "none" : "EXECUTED";
  },
  async break({ get }, event) {
    return (await listed(get, "/api/v1/ops/breaks", event)) === undefined ? "gone" : "open";
  },
  async review({ get }, event) {
    for (const state of ["open", "proposed", "decided"]) {
      if ((await listed(get, `/api/v1/ops/reviews?state=${state}`, event)) !== undefined) return state;
    }
    return "gone";
  },
};

/** Compares an event with its route at this instant; returns whether there is a route that shows its subject. */
export async function expectNotEarly(client: Client, event: JsonObject): Promise<boolean> {
  const [kind = ""] = textOf(event, "type").split(".");
  const shown = await SHOWN[kind]?.(client, event);
  if (shown === undefined) return false;
  const state = textOf(event, "state");
  if (LEFT.includes(state)) expect(shown, JSON.stringify(event)).toBe("gone");
  else {
    expect(ORDER.indexOf(shown), `${shown}: ${JSON.stringify(event)}`).toBeGreaterThanOrEqual(ORDER.indexOf(state));
  }
  return true;
}

async function shownOperation({ get }: Client, event: JsonObject): Promise<string> {
  return textOf((await get(`/api/v1/operations/${textOf(event, "subject_id")}`)).body, "outcome");
}

async function listed(get: Client["get"], path: string, event: JsonObject): Promise<JsonObject | undefined> {
  const separator = path.includes("?") ? "&" : "?";
  for (let cursor = ""; ;) {
    // A service that does not answer within three seconds, on a machine that does much else, is missing from a page.
    const body = await eventually(async () => {
      const page = await get(`${path}${separator}limit=100${cursor}`);
      expect([page.status, page.body["unreachable"]], page.text).toEqual([200, []]);
      return page.body;
    });
    const found = itemWith(itemsOf(body["items"]), "id", textOf(event, "subject_id"));
    if (found !== undefined || body["has_more"] === false) return found;
    cursor = `&cursor=${textOf(body, "next_cursor")}`;
  }
}

function itemWith(items: readonly JsonObject[], name: string, value: string): JsonObject | undefined {
  return items.find((item) => item[name] === value);
}

/** Routes and events write one amount in two notations. */
function sameAmount(shown: JsonObject, event: JsonObject): boolean {
  return minorOf(textOf(shown, "amount")) === minorOf(textOf(event, "amount"));
}
