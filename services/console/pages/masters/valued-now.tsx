import { investorHref } from "../../app/addresses.ts";
import { Figure } from "../../components/figure.tsx";
import { Money } from "../../components/money.tsx";
import { useRead } from "../../data/use-read.ts";
import { can } from "../../session/session.ts";

/**
 * The value of a unit with the marks of the open positions. The API has it in the equity of an Investor, so that of the first one in the
 * pool is read; it is the same for all.
 */
export function ValuedNow({ login }: { readonly login: string }) {
  const isPermitted = can("subscriptions:read") && can("investors:read");
  const share = useRead(
    async (client, signal) => {
      const proof = await client.query("getProof", { path: { master_login: login }, query: { limit: 1 } }, { signal });
      const investor = proof.investors[0]?.mt5_login;
      if (investor === undefined) return undefined;
      const { pool } = await client.query("getEquity", { path: { investor_login: investor } }, { signal });
      return pool?.master_login === login ? { ...pool, investor } : undefined;
    },
    { keys: [login], topics: [`login:${login}`], isPermitted },
  );
  if (!isPermitted) return null;
  const { data, isLoading, problem } = share;
  if (data === undefined) {
    const note = problem === undefined ? (isLoading ? "being read" : "no Investor is in the pool") : "not known now";
    return <Figure name="NAV per unit now" value="–" note={note} />;
  }
  const open = data.open_positions === 1n ? "1 open position" : `${data.open_positions} open positions`;
  return (
    <Figure
      name="NAV per unit now"
      href={investorHref(data.investor, "equity")}
      value={<Money amount={data.nav_per_unit} />}
      note={data.open_positions === 0n ? "no open position" : `with the marks of ${open}`}
    />
  );
}
