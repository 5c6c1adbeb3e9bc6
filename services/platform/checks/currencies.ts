import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { abs, type Check, described, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { column, many, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";

type CurrencyDeps = Pick<Deps, "pool" | "mt5">;
type Group = NonNullable<Awaited<ReturnType<Deps["mt5"]["getGroup"]>>>;

/**
 * account_currency. Each managed account is in a group whose amounts are dollars and cents: a broker may move an account to another group, or change a
 * group. The check platform_balance notes the group of each account.
 */
export function currencies({ pool, mt5 }: CurrencyDeps): Check {
  return {
    ...described("account_currency"),
    async run() {
      const findings: Finding[] = [];
      const unread: string[] = [];
      for (const name of await listGroups(pool)) {
        const group = await mt5.getGroup(name);
        if (group === undefined) unread.push(name);
        else if (!group.isSupported) findings.push(...(await findingsOf(pool, group, MAX_FINDINGS - findings.length)));
      }
      return {
        findings,
        covers: ({ key }) => !unread.some((name) => key.endsWith(`:${name}`)),
        nextCursor: "",
        endsPass: true,
      };
    },
  };
}

/** By steps from group to group in the index: there may be a million accounts. */
async function listGroups(pool: Deps["pool"]): Promise<string[]> {
  return await inSnapshot(pool, (db) =>
    column<string>(
      db,
      sql`with recursive listed (name) as (
            select min(platform_group) from account
            union all
            select (select min(platform_group) from account where platform_group > listed.name) from listed where listed.name is not null
          )
          select name from listed where name is not null`,
    ),
  );
}

type Row = { readonly login: string; readonly role: string; readonly logMinor: bigint };

async function findingsOf(pool: Deps["pool"], group: Group, limit: number): Promise<Finding[]> {
  if (limit <= 0) return [];
  const rows = await inSnapshot(pool, (db) =>
    many<Row>(
      db,
      sql`select login, role, log_minor as "logMinor"
          from account
          where platform_group = ${group.name}
          order by login
          limit ${limit}`,
    ),
  );
  return rows.map((row) => findingOf(row, group));
}

function findingOf({ login, role, logMinor }: Row, { name, currency, currencyDigits }: Group): Finding {
  return {
    key: `login:${login}:${name}`,
    login,
    masterLogin: role === "master" ? login : "",
    atRiskMinor: abs(logMinor),
    message: `Account ${login} is in group ${name} of the trading platform, which is in ${currency} with ${currencyDigits} digits instead of USD with 2.`,
    evidence: { group: name, currency, digits: String(currencyDigits), role, log_minor: String(logMinor) },
  };
}
