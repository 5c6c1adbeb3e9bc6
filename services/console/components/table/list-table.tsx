import type { ComponentChildren, ComponentProps } from "preact";
import { useId } from "preact/hooks";
import type { List } from "../../data/use-list.ts";
import { ProblemView } from "../problem-view.tsx";
import { Table } from "./table.tsx";

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

type SectionProps<Row> = Omit<Props<Row>, "label"> & {
  readonly title: string;
  /** Names the file, where the title is not enough. */
  readonly label?: string;
  /** What follows the table. */
  readonly children?: ComponentChildren;
};

/** A list with a heading of its own. */
export function ListSection<Row>({ title, label = title, children, ...own }: SectionProps<Row>) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ListTable label={label} {...own} />
      {children}
    </section>
  );
}
