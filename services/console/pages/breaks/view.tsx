import type { Models } from "../../../client/index.ts";
import { NotReached } from "../../components/not-reached.tsx";
import { ReadState } from "../../components/read-state.tsx";
import { useList } from "../../data/use-list.ts";
import type { PageProps } from "../page.ts";
import { BreakView } from "./break.tsx";
import { Breaks } from "./breaks.tsx";
import { Checks } from "./checks.tsx";

type BreakPage = Models["BreakPage"];

const LIMIT = 100;

export function View({ path: [id] }: PageProps) {
  return id === undefined ? <All /> : <BreakView key={id} id={id} />;
}

function All() {
  const list = useList({
    keys: [],
    topics: ["breaks"],
    isAscending: true,
    idOf: ({ id: one }: Models["Break"]) => one,
    page: (client, cursor: string | undefined, signal): Promise<BreakPage> =>
      client.query("listBreaks", { query: { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) } }, { signal }),
  });
  return (
    <>
      <h1>Breaks and checks</h1>
      <ReadState read={{ ...list, data: list.last }} what="breaks" />
      <NotReached services={list.last?.unreachable} what="breaks and checks" />
      <Breaks list={list} />
      {list.last !== undefined && <Checks checks={list.last.checks} refresh={list.refresh} />}
    </>
  );
}
