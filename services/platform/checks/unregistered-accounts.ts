import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { MINUTE_MS } from "#kernel/duration.ts";
import { inBatches } from "#kernel/in-batches.ts";
import { formatAmount, usd } from "#kernel/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { column, many, sql } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import { abs, type Check, type Finding } from "#kernel/reconcile/check.ts";
import {
  AccountKind,
  type FindRegistrationsRequest,
  type FindRegistrationsResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { type Accounts, readAccountPage } from "./account-page.ts";

/** Only a restore of one database loses such rows, and its runbook waits for a complete pass. */
const EVERY_MS = 5 * MINUTE_MS;
/** Accounts that one run compares, with ten calls. */
const ACCOUNTS_PER_RUN = 10_000;
/** A registration is recorded by account after platform has committed it, within the 30 seconds that its caller waits. */
export const REGISTERED_WITHIN_MS = MINUTE_MS;
/** The time of one call; account finds a page of logins by an index. */
const CALL_MS = 5_000;

const KIND = { master: AccountKind.MASTER, payment: AccountKind.PAYMENT, investor: AccountKind.INVESTOR } as const;

/** The service that registers accounts, and its answer to which of some accounts it has recorded. */
export type Registry = (request: FindRegistrationsRequest, context: CallContext) => Promise<FindRegistrationsResponse>;

export type RegistryDeps = Pick<Deps, "pool"> & { readonly registrations: Registry };

type Row = {
  readonly login: string;
  readonly role: keyof typeof KIND;
  readonly group: string;
  readonly logMinor: bigint;
  /** Under which it was created; empty for an account that was registered. */
  readonly key: string;
  /** Its registration may not have ended. */
  readonly isNew: boolean;
};

const NAMES = { master: "a Master account", payment: "a payment account", investor: "an Investor account" } as const;

/**
 * unregistered_accounts. Accounts that this service manages and that account does not know: its database was restored alone, or a
 * registration was not completed. Account records a request for a new account before it calls, so it is asked after the snapshot.
 */
export function unregisteredAccounts(deps: RegistryDeps): Check {
  return {
    name: "unregistered_accounts",
    title: "Each account that this service manages has its role at the account service.",
    everyMs: EVERY_MS,
    confirmations: 1,
    async run(request) {
      const list = (accounts: Accounts) => listAccounts(deps, accounts);
      const { rows, nextCursor, endsPass } = await readAccountPage(list, request, ACCOUNTS_PER_RUN);
      const unregistered = await listUnregistered(
        deps,
        rows.filter(({ isNew }) => !isNew),
      );
      return { findings: unregistered.map(findingOf), covers: () => true, nextCursor, endsPass };
    },
  };
}

/** The next page of all accounts, or the accounts of `logins`. */
async function listAccounts({ pool }: RegistryDeps, { after, logins = [] }: Accounts): Promise<Row[]> {
  return await inSnapshot(pool, (db) =>
    many<Row>(
      db,
      sql`select login, account.role, account.platform_group as "group", log_minor as "logMinor",
                 coalesce(account_creation.key, '') as key,
                 managed_at > clock_timestamp() - ${REGISTERED_WITHIN_MS} * interval '1 millisecond' as "isNew"
          from account
          left join account_creation using (login)
          where case when ${after}::text is null then login = any (${logins}::text[]) else login > ${after}::text end
          order by login
          limit ${ACCOUNTS_PER_RUN}`,
    ),
  );
}

/** One call for each page, then without the accounts that operators have acknowledged. */
async function listUnregistered({ pool, registrations }: RegistryDeps, rows: readonly Row[]): Promise<Row[]> {
  const unregistered: Row[] = [];
  for (const page of inBatches(rows, MAX_PAGE_SIZE)) {
    const accounts = page.map(({ login, role, key }) => ({ login, kind: KIND[role], key }));
    const { logins } = await registrations({ accounts }, callContext({ caller: "platform", withinMs: CALL_MS }));
    const known = new Set(logins);
    unregistered.push(...page.filter(({ login }) => !known.has(login)));
  }
  const subjects = unregistered.map(({ login }) => `unregistered_account:${login}`);
  const acknowledged = new Set(
    await column<string>(
      pool,
      sql`select login from review_case where subject = any (${subjects}::text[]) and state = 'DECIDED'`,
    ),
  );
  return unregistered.filter(({ login }) => !acknowledged.has(login));
}

function findingOf({ login, role, group, logMinor, key }: Row): Finding {
  const origin = key === "" ? "taken over" : "created";
  return {
    key: `login:${login}`,
    login,
    masterLogin: "",
    atRiskMinor: abs(logMinor),
    message: `Account ${login} in group ${group} was ${origin} as ${NAMES[role]}, and is not registered as such; its log has ${formatAmount(usd(logMinor))}.`,
    evidence: { role, group, key, log_minor: String(logMinor) },
  };
}
