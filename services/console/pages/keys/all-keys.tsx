import type { Models } from "../../../client/index.ts";
import { Badge, type Tone } from "../../components/badge.tsx";
import type { Column } from "../../components/table/column.ts";
import { timeColumn } from "../../components/table/columns.tsx";
import { ListTable } from "../../components/table/list-table.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { useList } from "../../data/use-list.ts";

type Key = Models["ListedKey"];

const TONES: Readonly<Record<Key["state"], Tone>> = {
  active: "good",
  replaced: "waiting",
  expired: "quiet",
  revoked: "quiet",
};

const code = (text: string | null) => <span class="code">{text ?? "–"}</span>;

const COLUMNS: readonly Column<Key>[] = [
  { title: "Owner", text: ({ client }) => client },
  { title: "Key", text: ({ key_id: id }) => id, cell: ({ key_id: id }) => code(id) },
  { title: "State", text: ({ state }) => state, cell: ({ state }) => <Badge state={state} tone={TONES[state]} /> },
  { title: "Kind", text: ({ environment }) => environment },
  timeColumn("Created", ({ created_at: at }) => at),
  timeColumn("Last used", ({ last_used_at: at }) => at),
  timeColumn("Expires", ({ expires_at: at }) => at),
  timeColumn("Revoked", ({ revoked_at: at }) => at),
  { title: "Replaces", text: ({ replaces }) => replaces ?? "", cell: ({ replaces }) => code(replaces) },
  { title: "Replaced by", text: ({ replaced_by: id }) => id ?? "", cell: ({ replaced_by: id }) => code(id) },
  { title: "Addresses", text: ({ has_allow_list: isLimited }) => (isLimited ? "some only" : "any") },
  { title: "Scopes", isWide: true, text: ({ scopes }) => scopes.join(" ") },
];

/** Every key of the system. No event is about keys, so the list is read when the page opens. */
export function AllKeys() {
  const list = useList("listApiKeys", {}, { idOf: ({ key_id: id }) => id });
  const { last } = list;
  return (
    <Section title="All keys">
      {last?.has_bootstrap_key === true && (
        <p class="note">
          The bootstrap key has every scope and is not listed. Last used:{" "}
          {last.bootstrap_used_at === null ? "never" : <Time at={last.bootstrap_used_at} isFocusable />}.
        </p>
      )}
      <ListTable label="All keys" columns={COLUMNS} list={list} empty="There is no key beside the bootstrap key." />
    </Section>
  );
}
