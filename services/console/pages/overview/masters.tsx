import { Badge } from "../../components/badge.tsx";
import { ProblemView } from "../../components/problem-view.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, masterColumn } from "../../components/table/columns.tsx";
import { Table } from "../../components/table/table.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { utcText } from "../../formats/time.ts";
import type { MasterProof, Proofs } from "./use-proofs.ts";

type Proof = NonNullable<MasterProof["proof"]>;
const amount = (title: string, of: (row: Proof) => string, isAlarming = false): Column<MasterProof> =>
  amountColumn(title, ({ proof }) => proof && of(proof), isAlarming);

const COLUMNS: readonly Column<MasterProof>[] = [
  masterColumn(({ master }) => master.mt5_login),
  { title: "Name", isWide: true, text: ({ master }) => master.name },
  { title: "State", text: stateOf, cell: (row) => <Badge state={stateOf(row)} /> },
  { title: "Investors", isNumber: true, text: ({ master }) => master.investors_count.toString() },
  amount("Platform balance", ({ master }) => master.platform_balance),
  amount("In flight", ({ total }) => total.in_flight),
  amount("Quarantined", ({ total }) => total.quarantined, true),
  amount("Difference", ({ total }) => total.difference, true),
  { title: "Lag, ms", isNumber: true, text: ({ proof }) => proof?.lag_ms.toString() ?? "" },
  {
    title: "Weeks closed to",
    text: ({ proof }) => utcText(proof?.fees_closed_through ?? ""),
    cell: ({ proof }) => <Time at={proof?.fees_closed_through?.slice(0, 16)} />,
  },
];

export function Masters({ proofs: { masters, rows } }: { readonly proofs: Proofs }) {
  return (
    <Section id="masters" title="Masters">
      {masters.problem !== undefined && <ProblemView problem={masters.problem} retry={masters.refresh} />}
      <Table
        label="Masters"
        columns={COLUMNS}
        rows={rows}
        idOf={({ master }) => master.mt5_login}
        isLoading={masters.isLoading && masters.data === undefined}
        empty="There is no Master yet."
      />
      {masters.data?.has_more === true && <p class="note">The first {rows.length} Masters are shown.</p>}
    </Section>
  );
}

function stateOf({ proof, problem }: MasterProof): string {
  if (proof !== undefined) return proof.converged ? "converged" : "not converged";
  return problem === undefined ? "reading" : "unreachable";
}
