import { itemsOf, type JsonObject, textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, type Deal, dealsOf, eventually } from "../journey/support/client.ts";
import type { AnsweredRequest } from "./traffic.ts";

type Outcome = "executed" | "not_executed" | "review" | "never recorded";

/** After the quiet period an operation has an outcome, or is in manual review, within this time. */
const KNOWN_WITHIN_MS = 75_000;
/** The reference of a deposit or withdrawal and the comment of one of these customers. */
const REQUESTED = /^P[DW]\S{12} c\w+\.$/;

type RequestsToCheck = {
  /** The requests to check. */
  readonly requests: readonly AnsweredRequest[];
  /** All requests since the start of the system. */
  readonly all: readonly AnsweredRequest[];
  readonly quietPeriodMs: number;
};

/** Waits until the ledger has every outcome, then compares each answer and each outcome with the deals: one sentence for each wrong answer. */
export async function findWrongAnswers(
  client: Client,
  { requests, all, quietPeriodMs }: RequestsToCheck,
): Promise<string[]> {
  const outcomes = new Map<AnsweredRequest, Outcome>();
  for (const each of requests) {
    const read = (): Promise<Outcome> => outcomeOf(client, each);
    outcomes.set(each, await eventually(read, quietPeriodMs + KNOWN_WITHIN_MS));
  }
  const deals = await dealsByLogin(client, requests);
  const contradictions = requests.flatMap((each) =>
    contradictionsOf(each, outcomes.get(each), deals.get(each.login) ?? []),
  );
  return [...contradictions, ...unrequested(all, deals)];
}

/** Throws while the outcome is unknown. */
async function outcomeOf({ get }: Client, { operationId, login, comment }: AnsweredRequest): Promise<Outcome> {
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

async function dealsByLogin(
  client: Client,
  requests: readonly AnsweredRequest[],
): Promise<ReadonlyMap<string, readonly Deal[]>> {
  const logins = [...new Set(requests.map(({ login }) => login))];
  return new Map(await Promise.all(logins.map(async (login) => [login, await dealsOf(client, login)] as const)));
}

function contradictionsOf(request: AnsweredRequest, outcome: Outcome | undefined, deals: readonly Deal[]): string[] {
  const { answer, comment } = request;
  const own = dealsFor(request, deals).length;
  const isNotExecuted = outcome === "not_executed" || outcome === "never recorded";
  const contradictions = [
    ...contradictionsWithDeals(request, deals),
    ...(answer === "done" && outcome !== "executed" ? ["is not in the ledger as executed"] : []),
    ...(answer === "not_executed" && outcome === "executed" ? ["is in the ledger as executed"] : []),
    ...(outcome === "executed" && answer !== "nothing" && own !== 1 ? ["has no deal"] : []),
    ...(isNotExecuted && own > 0 ? ["has a deal"] : []),
  ];
  return contradictions.map(
    (contradiction) => `${comment} ${contradiction}; answer ${answer}, ledger ${outcome}, ${own} deals`,
  );
}

/** Deposits and withdrawals that no customer requested. */
function unrequested(requests: readonly AnsweredRequest[], deals: ReadonlyMap<string, readonly Deal[]>): string[] {
  return [...deals].flatMap(([login, all]) => {
    const own = all.filter(({ comment }) => REQUESTED.test(comment));
    return unrequestedDeals(own, requests).map(
      ({ ticket, comment }) => `deal ${ticket} on ${login} has no request: ${comment}`,
    );
  });
}

/** The deals of a request. */
function dealsFor({ comment }: Pick<AnsweredRequest, "comment">, deals: readonly Deal[]): readonly Deal[] {
  return deals.filter((deal) => deal.comment.endsWith(` ${comment}`));
}

/** Contradictions between an answer and the deals of the account, each as the rest of a sentence about the request. */
function contradictionsWithDeals(request: AnsweredRequest, deals: readonly Deal[]): string[] {
  const { answer, ticket, moved, defect } = request;
  const own = dealsFor(request, deals);
  const isReported = own[0]?.ticket === ticket && own[0]?.minor === moved;
  const isDenied = answer === "not_executed" || answer === "nothing";
  return [
    ...(defect === undefined ? [] : [`was answered ${defect}`]),
    ...(own.length <= 1 ? [] : ["moved money twice"]),
    ...(answer !== "done" || isReported ? [] : ["has another deal than the answer"]),
    ...(isDenied && own.length > 0 ? ["moved money, although the answer denies it"] : []),
  ];
}

/** Deals without a request. */
function unrequestedDeals(deals: readonly Deal[], requests: readonly AnsweredRequest[]): readonly Deal[] {
  const known = new Set(requests.map(({ comment }) => comment));
  return deals.filter(({ comment }) => !known.has(comment.split(" ").at(-1) ?? ""));
}
