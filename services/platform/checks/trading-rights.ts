import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { type Check, described, type CheckRun, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import { askTradingUse, type TradingUse } from "./trading-use.ts";
import { type Accounts, isIn, walkAccounts } from "./account-pages.ts";

/** How long one run compares, so that other checks run in time; the next one continues. */
const RUN_MS = 20_000;

export type RightsDeps = Pick<Deps, "pool" | "mt5" | "settings"> & { readonly tradingUse: TradingUse };

type Row = { readonly login: string; readonly role: keyof typeof NAMES };

const NAMES = { investor: "an Investor in a pool", payment: "a payment account" } as const;
/** TRADE_DISABLED of the platform. */
const TRADE_DISABLED = 0x4n;
/** Why a right is not given back yet, which operators cannot change. */
export const NOT_SHOWN = "the trading platform does not show the account";
const NOTHING: CheckRun = { findings: [], covers: () => true, nextCursor: "", endsPass: true };

/** Tries to give a right back, of about a quarter of an hour, after which operators see that it fails. */
const EXPECTED_TRIES = 10;

/**
 * trading_rights. Investors in a pool and payment accounts that may trade: a dealer has changed their rights, or they are older than the
 * setting. A job takes the right again, so that a break lasts until the next run. And accounts whose right is not given back.
 */
export function tradingRights(deps: RightsDeps): Check {
  return {
    ...described("trading_rights"),
    async run(request) {
      if (!deps.settings.takesTrading) return NOTHING;
      const findings = await listOwed(deps);
      const walked = await walkAccounts(request, {
        list: (accounts) => listAccounts(deps, accounts),
        size: MAX_PAGE_SIZE,
        runMs: RUN_MS,
        async compare(rows) {
          findings.push(...(await compare(deps, rows)));
          return true;
        },
      });
      return { findings, covers: () => true, ...walked };
    },
  };
}

/** Twice, so that an account that has just joined or left a pool is none. */
async function compare(deps: RightsDeps, rows: readonly Row[]): Promise<Finding[]> {
  const suspicious = await listTrading(deps, rows);
  return [...(await listTrading(deps, suspicious))].map(findingOf);
}

type Trading = Row & { readonly rights: bigint };

async function listTrading({ mt5, tradingUse }: RightsDeps, rows: readonly Row[]): Promise<Trading[]> {
  const { now } = await askTradingUse(tradingUse, rows);
  const used = rows.filter(({ login }) => now.has(login));
  const { users } = await mt5.readUsers(used.map(({ login }) => login));
  return used.flatMap((row) => {
    const rights = users.get(row.login)?.rights;
    return rights === undefined || (rights & TRADE_DISABLED) !== 0n ? [] : [{ ...row, rights }];
  });
}

async function listAccounts({ pool }: RightsDeps, accounts: Accounts): Promise<Row[]> {
  return await inSnapshot(pool, (db) =>
    many<Row>(
      db,
      sql`select login, role
          from account
          where role in ('investor', 'payment') and unshown_since is null
            and ${isIn(accounts)}
          order by login
          limit ${MAX_PAGE_SIZE}`,
    ),
  );
}

/** An account that the platform does not show is not counted: its right is given back when it returns. */
async function listOwed({ pool }: RightsDeps): Promise<Finding[]> {
  const owed = await inSnapshot(pool, (db) =>
    many<{ readonly login: string; readonly reason: string }>(
      db,
      sql`select login, reason
          from taken_right
          where tries >= ${EXPECTED_TRIES} and reason is not null and reason <> ${NOT_SHOWN}
          order by login
          limit ${MAX_FINDINGS}`,
    ),
  );
  return owed.map(({ login, reason }) => ({
    key: `returned:${login}`,
    login,
    atRiskMinor: 0n,
    message: `Account ${login} was not given its right to trade back: ${reason}.`,
    evidence: { reason },
  }));
}

function findingOf({ login, role, rights }: Trading): Finding {
  return {
    key: `login:${login}`,
    login,
    atRiskMinor: 0n,
    message: `Account ${login} is ${NAMES[role]}, and may trade: its rights are 0x${rights.toString(16)}.`,
    evidence: { role, rights: `0x${rights.toString(16)}` },
  };
}
