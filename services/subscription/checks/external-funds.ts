import { formatAmount, usd } from "#kernel/values/money.ts";
import { abs, type Check, findsAll, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";

type Row = {
  readonly kind: "investor" | "master";
  readonly login: string;
  readonly master: string;
  readonly externalMinor: bigint;
  /** The part of it that mirrors and exits of before a restore have moved, and that no flow or exit was settled with. */
  readonly importedMinor: bigint;
  /** The part that an operator has acknowledged; 0 when none was. */
  readonly acknowledgedMinor: bigint;
  /** Own capital of a Master, with its results; 0 for an Investor. */
  readonly ownMinor: bigint;
  /** Booked balance of the whole account; 0 for a Master. */
  readonly balanceMinor: bigint;
};

/**
 * external_funds_master: own capital on a Master that no operator has acknowledged, or that is below zero while Investors have money there,
 * or imported transfers that no flow or exit was settled with.
 */
export function externalFundsMaster({ pool }: Pick<Deps, "pool">): Check {
  return findsAll("external_funds_master", async () => (await many<Row>(pool, onMasters())).map(findingOf));
}

/** external_funds_investor: external funds on an Investor in a pool that no operator has acknowledged or decided. */
export function externalFundsInvestor({ pool }: Pick<Deps, "pool">): Check {
  return findsAll("external_funds_investor", async () => (await many<Row>(pool, onInvestors())).map(findingOf));
}

function onMasters() {
  return sql`select 'master' as kind, login, login as master, external_minor + imported_mirrors_minor + imported_exits_minor as "externalMinor",
             imported_mirrors_minor + imported_exits_minor as "importedMinor",
             coalesce(external_acknowledged_minor, 0) as "acknowledgedMinor", own_waiting_minor + own_pooled_minor as "ownMinor", 0::bigint as "balanceMinor"
      from master_pool
      where (external_minor is distinct from external_acknowledged_minor and (external_minor <> 0 or own_waiting_minor + own_pooled_minor <> 0))
         or (own_waiting_minor + own_pooled_minor < 0 and exists (
           select from holding where master_login = login and waiting_minor + pooled_minor + reserved_minor + outbound_minor > 0
         ))
         or imported_mirrors_minor <> 0 or imported_exits_minor <> 0
      order by login
      limit ${MAX_FINDINGS}`;
}

function onInvestors() {
  return sql`with quarantined as (
        select account.login, holding.master_login as master, quarantined_minor - to_adopt_minor as external_minor,
               quarantine_acknowledged_minor as acknowledged_minor,
               outside_minor + inbound_minor + waiting_minor + pooled_minor + reserved_minor + quarantined_minor
                 - unposted_minor as balance_minor
        from investor_account as account
             join holding on holding.subscription_id = account.pooled_subscription_id
        where is_unacknowledged and quarantined_minor - to_adopt_minor <> 0
      )
      select 'investor' as kind, login, master, external_minor as "externalMinor", 0::bigint as "importedMinor",
             acknowledged_minor as "acknowledgedMinor", 0::bigint as "ownMinor", balance_minor as "balanceMinor"
      from quarantined
      order by login
      limit ${MAX_FINDINGS}`;
}

function findingOf(row: Row): Finding {
  const { kind, login, master, externalMinor, acknowledgedMinor, ownMinor, balanceMinor } = row;
  const evidence = {
    master_login: master,
    external_minor: String(externalMinor),
    known_minor: String(acknowledgedMinor),
  };
  const moved = abs(externalMinor - acknowledgedMinor);
  return {
    key: `${kind}:${login}`,
    login,
    // The Master is not stopped: a review is opened for the external funds.
    masterLogin: "",
    atRiskMinor: moved === 0n || (ownMinor < 0n && moved < -ownMinor) ? abs(ownMinor) : moved,
    message: messageOf(row),
    evidence:
      kind === "master"
        ? { ...evidence, own_capital_minor: String(ownMinor) }
        : { ...evidence, balance_minor: String(balanceMinor) },
  };
}

function messageOf({ kind, login, externalMinor, importedMinor, ownMinor, balanceMinor }: Row): string {
  const text = (minor: bigint): string => formatAmount(usd(abs(minor)));
  const account = `${kind === "master" ? "Master" : "Investor"} ${login}`;
  if (ownMinor < 0n) return `${account} lacks ${text(ownMinor)} of the money that its Investors own. Review required.`;
  if (kind === "master" && externalMinor === 0n) {
    return `${account} holds ${text(ownMinor)} of results that belong to no Investor. Review required.`;
  }
  if (kind === "master" && ownMinor === 0n && importedMinor === 0n) {
    const moved = externalMinor < 0n ? "taken from" : "paid into";
    const owned = externalMinor < 0n ? "no Investor lacks it" : "nothing of it is left";
    return `${text(externalMinor)} was ${moved} ${account} without this service, and its own capital is 0.00 now: ${owned}. Review required: acknowledge it.`;
  }
  if (kind === "investor" && externalMinor < 0n && balanceMinor < 0n) {
    return `${text(externalMinor)} was taken from ${account} without this service, which leaves the account at ${formatAmount(usd(balanceMinor))}. Review required: adopt it after a deposit has covered it, or acknowledge it.`;
  }
  const state = externalMinor < 0n ? "lacks" : "holds";
  if (importedMinor !== 0n && importedMinor === externalMinor) {
    // No review is opened for it.
    return `${account} ${state} ${text(externalMinor)} that was moved before the database was restored. After resume, repeat the assigns and unassigns of the lost time; the rest is settled by itself.`;
  }
  return `${account} ${state} ${text(externalMinor)} that this service did not book. Review required.`;
}
