import { NotReached } from "../../components/not-reached.tsx";
import { useList } from "../../data/use-list.ts";
import type { PageProps } from "../page.ts";
import { BreakView } from "./break.tsx";
import { Breaks } from "./breaks.tsx";
import { Checks } from "./checks.tsx";

export function View({ path: [id] }: PageProps) {
  return id === undefined ? <All /> : <BreakView key={id} id={id} />;
}

function All() {
  const list = useList("listBreaks", {}, { topics: ["breaks"], isAscending: true });
  return (
    <>
      <h1>Breaks and checks</h1>
      <NotReached services={list.last?.unreachable} what="breaks and checks" />
      <Breaks list={list} />
      {list.last !== undefined && <Checks checks={list.last.checks} refresh={list.refresh} />}
    </>
  );
}
