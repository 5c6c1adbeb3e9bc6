import { itemsOf, type JsonObject, textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, type Deal, dealsOf, eventually } from "../journey/support/client.ts";
import type { Asked } from "../journey/support/asked.ts";
import { brokenByDeals, dealsFor, strangersAmong } from "../journey/support/verdict.ts";

/** What the platform and the ledger of operations have to say of what callers were told. */
export type Verdict = {
  /** Every sentence is a broken promise. */
  readonly broken: readonly string[];
  /** How it ended for those that had no answer. */
  readonly found: { readonly executed: number; readonly notExecuted: number; readonly review: number };
  /** From the end of the traffic until the ledger knew everything. */
  readonly knownAfterMs: number;
};

type Outcome = "executed" | "not_executed" | "review" | "never recorded";

/** An operation is known, or in front of a person, so long after the quiet period. */
const KNOWN_WITHIN_MS = 75_000;
/** A reference of a deposit or withdrawal, and the comment of one of these customers. */
const OURS = /^P[DW]\S{12} c\w+\.$/;

export type History = {
  /** What is judged. */
  readonly asked: readonly Asked[];
  /** Everything that was ever asked of this system. */
  readonly all: readonly Asked[];
  readonly quietPeriodMs: number;
};

/** Waits until the ledger knows every outcome, then holds each answer and each outcome against the platform's deals. */
export async function judge(client: Client, { asked, all, quietPeriodMs }: History): Promise<Verdict> {
  const since = performance.now();
  const outcomes = new Map<Asked, Outcome>();
  for (const each of asked) {
    const look = (): Promise<Outcome> => outcomeOf(client, each);
    outcomes.set(each, await eventually(look, quietPeriodMs + KNOWN_WITHIN_MS));
  }
  const knownAfterMs = performance.now() - since;
  const deals = await dealsByLogin(client, asked);
  const broken = asked.flatMap((each) => brokenBy(each, outcomes.get(each), deals.get(each.login) ?? []));
  const open = asked.filter(({ said }) => said === "unknown" || said === "lost").map((each) => outcomes.get(each));
  const count = (...wanted: readonly Outcome[]): number =>
    open.filter((outcome) => outcome !== undefined && wanted.includes(outcome)).length;
  const found = {
    executed: count("executed"),
    notExecuted: count("not_executed", "never recorded"),
    review: count("review"),
  };
  return { broken: [...broken, ...strangers(all, deals)], found, knownAfterMs };
}

/** Throws while nobody knows. */
async function outcomeOf({ get }: Client, { operationId, login, comment }: Asked): Promise<Outcome> {
  const entry =
    operationId === undefined
      ? await newest(get, `/api/v1/operations?login=${login}&comment=${comment}`)
      : await one(get, `/api/v1/operations/${operationId}`);
  if (entry === undefined) return "never recorded";
  const outcome = textOf(entry, "outcome");
  if (outcome === "executed" || outcome === "not_executed" || outcome === "review") return outcome;
  throw new Error(`${comment} is still ${outcome}`);
}

async function one(get: Client["get"], path: string): Promise<JsonObject | undefined> {
  const { status, body, text } = await get(path);
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(text);
  return body;
}

async function newest(get: Client["get"], path: string): Promise<JsonObject | undefined> {
  const { status, body, items, text } = await get(path);
  if (status !== 200) throw new Error(text);
  return [...items, ...itemsOf(body["items"] ?? [])][0];
}

async function dealsByLogin(client: Client, asked: readonly Asked[]): Promise<ReadonlyMap<string, readonly Deal[]>> {
  const logins = [...new Set(asked.map(({ login }) => login))];
  return new Map(await Promise.all(logins.map(async (login) => [login, await dealsOf(client, login)] as const)));
}

function brokenBy(asked: Asked, outcome: Outcome | undefined, deals: readonly Deal[]): string[] {
  const { said, comment } = asked;
  const own = dealsFor(asked, deals).length;
  const isDenied = outcome === "not_executed" || outcome === "never recorded";
  const broken = [
    ...brokenByDeals(asked, deals),
    ...(said === "done" && outcome !== "executed" ? ["is not in the ledger as executed"] : []),
    ...(said === "not_executed" && outcome === "executed" ? ["is in the ledger as executed"] : []),
    ...(outcome === "executed" && said !== "nothing" && own !== 1 ? ["has no deal"] : []),
    ...(isDenied && own > 0 ? ["has a deal"] : []),
  ];
  return broken.map((how) => `${comment} ${how}; told ${said}, ledger ${outcome}, ${own} deals`);
}

/** Deposits and withdrawals of ours that nobody ever asked for. */
function strangers(asked: readonly Asked[], deals: ReadonlyMap<string, readonly Deal[]>): string[] {
  return [...deals].flatMap(([login, all]) => {
    const ours = all.filter(({ comment }) => OURS.test(comment));
    return strangersAmong(ours, asked).map(
      ({ ticket, comment }) => `deal ${ticket} on ${login} was asked for by nobody: ${comment}`,
    );
  });
}
