import type { Models } from "../../../client/index.ts";
import { investorHref, masterHref, operationsHref, reviewsHref } from "../../app/addresses.ts";
import { Facts } from "../../components/facts.tsx";
import { Figure } from "../../components/figure.tsx";
import { MasterLink, Ticket } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { useRead } from "../../data/use-read.ts";
import { formatRatio, isZero, ratioOf, SHARE_DECIMALS } from "../../formats/decimal.ts";
import { words } from "../../formats/words.ts";
import { can } from "../../session/session.ts";

type Equity = Models["Equity"];

/** What the Investor owns, each figure with a link to what it is made of. */
export function EquityView({ login }: { readonly login: string }) {
  const equity = useRead(
    (client, signal) => client.query("getEquity", { path: { investor_login: login } }, { signal }),
    { keys: [login], topics: [`login:${login}`] },
  );
  return (
    <>
      <Panel read={equity} what="the equity">
        {(found) => (
          <>
            <Figures login={login} equity={found} />
            <p class="note">
              Open positions as of <Time at={found.as_of} isFocusable />. {found.currency}.{" "}
              <button type="button" class="plain" onClick={equity.refresh}>
                Read again
              </button>
            </p>
            <div class="columns">
              <Share pool={found.pool} />
              <Withdrawal equity={found} />
            </div>
          </>
        )}
      </Panel>
      {equity.problem !== undefined && (
        <p class="note">
          Another kind of account? <a href={masterHref(login)}>The Master with this login</a>,{" "}
          <a href={operationsHref({ login })}>operations with it</a>.
        </p>
      )}
    </>
  );
}

function Figures({ login, equity }: { readonly login: string; readonly equity: Equity }) {
  const { pool, external_funds: external, debt } = equity;
  const fees = can("fees:read") ? { href: investorHref(login, "fees") } : {};
  return (
    <dl class="figures" aria-label="Equity">
      <Figure
        name="Equity"
        value={<Money amount={equity.equity} />}
        note="balance, unposted result and floating share, before fees"
      />
      <Figure
        name="Balance"
        href={investorHref(login, "statement")}
        value={<Money amount={equity.balance} />}
        note="of the account, by its journal"
      />
      <Figure
        name="Unposted result"
        href={investorHref(login, "allocations")}
        value={<Money amount={equity.unposted_result} />}
        note="allocated, not on the account yet"
      />
      <Figure
        name="Floating share"
        {...(pool === null ? {} : { href: masterHref(pool.master_login) })}
        value={<Money amount={equity.floating_share} />}
        note="of the Master's open positions"
      />
      <Figure
        name="Pending fee"
        {...fees}
        value={<Money amount={equity.pending_fee} />}
        note="if everything were crystallised now"
      />
      <Figure name="High-water mark" {...fees} value={<Money amount={equity.high_water_mark} />} note="on the result" />
      <Figure name="Free to withdraw" value={<Money amount={equity.free_to_withdraw} />} note="now" />
      <Figure
        name="Free when flat"
        value={<Money amount={equity.free_when_flat} />}
        note="if the Master closed its positions now"
      />
      {!isZero(debt) && <Figure name="Debt" {...fees} value={<Money amount={debt} />} note="of fees" tone="warn" />}
      {!isZero(external) && (
        <Figure
          name="External funds"
          {...(can("ops") ? { href: reviewsHref() } : {})}
          value={<Money amount={external} />}
          note="operators have to decide"
          tone="warn"
        />
      )}
    </dl>
  );
}

function Share({ pool }: Pick<Equity, "pool">) {
  const ratio = pool === null ? undefined : ratioOf(pool.units, pool.pool_units);
  return (
    <Section title="Share of the pool">
      {pool === null ? (
        <p class="quiet">The Investor is in no pool.</p>
      ) : (
        <Facts
          facts={[
            ["Master", <MasterLink id={pool.master_login} />],
            ["Subscription", pool.subscription_id.toString()],
            ["Pooled", <Money amount={pool.pooled} />],
            ["Joining", <Money amount={pool.joining} />],
            ["Units", <Money amount={pool.units} />],
            ["Units of the pool", <Money amount={pool.pool_units} />],
            ["Share", ratio === undefined ? "–" : formatRatio(ratio, SHARE_DECIMALS)],
            ["NAV per unit now", <Money amount={pool.nav_per_unit} />],
            ["Open positions", pool.open_positions.toString()],
            ["Last deal allocated", <Ticket id={pool.as_of_deal_id} />],
            ["Time of this deal", <Time at={pool.as_of_deal_at} isFocusable />],
          ]}
        />
      )}
    </Section>
  );
}

function Withdrawal({ equity }: { readonly equity: Equity }) {
  const { withdrawal_blocked_by: reasons, free_to_withdraw: free } = equity;
  return (
    <Section title="Withdrawal">
      {reasons.length === 0 ? (
        <p>
          A withdrawal of up to <Money amount={free} /> would be executed now.
        </p>
      ) : (
        <>
          <p>A withdrawal would be refused now:</p>
          <ul class="lines">
            {reasons.map((code) => (
              <li key={code}>
                <a href={`/docs/problems/${encodeURIComponent(code)}`} target="_blank" rel="noreferrer">
                  {words(code)}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
