import type { Models } from "../../../client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { AccountLink } from "../../components/links.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table/column.ts";
import { timeColumn } from "../../components/table/columns.tsx";
import { Table } from "../../components/table/table.tsx";
import { useRead } from "../../data/use-read.ts";
import { can } from "../../session/session.ts";
import { Section } from "../../components/section.tsx";

type Account = Models["ArchivedAccount"];

const LIMIT = 100;
/** Nothing has to be done about them. */
const EVERY_MS = 60_000;

const COLUMNS: readonly Column<Account>[] = [
  {
    title: "Login",
    text: ({ mt5_login: login }) => login,
    // A payment account has no page.
    cell: ({ mt5_login: login, role }) =>
      role === "payment" ? login : <AccountLink login={login} isMaster={role === "master"} />,
  },
  { title: "Role", text: ({ role }) => role },
  { title: "State", text: ({ state }) => state, cell: ({ state }) => <Badge state={state} /> },
  timeColumn("Not shown since", ({ not_shown_since: since }) => since),
  timeColumn("Archived at", ({ archived_at: at }) => at),
];

/** Accounts without money that the trading platform does not show; nothing while there are none. */
export function Archived() {
  const accounts = useRead(
    (client, signal) => client.query("listArchivedAccounts", { query: { limit: LIMIT } }, { signal }),
    { keys: [], topics: ["accounts"], everyMs: EVERY_MS, isPermitted: can("ops") },
  );
  if (accounts.data?.items.length === 0 || (accounts.data === undefined && accounts.problem === undefined)) return null;
  return (
    <Section title="Archived accounts">
      <Panel read={accounts} what="archived accounts">
        {(page) => (
          <>
            <p>
              The broker has archived or deleted {page.archived.toString()} accounts without money
              {page.not_shown > 0n && <>, and {page.not_shown.toString()} are not shown and not confirmed yet</>}.
              Nothing has to be decided: no other account is held up, and it ends when the broker restores an account.
              Fees to a payment account also go on when the Master gets another one.
            </p>
            <Table
              label="Archived accounts"
              columns={COLUMNS}
              rows={page.items}
              idOf={({ mt5_login }) => mt5_login}
              empty="None."
            />
            {page.has_more && <p class="note">The first {LIMIT} accounts are shown.</p>}
          </>
        )}
      </Panel>
    </Section>
  );
}
