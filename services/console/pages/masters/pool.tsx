import type { Models } from "../../../client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { Facts } from "../../components/facts.tsx";
import { Empty } from "../../components/empty.tsx";
import { Money } from "../../components/money.tsx";
import { ReadState } from "../../components/read-state.tsx";
import { Stack } from "../../components/stack/stack.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, investorColumn, ticketColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { useList } from "../../data/use-list.ts";
import { formatRatio, ratioOf, SHARE_DECIMALS } from "../../formats/decimal.ts";
import { durationText } from "../../formats/time.ts";
import { compositionOf } from "./composition.ts";
import { Places } from "./places.tsx";
import { reasonsOf } from "./reasons.ts";

type Proof = Models["Proof"];
type Account = Models["AccountProof"];

/** Who has which share, and where each cent stands. */
export function Pool({ login }: { readonly login: string }) {
  const list = useList(
    "getProof",
    { path: { master_login: login } },
    {
      topics: [`login:${login}`, "mirrors"],
      limit: 500,
      isAscending: true,
      idOf: ({ mt5_login: investor }) => investor,
    },
  );
  const proof = list.last;
  const composition = proof === undefined ? undefined : compositionOf(proof, list.items);
  return (
    <>
      {proof === undefined || composition === undefined ? (
        <ReadState read={{ ...list, data: proof }} what="the proof" />
      ) : (
        <>
          <Head proof={proof} refresh={list.refresh} />
          <Places proof={proof} />
          <Section title="Composition of the pool">
            {composition.parts.length === 0 ? (
              <Empty>No Investor has money in the pool.</Empty>
            ) : (
              <>
                <Stack title="Composition of the pool" {...composition} />
                <p class="note">By expected balance: the result of open positions is not in it.</p>
              </>
            )}
          </Section>
          <ListSection
            title="Investors in the pool"
            columns={columnsOf(composition.whole)}
            list={list}
            empty="No Investor has money in the pool."
          />
        </>
      )}
    </>
  );
}

function Head({ proof, refresh }: { readonly proof: Proof; readonly refresh: () => void }) {
  const { converged, read_at: readAt, lag_ms: lagMs, fees_closed_through: closed, investors_count: count } = proof;
  const reasons = reasonsOf(proof);
  return (
    <Section
      title={
        <>
          Proof <Badge state={converged ? "converged" : "not converged"} />
        </>
      }
    >
      {reasons.length === 0 ? (
        <p>Every deal is booked, nothing is in flight, and the platform has what the books expect.</p>
      ) : (
        <ul class="lines">
          {reasons.map(({ text, href }) => (
            <li key={text}>{href === undefined ? text : <a href={href}>{text}</a>}</li>
          ))}
        </ul>
      )}
      <Facts
        isStrip
        facts={[
          ["Read", <Time at={readAt} isFocusable />],
          ["Mirror lag", durationText(Number(lagMs))],
          ["Fees closed through", <Time at={closed} isFocusable />],
          ["Unredeemed", <Money amount={proof.unredeemed} isAlarming />],
          ["Investors", count.toString()],
        ]}
      />
      <p class="later">
        <button type="button" onClick={refresh}>
          Read again
        </button>
      </p>
    </Section>
  );
}

function columnsOf(whole: string): readonly Column<Account>[] {
  const shareOf = ({ ledger_balance: amount }: Account): string => ratioOf(amount, whole) ?? "";
  return [
    investorColumn(({ mt5_login: login }) => login),
    {
      title: "Share",
      isNumber: true,
      text: shareOf,
      cell: (account) => formatRatio(shareOf(account), SHARE_DECIMALS),
    },
    amountColumn("Expected balance", ({ ledger_balance: amount }) => amount),
    amountColumn("Platform balance", ({ platform_balance: amount }) => amount),
    amountColumn("In flight", ({ in_flight: amount }) => amount),
    amountColumn("Quarantined", ({ quarantined: amount }) => amount, true),
    amountColumn("Difference", ({ difference: amount }) => amount, true),
    ticketColumn("Last deal", ({ last_deal_id: id }) => id),
  ];
}
