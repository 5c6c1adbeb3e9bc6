import { formatAmount, usd } from "#kernel/money.ts";
import { type Check, type Finding, inSnapshot, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";

const EVERY_MS = 60_000;

type Row = {
  readonly kind: "investor" | "master";
  readonly login: string;
  readonly master: string;
  readonly externalMinor: bigint;
  readonly knownMinor: bigint;
  /** What the whole account comes to, 0 for a Master. */
  readonly balanceMinor: bigint;
};

/** external_funds_master. Somebody moved money on a Master, or so much off an Investor that less than nothing is there. */
export function externalFundsThatHurts({ pool }: Pick<Deps, "pool">): Check {
  return {
    name: "external_funds_master",
    title: "A Master holds no external funds without a decision, and no Investor balance is negative because of them.",
    everyMs: EVERY_MS,
    confirmations: 1,
    run: () => lookAt(pool, async (db) => [...(await listOnMasters(db)), ...(await listOnInvestors(db, true))]),
  };
}

/** external_funds_investor. Somebody moved money on an Investor in a pool, and nobody has said what it is. */
export function externalFundsOnInvestors({ pool }: Pick<Deps, "pool">): Check {
  return {
    name: "external_funds_investor",
    title: "An Investor in a pool holds no external funds without a decision.",
    everyMs: EVERY_MS,
    confirmations: 1,
    run: () => lookAt(pool, (db) => listOnInvestors(db, false)),
  };
}

async function lookAt(pool: Deps["pool"], list: (db: Queryable) => Promise<readonly Row[]>) {
  const rows = await inSnapshot(pool, list);
  return { findings: rows.map(findingOf), covers: () => true, nextCursor: "" };
}

function listOnMasters(db: Queryable): Promise<Row[]> {
  return many<Row>(
    db,
    sql`select 'master' as kind, login, login as master, external_minor as "externalMinor",
               external_known_minor as "knownMinor", 0::bigint as "balanceMinor"
        from master_pool
        where external_minor <> external_known_minor and external_minor <> 0
        order by login
        limit ${MAX_FINDINGS + 1}`,
  );
}

function listOnInvestors(db: Queryable, isBelowZero: boolean): Promise<Row[]> {
  return many<Row>(
    db,
    sql`with standing as (
          select account.login, holding.master_login as master, quarantined_minor as external_minor,
                 quarantine_known_minor as known_minor,
                 outside_minor + inbound_minor + waiting_minor + pooled_minor + reserved_minor + quarantined_minor
                   - unposted_minor as balance_minor
          from investor_account as account
               join holding on holding.subscription_id = account.pooled_subscription_id
          where quarantined_minor <> quarantine_known_minor and quarantined_minor <> 0
        )
        select 'investor' as kind, login, master, external_minor as "externalMinor", known_minor as "knownMinor",
               balance_minor as "balanceMinor"
        from standing
        where (external_minor < 0 and balance_minor < 0) = ${isBelowZero}
        order by login
        limit ${MAX_FINDINGS + 1}`,
  );
}

function findingOf({ kind, login, master, externalMinor, knownMinor, balanceMinor }: Row): Finding {
  const undecided = externalMinor - knownMinor;
  const who = `${kind === "master" ? "Master" : "Investor"} ${login}`;
  const what =
    externalMinor < 0n ? `lacks ${formatAmount(usd(-externalMinor))}` : `holds ${formatAmount(usd(externalMinor))}`;
  const evidence = { master_login: master, external_minor: String(externalMinor), known_minor: String(knownMinor) };
  return {
    key: `${kind}:${login}`,
    login,
    // People say what it is by a review; nothing has to stop until then.
    masterLogin: "",
    atRiskMinor: undecided < 0n ? -undecided : undecided,
    operationIds: [],
    dealIds: [],
    message: `${who} ${what} that this service did not book. Review required.`,
    evidence: kind === "master" ? evidence : { ...evidence, balance_minor: String(balanceMinor) },
  };
}
