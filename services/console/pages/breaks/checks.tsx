import type { Models } from "../../../client/index.ts";
import { Badge } from "../../components/badge.tsx";
import type { Column } from "../../components/table/column.ts";
import { TableSection } from "../../components/table/table.tsx";
import { Age } from "../../components/time.tsx";
import { durationText, utcText } from "../../formats/time.ts";
import { words } from "../../formats/words.ts";

type Check = Models["Check"];

const COLUMNS: readonly Column<Check>[] = [
  { title: "Service", text: ({ service }) => service },
  { title: "Check", text: ({ check }) => check, cell: ({ check }) => words(check) },
  { title: "State", text: stateOf, cell: (check) => <Badge state={stateOf(check)} tone={toneOf(check)} /> },
  { title: "Open breaks", isNumber: true, text: ({ open_breaks: count }) => String(count) },
  {
    title: "Every",
    isNumber: true,
    text: ({ every_seconds: seconds }) => String(seconds),
    cell: ({ every_seconds: seconds }) => durationText(seconds * 1_000),
  },
  {
    title: "Completed",
    isNumber: true,
    text: ({ completed_at: at }) => utcText(at ?? ""),
    cell: ({ completed_at: at }) => (
      <>
        <Age since={at} />
        {at === null ? "" : " ago"}
      </>
    ),
  },
  {
    title: "What it compares",
    isWide: true,
    text: ({ title, error }) => (error === null ? title : `${title} Last run incomplete: ${error}`),
  },
];

/** A check that was not completed for long proves nothing. */
export function Checks({ checks, refresh }: { readonly checks: readonly Check[]; readonly refresh: () => void }) {
  return (
    <TableSection
      title="Checks"
      columns={COLUMNS}
      rows={checks}
      idOf={({ service, check }) => `${service} ${check}`}
      empty="No service has answered."
    >
      <p class="later">
        <button type="button" onClick={refresh}>
          Read again
        </button>
      </p>
    </TableSection>
  );
}

function stateOf({ stale, error, open_breaks: count }: Check): string {
  if (stale) return "out of date";
  if (error !== null) return "incomplete";
  return count === 0 ? "holds" : "breaks";
}

function toneOf(check: Check): "good" | "warn" | "bad" {
  const state = stateOf(check);
  return state === "holds" ? "good" : state === "incomplete" ? "warn" : "bad";
}
