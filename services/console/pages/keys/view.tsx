import { useRead } from "../../data/use-read.ts";
import { Badge } from "../../components/badge.tsx";
import { Facts } from "../../components/facts.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table/column.ts";
import { TableSection } from "../../components/table/table.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { can } from "../../session/session.ts";
import { AllKeys } from "./all-keys.tsx";
import { type Scope, SCOPE_MEANINGS, SCOPES } from "../../../edge/wire/scopes.ts";

type Row = { readonly scope: Scope; readonly isGranted: boolean };

const COLUMNS: readonly Column<Row>[] = [
  { title: "Scope", text: ({ scope }) => scope, cell: ({ scope }) => <span class="code">{scope}</span> },
  {
    title: "Granted",
    text: ({ isGranted }) => (isGranted ? "yes" : "no"),
    cell: ({ isGranted }) => (
      <Badge state={isGranted ? "granted" : "not granted"} tone={isGranted ? "good" : "quiet"} />
    ),
  },
  { title: "What it permits", isWide: true, text: ({ scope }) => SCOPE_MEANINGS[scope] },
];

/** The key of this session. Keys are administered by a command, so that no page can create one. */
export function View() {
  const key = useRead((client, signal) => client.query("getApiKey", undefined, { signal }), { keys: [] });
  return (
    <>
      <h1>Keys</h1>
      <Panel read={key} what="the key">
        {({ client, key_id: id, environment, expires_at: expires, has_allow_list: isLimited, scopes }) => (
          <>
            <Section title="Key of this session">
              <Facts
                facts={[
                  ["Owner", client],
                  ["Key", <span class="code">{id}</span>],
                  [
                    "Environment",
                    environment === "live" ? "live: it moves money" : "test: a system with the simulator",
                  ],
                  ["Expires", expires === null ? "never" : <Time at={expires} isFocusable />],
                  ["Addresses", isLimited ? "accepted from some addresses only" : "accepted from every address"],
                ]}
              />
            </Section>
            <TableSection
              title="Scopes"
              columns={COLUMNS}
              rows={SCOPES.map((scope) => ({ scope, isGranted: scopes.includes(scope) }))}
              idOf={({ scope }) => scope}
              empty=""
            />
          </>
        )}
      </Panel>
      {can("ops") && <AllKeys />}
      <Section title="Administration">
        <p>
          Keys are created, rotated and revoked by a command on the machine of the service. Its list also has the
          addresses from which each key is accepted.
        </p>
        <pre class="code" tabIndex={0} aria-label="Commands">
          {COMMANDS.join("\n")}
        </pre>
      </Section>
    </>
  );
}

const COMMANDS = [
  'make keys what="list"',
  'make keys what="create --name anna --scopes ops,masters:read,investors:read,subscriptions:read,events"',
  'make keys what="rotate ID --overlap P1D"',
  'make keys what="revoke ID"',
];
