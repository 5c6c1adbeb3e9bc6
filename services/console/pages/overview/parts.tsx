import { useEffect } from "preact/hooks";
import { breaksHref } from "../../app/addresses.ts";
import { Badge } from "../../components/badge.tsx";
import { Panel } from "../../components/panel.tsx";
import { type Read, useRead } from "../../data/use-read.ts";
import type { Models } from "../../../client/index.ts";

type Reached = { readonly reachable: boolean; readonly lag_ms: number | null };
type Readiness = {
  readonly status: string;
  readonly broker: { readonly reachable: boolean };
  readonly services: Readonly<Record<string, Reached>>;
  readonly platform: Reached;
};

const EVERY_MS = 15_000;

/** Whether each part answers, and whether the checks run. */
export function Parts({ breaks }: { readonly breaks: Read<Models["BreakPage"]> | undefined }) {
  const readiness = useRead(readReadiness, { keys: [] });
  useEffect(() => {
    const timer = setInterval(readiness.refresh, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <section aria-labelledby="parts-title">
      <h2 id="parts-title">Parts</h2>
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
    </section>
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
      state={stale === 0 ? "reached" : `${stale} out of date`}
      href={breaksHref()}
    />
  );
}

function stateOf({ reachable }: Pick<Reached, "reachable">): string {
  return reachable ? "reached" : "unreachable";
}

/** It needs no key, so the client does not have it. 503 has the same body. */
async function readReadiness(_client: unknown, signal: AbortSignal): Promise<Readiness> {
  const response = await fetch("/readyz", { signal, credentials: "omit" });
  return (await response.json()) as Readiness;
}
