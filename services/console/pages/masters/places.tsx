import type { Models } from "../../../client/index.ts";
import { breaksHref, operationsHref, reviewsHref } from "../../app/addresses.ts";
import { Money } from "../../components/money.tsx";
import type { Column } from "../../components/table/column.ts";
import { TableSection } from "../../components/table/table.tsx";
import { subtractDecimals } from "../../formats/decimal.ts";
import { can } from "../../session/session.ts";

type Proof = Models["Proof"];
type Place = {
  readonly name: string;
  readonly meaning: string;
  readonly href?: string | undefined;
  readonly of: (sums: Models["ProofSums"]) => string;
  readonly isAlarming?: boolean;
};
type Row = Place & { readonly master: string; readonly investors: string; readonly total: string };

const sumColumn = (title: string, of: (row: Row) => string): Column<Row> => ({
  title,
  isNumber: true,
  text: of,
  cell: (row) => <Money amount={of(row)} isAlarming={row.isAlarming ?? false} />,
});

const COLUMNS: readonly Column<Row>[] = [
  {
    title: "Place",
    text: ({ name }) => name,
    cell: ({ name, href }) => (href === undefined ? name : <a href={href}>{name}</a>),
  },
  sumColumn("Master", ({ master }) => master),
  sumColumn("Investors", ({ investors }) => investors),
  sumColumn("Total", ({ total }) => total),
  { title: "What it is", isWide: true, text: ({ meaning }) => meaning },
];

/** On the account of the Master, and on those of its Investors together. */
export function Places({ proof }: { readonly proof: Proof }) {
  const rows = placesOf(proof.master_login).map((place) => ({
    ...place,
    master: place.of(proof.master),
    investors: subtractDecimals(place.of(proof.total), place.of(proof.master)),
    total: place.of(proof.total),
  }));
  return (
    <TableSection title="Where each cent stands" columns={COLUMNS} rows={rows} idOf={({ name }) => name} empty="" />
  );
}

function placesOf(login: string): readonly Place[] {
  const ofOperators = can("ops");
  return [
    {
      name: "Platform balance",
      meaning: "What the trading platform shows.",
      of: (sums) => sums.platform_balance,
    },
    {
      name: "Expected balance",
      meaning: "What the books say the platform should show.",
      of: (sums) => sums.ledger_balance,
    },
    {
      name: "In flight",
      meaning: "Decided, and not executed on the account yet.",
      href: operationsHref({ master_login: login, outcome: "pending" }),
      of: (sums) => sums.in_flight,
    },
    {
      name: "Quarantined",
      meaning: "External funds and own capital that operators have not decided about.",
      href: ofOperators ? reviewsHref() : undefined,
      of: (sums) => sums.quarantined,
      isAlarming: true,
    },
    {
      name: "Own capital",
      meaning: "Money of the Master that operators have acknowledged; it shares in results.",
      of: (sums) => sums.own_capital,
    },
    {
      name: "Difference",
      meaning: "Platform less expected balance: nothing explains it.",
      href: ofOperators ? breaksHref() : undefined,
      of: (sums) => sums.difference,
      isAlarming: true,
    },
  ];
}
