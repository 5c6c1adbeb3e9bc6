import { dollars, type Entry, type Funds } from "./funds.ts";
import { readBalance } from "./follow.ts";
import { type PollOptions, pollOr } from "./wait.ts";

/** An account of the scenario and its expected balance. */
export type Account = {
  readonly role: string;
  readonly login: string;
  readonly expected: bigint;
  /** The account has one deal per movement. A Master may have fewer: one mirror can cover several flows. */
  readonly isExact: boolean;
};

type Row = {
  readonly account: Account;
  readonly api: bigint | undefined;
  readonly platform: bigint;
  readonly deals: bigint;
  readonly differences: readonly string[];
};

/** The last mirror may be in progress, and a killed process may be restarting. */
const CONVERGENCE = { withinMs: 90_000, everyMs: 500 };
const ROLE_WIDTH = 10;
const LOGIN_WIDTH = 10;
const AMOUNT_WIDTH = 14;

/** Compares the API, the platform's balance, the sum of its deals and the CRM's record. True when all are equal. */
export async function prove(
  funds: Funds,
  accounts: readonly Account[],
  options: Omit<PollOptions, "what"> = CONVERGENCE,
): Promise<boolean> {
  let rows: readonly Row[] = [];
  await pollOr(options, async () => {
    rows = await Promise.all(accounts.map((account) => examine(funds, account)));
    return rows.every(({ differences }) => differences.length === 0) ? true : undefined;
  });
  show(funds, rows);
  const differences = rows.flatMap((row) => row.differences);
  for (const difference of differences) funds.print.note(`DIFFERENCE: ${difference}`);
  return differences.length === 0;
}

async function examine(funds: Funds, account: Account): Promise<Row> {
  const { login, expected, isExact } = account;
  const api = await readBalance(funds, login);
  const platform = await funds.platform.balance(login);
  const deals = await funds.platform.deals(login);
  const sum = deals.reduce((total, { minor }) => total + minor, 0n);
  const entries = funds.ledger.entries.filter((entry) => entry.login === login);
  const differences = [
    ...differ(account, "the balance of the API", api),
    ...differ(account, "the balance of the platform", platform),
    ...differ(account, "the sum of the deals", sum),
    ...entries.flatMap((entry) => missing(entry, deals)),
  ];
  if (isExact && deals.length !== entries.length) {
    differences.push(`${account.role} ${login}: ${deals.length} deals for ${entries.length} movements of the scenario`);
  }
  return { account: { ...account, expected }, api, platform, deals: sum, differences };
}

function differ({ role, login, expected }: Account, what: string, minor: bigint | undefined): string[] {
  if (minor === expected) return [];
  if (minor === undefined) return [`${role} ${login}: ${what} cannot be read`];
  return [
    `${role} ${login}: ${what} is ${dollars(minor)}, expected ${dollars(expected)}, off by ${dollars(minor - expected)}`,
  ];
}

/** Each movement is exactly one deal with its reference, ticket and amount. */
function missing(
  { reference, ticket, minor }: Entry,
  deals: Awaited<ReturnType<Funds["platform"]["deals"]>>,
): string[] {
  const own = deals.filter(({ comment }) => comment.includes(reference));
  const [deal] = own;
  if (own.length === 1 && deal?.ticket === ticket && deal.minor === minor) return [];
  const found = own.map((each) => `${each.ticket} of ${dollars(each.minor)}`).join(", ");
  return [`${reference}: expected deal ${ticket} of ${dollars(minor)}, found ${found === "" ? "none" : found}`];
}

function show({ print }: Funds, rows: readonly Row[]): void {
  const line = (role: string, login: string, amounts: readonly string[], verdict: string): string =>
    `${role.padEnd(ROLE_WIDTH)} ${login.padEnd(LOGIN_WIDTH)}${amounts.map((text) => text.padStart(AMOUNT_WIDTH)).join("")}   ${verdict}`;
  print.note(line("account", "login", ["API", "platform", "sum of deals", "expected"], ""));
  for (const { account, api, platform, deals, differences } of rows) {
    const amounts = [api === undefined ? "-" : dollars(api), ...[platform, deals, account.expected].map(dollars)];
    print.note(line(account.role, account.login, amounts, differences.length === 0 ? "equal" : "DIFFERS"));
  }
}
