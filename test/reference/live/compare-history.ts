import { isObject, itemsOf, textOf, type JsonObject } from "../../../deploy/demo/exact-json.ts";
import { minorOf } from "../../journey/support/client.ts";
import { dollars } from "../engine/cents.ts";
import { activeOf, accountOf, type Investor, type Movement } from "../engine/world.ts";
import { compare, distance, type Fraction, fraction, isZero, over, show, times } from "../engine/fraction.ts";
import { withdrawalOf } from "../engine/investing.ts";
import { pendingOf } from "../model-equity.ts";
import { fractionOf } from "./compare-performance.ts";
import { unequal, unlike } from "./differences.ts";
import { type Live, loginOf } from "./live.ts";

const DAY_MS = 86_400_000;
/** Few, so that a history has several pages. */
const PAGE = 7;
const KINDS = ["deposit", "withdrawal", "fee_debit", "result", "external"] as const;

/** What statement, its file and the allocations of each Investor show otherwise than the reference. */
export async function historyDifferences(live: Live): Promise<string[]> {
  const differences = await Promise.all(live.world.investors.map((investor) => historyOf(live, investor)));
  return differences.flat();
}

export async function historyOf(live: Live, investor: Investor): Promise<string[]> {
  const login = loginOf(live, investor);
  const at = (ms: number) => new Date(ms).toISOString();
  const period = `from=${at(Date.now() - DAY_MS)}&to=${at(Date.now() + DAY_MS)}`;
  const statement = `/api/v1/info/investor/${login}/statement?${period}`;
  const pages = await pagesOf(live, statement);
  const parts = (await pagesOf(live, `/api/v1/info/investor/${login}/allocations?limit=${PAGE}`)).flatMap(linesOf);
  const file = (await live.client.get(`${statement}&format=csv`)).text.trimEnd().split("\r\n");
  const lines = pages.flatMap(linesOf);
  const closing = amountOf(pages.at(-1), "closing_balance");
  return [
    ...pages.flatMap((page, index) => {
      const opening = amountOf(page, "opening_balance");
      const sum = linesOf(page).reduce((total, line) => total + amountOf(line, "amount"), opening);
      const before = index === 0 ? 0n : amountOf(pages[index - 1], "closing_balance");
      return [
        unequal(`page ${index} of the statement`, sum, amountOf(page, "closing_balance")),
        ...balancesOf(page),
        unequal(`opening of page ${index}`, opening, before),
      ];
    }),
    unequal("closing balance", closing, investor.balance),
    unequal("last row of the file", amountIn(file.at(-1)), investor.balance),
    unequal("rows of the file", BigInt(file.length), BigInt(lines.length + 3)),
    ...KINDS.map((kind) => unlike(kind, movementsOf(kind, lines), exactOf(kind, investor.journal))),
    unlike(
      "parts",
      parts.map((part) => dollars(amountOf(part, "amount"))).toReversed(),
      investor.parts.map(({ cents }) => dollars(cents)),
    ),
    unlike(
      "results of the parts",
      parts.map((part) => dollars(amountOf(part, "deal_result"))).toReversed(),
      investor.parts.map(({ result }) => dollars(result)),
    ),
    ...parts.toReversed().map((part, index) => shareDifference(part, investor.parts[index]?.share)),
  ]
    .filter((difference) => difference !== undefined)
    .map((difference) => `${investor.name}: ${difference}`);
}

/** Each line has the balance after it. */
function balancesOf(page: JsonObject): (string | undefined)[] {
  let balance = amountOf(page, "opening_balance");
  return linesOf(page).map((line) => {
    balance += amountOf(line, "amount");
    return unequal(`balance after line ${textOf(line, "number")}`, amountOf(line, "balance"), balance);
  });
}

/** Units of 1e-8 USD. */
const NEAR = fraction(1n, 1_000_000n);

/** The units of a part, of those of the pool, are the exact share of the Investor in that result. */
function shareDifference(part: JsonObject, exact: Fraction | undefined): string | undefined {
  const pool = fractionOf(textOf(part, "pool_units"));
  const share = isZero(pool) ? pool : over(fractionOf(textOf(part, "units")), pool);
  if (exact !== undefined && compare(distance(share, exact), NEAR) <= 0) return undefined;
  return `a share is ${show(share)}, and ${exact === undefined ? "none" : show(exact)} by the reference`;
}

async function pagesOf({ client }: Live, path: string): Promise<JsonObject[]> {
  const pages: JsonObject[] = [];
  let cursor = "";
  do {
    const { body } = await client.get(`${path}&limit=${PAGE}${cursor}`.replace(/(limit=\d+)&limit=\d+/, "$1"));
    pages.push(body);
    cursor = body["next_cursor"] === null ? "" : `&cursor=${textOf(body, "next_cursor")}`;
  } while (cursor !== "");
  return pages;
}

function linesOf(page: JsonObject): readonly JsonObject[] {
  return itemsOf(page["items"]);
}

function amountOf(line: JsonObject | undefined, name: string): bigint {
  return minorOf(textOf(line ?? {}, name));
}

function amountIn(row = ""): bigint {
  return minorOf(row.split(",")[5] ?? "");
}

/** Results are posted in sums, and weekly fees when their week is decided: the order within a step differs. */
function movementsOf(kind: Movement["kind"], lines: readonly JsonObject[]): string[] {
  const amounts = lines.filter((line) => line["kind"] === kind).map((line) => amountOf(line, "amount"));
  return shown(kind, amounts);
}

function exactOf(kind: Movement["kind"], journal: readonly Movement[]): string[] {
  const amounts = journal.filter((movement) => movement.kind === kind).map(({ cents }) => cents);
  return shown(kind, amounts);
}

function shown(kind: Movement["kind"], amounts: readonly bigint[]): string[] {
  if (kind === "result") return [dollars(amounts.reduce((sum, cents) => sum + cents, 0n))];
  return amounts.map(dollars).toSorted();
}

/** What the equity of an Investor shows otherwise than the reference. */
export async function equityDifferences(live: Live, investor: Investor): Promise<(string | undefined)[]> {
  const { world } = live;
  const { status, body, text } = await live.client.get(`/api/v1/info/investor/${loginOf(live, investor)}/equity`);
  if (status !== 200) return [`equity of ${investor.name}: ${text}`];
  const holding = activeOf(world, investor);
  const master = holding?.master;
  const floating = holding && master ? master.pool.floating(holding.id, master.floating) : fraction(0n);
  const { before, pending, blocked } = withdrawalOf(world, investor);
  const owned = investor.balance + investor.unposted;
  const free = blocked.length > 0 || before < pending ? 0n : before - pending;
  const mark = master === undefined ? fraction(0n) : accountOf(master, investor).highWaterMark;
  const shownShare = fraction(minorOf(textOf(body, "floating_share")));
  const isNear = compare(distance(shownShare, floating), fraction(51n, 100n)) <= 0;
  return [
    unequal("balance", amountOf(body, "balance"), investor.balance),
    unequal("unposted result", amountOf(body, "unposted_result"), investor.unposted),
    unequal("equity", amountOf(body, "equity"), owned + minorOf(textOf(body, "floating_share"))),
    unequal("pending fee", amountOf(body, "pending_fee"), pendingOf(world, investor, floating)),
    unequal(
      "debt",
      amountOf(body, "debt"),
      [...investor.owed.values()].reduce((sum, cents) => sum + cents, 0n),
    ),
    unequal("free to withdraw", amountOf(body, "free_to_withdraw"), free),
    unlike("reasons", (body["withdrawal_blocked_by"] as readonly string[]) ?? [], blocked),
    unlike("in a pool", [String(isObject(body["pool"]))], [String(holding !== undefined)]),
    isNear ? undefined : `floating share is ${textOf(body, "floating_share")}`,
    compare(times(fractionOf(textOf(body, "high_water_mark")), fraction(100n)), mark) === 0
      ? undefined
      : `high-water mark is ${textOf(body, "high_water_mark")}`,
  ].map((difference) => difference && `equity of ${investor.name}: ${difference}`);
}
