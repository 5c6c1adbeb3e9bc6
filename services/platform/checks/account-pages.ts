import { type Fragment, fragment } from "#kernel/postgres/query.ts";
import type { RunRequest } from "#kernel/reconcile/check.ts";

/** Condition on an account: it is after the login, or one of these. */
export function isIn({ after, logins = [] }: Accounts): Fragment {
  return fragment`case when ${after}::text is null then login = any (${logins}::text[]) else login > ${after}::text end`;
}

/** The accounts after a login, or these ones. */
export type Accounts = { readonly after?: string; readonly logins?: readonly string[] };

type Pages<Row> = {
  /** In the order of their logins; of those after a login at most `size`. */
  readonly list: (accounts: Accounts) => Promise<readonly Row[]>;
  readonly size: number;
  /** How long one run compares, so that other checks run in time; the next one continues. */
  readonly runMs: number;
  /** False when the run has found enough. */
  readonly compare: (rows: readonly Row[]) => Promise<boolean>;
};

/** Compares the accounts with pending breaks, and then page after page, at most to the end of the pass through all accounts. */
export async function walkAccounts<Row extends { readonly login: string }>(
  { cursor, pendingBreaks }: Pick<RunRequest, "cursor" | "pendingBreaks">,
  { list, size, runMs, compare }: Pages<Row>,
): Promise<{ readonly nextCursor: string; readonly endsPass: boolean }> {
  const until = performance.now() + runMs;
  let again = await list({ logins: pendingBreaks.map(({ login }) => login) });
  for (let after = cursor; ;) {
    const page = await list({ after });
    const mayContinue = await compare([...new Map([...page, ...again].map((row) => [row.login, row])).values()]);
    if (page.length < size) return { nextCursor: "", endsPass: true };
    again = [];
    after = page.at(-1)?.login ?? "";
    if (!mayContinue || performance.now() > until) return { nextCursor: after, endsPass: false };
  }
}
