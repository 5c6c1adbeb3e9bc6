import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { abs, type Check, described, type Finding, type PendingBreak } from "#kernel/reconcile/check.ts";
import { formatAmount, usd } from "#kernel/values/money.ts";
import { column, sql } from "#kernel/postgres/query.ts";
import { CREATION_MS, type Deps } from "../deps.ts";

/** Comment of an account that the service has created. */
const TAG = /^PAMM [0-9a-f]{32}$/;
/** Logins that one statement compares. */
const LOGINS_PER_STATEMENT = 10_000;
/** Accounts without a record that one run requests; further ones follow in the next runs. */
const MAX_REQUESTED = 1_000;

type UnknownDeps = Pick<Deps, "pool" | "mt5" | "settings" | "gate">;

/**
 * unknown_accounts. Accounts on the platform that this service has created, and that it does not know: the database was restored to a
 * time before their creation, or their creation does not end. A run compares one group; while permits are stopped, which is so after such a restore, all of them.
 */
export function unknownAccounts(deps: UnknownDeps): Check {
  return {
    ...described("unknown_accounts"),
    async run({ cursor }) {
      const groups = groupsOf(deps.settings);
      const start = readCursor(cursor, groups);
      const end = deps.gate.read() === "open" ? start.index + 1 : groups.length;
      const findings: Finding[] = [];
      const compared: Compared[] = [];
      let next = start.index;
      for (; next < end && compared.at(-1)?.upTo === undefined; next += 1) {
        const found = await compareGroup(deps, {
          group: groups[next] ?? "",
          after: next === start.index ? start.after : "",
        });
        if (found === undefined) continue;
        compared.push(found.compared);
        findings.push(...found.findings);
      }
      const last = compared.at(-1);
      const nextCursor = last?.upTo === undefined ? (groups[next] ?? "") : `${last.upTo}|${last.group}`;
      return { findings, covers: (found) => isCovered(found, compared), nextCursor, endsPass: nextCursor === "" };
    },
  };
}

/** The logins of a group after one login, and up to another when it has more unknown ones than a run requests. */
type Compared = { readonly group: string; readonly after: string; readonly upTo?: string | undefined };

function isCovered({ key, login }: PendingBreak, compared: readonly Compared[]): boolean {
  return compared.some(
    ({ group, after, upTo }) => key === keyOf(login, group) && login > after && (upTo === undefined || login <= upTo),
  );
}

/** `<group>`, or `<login>|<group>` within a group. */
function readCursor(cursor: string, groups: readonly string[]): { readonly index: number; readonly after: string } {
  const [, after = "", group = ""] = /^(?:(\d+)\|)?(.*)$/s.exec(cursor) ?? [];
  const index = groups.indexOf(group);
  return index === -1 ? { index: 0, after: "" } : { index, after };
}

function groupsOf({ masterGroups, investorGroups, paymentGroup }: Deps["settings"]): string[] {
  return [...new Set([...masterGroups, ...investorGroups, paymentGroup])].toSorted();
}

/** Undefined when the server does not list the logins of groups. */
async function compareGroup(
  deps: UnknownDeps,
  { group, after }: Compared,
): Promise<{ readonly compared: Compared; readonly findings: Finding[] } | undefined> {
  const { mt5, settings } = deps;
  const logins = await mt5.listGroupLogins(group);
  if (logins === undefined) return undefined;
  const allocated = logins.filter((login) => login > after && isAllocated(login, settings.loginRange)).toSorted();
  const unknown = await listUnknown(deps, allocated);
  const { users } = await mt5.readUsers(unknown.slice(0, MAX_REQUESTED));
  const own = [...users.values()].filter(({ comment }) => TAG.test(comment));
  const upTo = unknown.length > MAX_REQUESTED ? unknown[MAX_REQUESTED - 1] : undefined;
  return { compared: { group, after, upTo }, findings: own.map((user) => findingOf(user, group)) };
}

/** Without accounts whose creation has begun lately. */
async function listUnknown({ pool }: UnknownDeps, logins: readonly string[]): Promise<string[]> {
  const unknown: string[] = [];
  for (let from = 0; from < logins.length && unknown.length <= MAX_REQUESTED; from += LOGINS_PER_STATEMENT) {
    const page = logins.slice(from, from + LOGINS_PER_STATEMENT);
    const found = await inSnapshot(pool, (db) =>
      column<string>(
        db,
        sql`select login
            from unnest(${page}::text[]) as shown (login)
            where not exists (select from account where account.login = shown.login)
              and not exists (
                select from account_creation
                where account_creation.login = shown.login
                  and requested_at > clock_timestamp() - ${CREATION_MS} * interval '1 millisecond'
              )`,
      ),
    );
    unknown.push(...found.toSorted());
  }
  return unknown;
}

function keyOf(login: string, group: string): string {
  return `login:${login}:${group}`;
}

/** The service creates accounts under logins of its range only. */
function isAllocated(login: string, { first, last }: Deps["settings"]["loginRange"]): boolean {
  return /^\d{1,18}$/.test(login) && BigInt(login) >= first && BigInt(login) <= last;
}

type Shown = { readonly login: string; readonly name: string; readonly comment: string; readonly balanceMinor: bigint };

function findingOf({ login, name, comment, balanceMinor }: Shown, group: string): Finding {
  return {
    key: keyOf(login, group),
    login,
    atRiskMinor: abs(balanceMinor),
    message: `Account ${login} in group ${group} was created by this service, which has no complete record of it; it has ${formatAmount(usd(balanceMinor))}.`,
    evidence: { group, name, tag: comment, balance_minor: String(balanceMinor) },
  };
}
