import { breaksHref } from "../../app/addresses.ts";
import { Badge } from "../../components/badge.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Read } from "../../data/use-read.ts";
import type { Models } from "../../../client/index.ts";
import type { Reached, Readiness } from "./use-readiness.ts";
import { Section } from "../../components/section.tsx";

type Props = {
  readonly readiness: Read<Readiness>;
  readonly breaks: Read<Models["BreakPage"]> | undefined;
};

/** Whether each part answers, and whether the checks run. */
export function Parts({ readiness, breaks }: Props) {
  return (
    <Section title="Parts">
      <Panel read={readiness} what="the parts">
        {({ status, broker, services, platform }) => (
          <ul class="parts">
            <Part name="edge" state={status} />
            {Object.entries(services).map(([name, reached]) => (
              <Part key={name} name={name} state={stateOf(reached)} lagMs={reached.lag_ms} />
            ))}
            <Part name="trading platform" state={stateOf(platform)} lagMs={platform.lag_ms} />
            <Part name="broker" state={stateOf(broker)} />
            {breaks?.data !== undefined && <Checks checks={breaks.data.checks} />}
          </ul>
        )}
      </Panel>
    </Section>
  );
}

type PartProps = {
  readonly name: string;
  readonly state: string;
  readonly lagMs?: number | null;
  readonly href?: string;
};

function Part({ name, state, lagMs, href }: PartProps) {
  return (
    <li>
      <span class="part">{href === undefined ? name : <a href={href}>{name}</a>}</span>
      <Badge state={state} />
      <span class="quiet">{lagMs === undefined || lagMs === null ? "" : `${lagMs} ms`}</span>
    </li>
  );
}

function Checks({ checks }: { readonly checks: readonly Models["Check"][] }) {
  const stale = checks.filter((check) => check.stale || check.error !== null).length;
  return (
    <Part
      name={`${checks.length} checks`}
      state={stale === 0 ? "current" : `${stale} out of date`}
      href={breaksHref()}
    />
  );
}

function stateOf({ reachable }: Pick<Reached, "reachable">): string {
  return reachable ? "reached" : "unreachable";
}
