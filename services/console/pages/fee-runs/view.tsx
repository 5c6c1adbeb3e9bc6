import type { Models } from "../../../client/index.ts";
import { feeRunsHref } from "../../app/addresses.ts";
import { goTo } from "../../app/router.ts";
import { Badge } from "../../components/badge.tsx";
import { FeeRunLink } from "../../components/links.tsx";
import { useFields } from "../../components/use-fields.ts";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, masterColumn, timeColumn } from "../../components/table/columns.tsx";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { useRead } from "../../data/use-read.ts";
import { submitting } from "../../formats/form.ts";
import { can } from "../../session/session.ts";
import type { PageProps } from "../page.ts";
import { PaymentView } from "./payment.tsx";
import { RunView } from "./run.tsx";

type Run = Models["FeeRun"];

const MASTERS = 100;

export function View({ path: [id, payment], query }: PageProps) {
  if (id === "payments" && payment !== undefined) return <PaymentView key={payment} id={payment} />;
  const master = query.get("master_login")?.trim() ?? "";
  return id === undefined ? <Runs master={master} /> : <RunView key={`${master} ${id}`} id={id} master={master} />;
}

/** The weekly runs of one Master, or of all. */
function Runs({ master }: { readonly master: string }) {
  return (
    <>
      <h1>Fee runs</h1>
      <Chooser master={master} />
      <List key={master} master={master} />
    </>
  );
}

function Chooser({ master }: { readonly master: string }) {
  const masters = useRead(
    async (client, signal) =>
      (await client.query("listMasterProfiles", { query: { limit: MASTERS } }, { signal })).items,
    { keys: [], topics: ["masters"], isPermitted: can("masters:read") },
  );
  const form = useFields({ master_login: master });
  const submit = submitting((text) => goTo(feeRunsHref({ master_login: text("master_login") })));
  return (
    <form class="search" aria-label="Master" ref={form} onSubmit={submit}>
      <label>
        Master login
        <input name="master_login" size={12} spellcheck={false} inputMode="numeric" list="masters" />
      </label>
      <datalist id="masters">
        {masters.data?.map(({ mt5_login: login, name }) => (
          <option key={login} value={login}>
            {name}
          </option>
        ))}
      </datalist>
      <div class="buttons">
        <button type="submit" class="primary">
          Show
        </button>
      </div>
      <div class="filters">
        {masters.data?.slice(0, 8).map(({ mt5_login: login, name }) => (
          <a
            key={login}
            href={feeRunsHref({ master_login: login })}
            aria-current={login === master ? "true" : undefined}
          >
            {name}
          </a>
        ))}
      </div>
    </form>
  );
}

function List({ master }: { readonly master: string }) {
  const list = useList(
    "listFeeRuns",
    { query: master === "" ? {} : { master_login: master } },
    { topics: ["fees"], limit: 20 },
  );
  return (
    <>
      <ListTable
        label={master === "" ? "Fee runs" : `Fee runs of ${master}`}
        columns={COLUMNS}
        list={list}
        empty="No fee above zero was collected in a week: none was closed yet."
      />
      <p class="note">
        These are the runs of weeks. A run of a withdrawal or of an unassign is reached from its payment, in the fees of
        the Investor.
      </p>
    </>
  );
}

const COLUMNS: readonly Column<Run>[] = [
  {
    title: "Run",
    isNumber: true,
    text: ({ id }) => id.toString(),
    cell: ({ id, master_login: master }) => <FeeRunLink {...{ id, master }} />,
  },
  masterColumn(({ master_login: master }) => master),
  { title: "Status", text: ({ status }) => status, cell: ({ status }) => <Badge state={status} /> },
  timeColumn("Period from", ({ period_start: at }) => at),
  timeColumn("Cut-off", ({ period_end: at }) => at),
  { title: "Payments", isNumber: true, text: ({ payments_count: count }) => String(count) },
  { title: "Open", isNumber: true, text: ({ open_count: count }) => String(count) },
  { title: "Failed", isNumber: true, text: ({ failed_count: count }) => String(count) },
  amountColumn("Due", ({ due }) => due),
  amountColumn("Collected", ({ collected }) => collected),
];
