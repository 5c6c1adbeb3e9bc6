import { usePermits } from "../../data/use-permits.ts";
import { can } from "../../session/session.ts";
import { Archived } from "./archived.tsx";
import { Attention } from "./attention.tsx";
import { Events } from "./events.tsx";
import { Figures } from "./figures.tsx";
import { Held } from "./held.tsx";
import { Incidents } from "./incidents.tsx";
import { Masters } from "./masters.tsx";
import { Parts } from "./parts.tsx";
import { useAttention } from "./use-attention.ts";
import { useProofs } from "./use-proofs.ts";
import { useReadiness } from "./use-readiness.ts";

/** What needs a decision, where money is, and whether everything runs. */
export function View() {
  const proofs = useProofs(can("masters:read") && can("subscriptions:read"));
  const attention = useAttention();
  const readiness = useReadiness();
  const permits = usePermits();
  return (
    <>
      <h1>Overview</h1>
      <Incidents
        readiness={readiness.data}
        reviews={attention.reviews?.data?.items ?? []}
        checks={attention.breaks?.data?.checks ?? []}
        permits={permits.data}
      />
      <Held permits={permits} />
      <Figures proofs={proofs} attention={attention} />
      <Attention {...attention} />
      {proofs !== undefined && <Masters proofs={proofs} />}
      <Archived />
      <Parts readiness={readiness} breaks={attention.breaks} />
      {can("events") && <Events />}
    </>
  );
}
