import type { ComponentProps } from "preact";
import type { List } from "../../data/use-list.ts";
import { ProblemView } from "../problem-view.tsx";
import { Section } from "../section.tsx";
import { Table, type TableSection } from "./table.tsx";

type Props<Row> = Pick<ComponentProps<typeof Table<Row>>, "label" | "columns" | "empty"> & { readonly list: List<Row> };

/** A table of a list that loads as one scrolls; after a failed page it loads no further by itself. */
export function ListTable<Row>({ list, ...own }: Props<Row>) {
  const { items: rows, hasMore, problem, refresh, ...rest } = list;
  return (
    <>
      {problem !== undefined && <ProblemView problem={problem} retry={refresh} />}
      <Table {...own} {...rest} rows={rows} hasMore={hasMore && problem === undefined} />
    </>
  );
}

type SectionProps<Row> = Omit<ComponentProps<typeof TableSection<Row>>, "rows" | "idOf"> & Pick<Props<Row>, "list">;

/** A list under a heading. */
export function ListSection<Row>({ title, label = title, children, ...own }: SectionProps<Row>) {
  return (
    <Section title={title}>
      <ListTable label={label} {...own} />
      {children}
    </Section>
  );
}
