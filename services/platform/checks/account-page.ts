import type { PendingBreak, RunRequest } from "#kernel/reconcile/check.ts";

/** The accounts after a login, or these ones. */
export type Accounts = { readonly after?: string; readonly logins?: readonly string[] };

type AccountPage<Row> = {
  readonly rows: readonly Row[];
  readonly nextCursor: string;
  readonly endsPass: boolean;
};

/** The next accounts of a pass through all, at most `size`, and those with pending breaks, each once. */
export async function readAccountPage<Row extends { readonly login: string }>(
  list: (accounts: Accounts) => Promise<readonly Row[]>,
  { cursor, pendingBreaks }: RunRequest,
  size: number,
): Promise<AccountPage<Row>> {
  const page = await list({ after: cursor });
  const again = await list({ logins: loginsOf(pendingBreaks) });
  const rows = new Map([...page, ...again].map((row) => [row.login, row]));
  const endsPass = page.length < size;
  return { rows: [...rows.values()], nextCursor: endsPass ? "" : (page.at(-1)?.login ?? ""), endsPass };
}

function loginsOf(pendingBreaks: readonly PendingBreak[]): string[] {
  return pendingBreaks.map(({ login }) => login);
}
