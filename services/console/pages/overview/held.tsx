import { Panel } from "../../components/panel.tsx";
import { Section } from "../../components/section.tsx";
import { StoppedPermits } from "../../components/stopped-permits.tsx";
import type { Permits } from "../../data/use-permits.ts";
import type { Read } from "../../data/use-read.ts";

/** What two people wait for while money commands are held, or why it is not known whether they are. */
export function Held({ permits }: { readonly permits: Read<Permits> }) {
  const isStopped = permits.data?.state === "stopped";
  if (!isStopped && permits.problem === undefined) return null;
  return (
    <Section title={isStopped ? "Until money commands are sent again" : "Whether money commands are sent"}>
      <Panel read={permits} what="whether money commands are sent">
        {(found) => found.state === "stopped" && <StoppedPermits {...found} />}
      </Panel>
    </Section>
  );
}
