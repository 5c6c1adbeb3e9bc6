import { useMemo } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { feeRunsHref } from "../../app/addresses.ts";
import { goTo } from "../../app/router.ts";
import { Badge } from "../../components/badge.tsx";
import { FeeRunLink } from "../../components/links.tsx";
import { ReadState } from "../../components/read-state.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, timeColumn } from "../../components/table/columns.tsx";
import { Table } from "../../components/table/table.tsx";
import { useList } from "../../data/use-list.ts";
import { useRead } from "../../data/use-read.ts";
import { textOf } from "../../formats/form.ts";
import { can } from "../../session/session.ts";
import { type Run, runsOf } from "./group.ts";

type Payment = Models["FeePayment"];

const LIMIT = 500;
const MASTERS = 100;

/** The runs of one Master: the API lists the payments of a Master, each with its run. */
export function Runs({ master }: { readonly master: string }) {
  return (
    <>
      <h1>Fee runs</h1>
      <Chooser master={master} />
      {master === "" ? <p class="quiet">Choose a Master.</p> : <OfMaster master={master} />}
    </>
  );
}

function Chooser({ master }: { readonly master: string }) {
  const isPermitted = can("masters:read");
  const masters = useRead(
    async (client, signal) =>
      isPermitted ? (await client.query("listMasterProfiles", { query: { limit: MASTERS } }, { signal })).items : [],
    { keys: [], topics: ["masters"] },
  );
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    goTo(feeRunsHref({ master_login: textOf(data, "master_login") }));
  };
  return (
    <form class="search" aria-label="Master" onSubmit={submit}>
      <label>
        Master login
        <input
          name="master_login"
          size={12}
          required
          spellcheck={false}
          inputMode="numeric"
          defaultValue={master}
          list="masters"
        />
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

function OfMaster({ master }: { readonly master: string }) {
  const list = useList({
    keys: [master],
    topics: ["fees"],
    idOf: ({ id }: Payment) => id.toString(),
    page: (client, cursor: bigint | undefined, signal) => {
      const query = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
      return client.query("listFeePayments", { path: { master_login: master }, query }, { signal });
    },
  });
  const runs = useMemo(() => runsOf(list.items), [list.items]);
  return (
    <>
      <ReadState read={{ ...list, data: list.items }} what="fee payments" />
      <Table
        label={`Fee runs of ${master}`}
        columns={columnsOf(master)}
        rows={runs}
        idOf={({ id }) => id.toString()}
        hasMore={list.hasMore && list.problem === undefined}
        isLoading={list.isLoading}
        loadMore={list.loadMore}
        empty="No fee above zero was collected for this Master yet."
      />
      {list.hasMore && (
        <p class="note">By the {list.items.length} newest payments: the oldest run here may have more of them.</p>
      )}
    </>
  );
}

function columnsOf(master: string): readonly Column<Run>[] {
  return [
    {
      title: "Run",
      isNumber: true,
      text: ({ id }) => id.toString(),
      cell: ({ id }) => <FeeRunLink {...{ id, master }} />,
    },
    { title: "Taken at", text: ({ takenAt }) => takenAt },
    { title: "Status", text: ({ status }) => status, cell: ({ status }) => <Badge state={status} /> },
    timeColumn("Period from", ({ periodStart }) => periodStart),
    timeColumn("Period to", ({ periodEnd }) => periodEnd),
    { title: "Payments", isNumber: true, text: ({ payments }) => String(payments) },
    amountColumn("Collected", ({ sum }) => sum),
  ];
}
